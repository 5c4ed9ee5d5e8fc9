// SPDX-License-Identifier: LGPL-2.1-or-later
/* coreschedctl: arguments, and one verb of them. The table of verbs and the table of options below are all there is to
 * know about the command line: --help is printed from them, and a test holds the manual page and the completions
 * against that. An option that has no effect with a verb is refused. */
#include "agent.h"
#include "client.h"
#include "nearest.h"
#include "output.h"
#include "strv.h"
#include "text.h"
#include "utf8.h"
#include <getopt.h>
#include <limits.h>
#include <locale.h>
#include <string.h>

enum {
        TAG = 1 << 0,
        UNTAG = 1 << 1,
        LIST = 1 << 2,
        SHOW = 1 << 3,
        STATUS = 1 << 4,
        VERIFY = 1 << 5,
        POLICY = 1 << 6,
        RELOAD = 1 << 7,
        RUN = 1 << 8,
        OCI_HOOK = 1 << 9,
        EVERY = (1 << 10) - 1,
        LOCAL = RUN | OCI_HOOK, /* about processes of this host */
};

enum {
        PATIENT = 1 << 0, /* may take long, and ask for a password */
        ALONE = 1 << 1,   /* opens the bus itself */
        COMMAND = 1 << 2, /* its names are a command and its arguments: what follows the first is no option of ours */
};

static const struct verb {
        const char *name, *arguments, *help;
        unsigned bit;
        int min, max; /* names that it takes; with --all, none */
        unsigned flags;
        int (*run)(sd_bus *bus, const struct options *options, char **names);
} verbs[] = {
        {"tag", "NAME...", "Give tenants a core-scheduling cookie of their own", TAG, 1, INT_MAX, PATIENT, verb_tag},
        {"untag", "NAME...|--all", "Take the cookies of tenants back and forget the tenants", UNTAG, 1, INT_MAX,
         PATIENT, verb_untag},
        {"run", "COMMAND...", "Run a command in a tenant, tagged before it begins", RUN, 1, INT_MAX, PATIENT | COMMAND,
         verb_run},
        {"list", "", "List the tenants", LIST, 0, 0, 0, verb_list},
        {"show", "[NAME...]", "Show all properties of tenants, or of the daemon", SHOW, 0, INT_MAX, 0, verb_show},
        {"status", "[NAME]", "Show how the host, or one tenant, is protected (the default)", STATUS, 0, 1, 0,
         verb_status},
        {"verify", "[NAME...]", "Read in the kernel whether every thread carries its cookie", VERIFY, 0, INT_MAX,
         PATIENT, verb_verify},
        {"policy", "", "List the policies", POLICY, 0, 0, 0, verb_policy},
        {"reload", "", "Have the daemon read its configuration again", RELOAD, 0, 0, PATIENT, verb_reload},
        {"oci-hook", "", "Tag a container that is being created, for its runtime", OCI_HOOK, 0, 0, ALONE,
         verb_oci_hook},
};

/* What getopt_long() gives for those without a letter. */
enum {
        OPT_TENANT = 256,
        OPT_NEW,
        OPT_UNIT,
        OPT_SLICE,
        OPT_DESCRIPTION,
        OPT_POLICY,
        OPT_CGROUP,
        OPT_PERSISTENT,
        OPT_TRANSIENT,
        OPT_FORCE,
        OPT_ALL,
        OPT_JSON,
        OPT_NO_PAGER,
        OPT_NO_LEGEND,
        OPT_NO_ASK_PASSWORD,
        OPT_VERSION
};

static const struct option_row {
        int value;
        unsigned verbs; /* with which it has an effect */
        const char *name, *argument, *help;
} rows[] = {
        {OPT_POLICY, TAG | RUN, "--policy", "POLICY", "Policy of the tenants (tag, run)"},
        {OPT_CGROUP, TAG, "--cgroup", "PATH", "Cgroup of the tenant, may be given several times (tag)"},
        {OPT_TENANT, RUN, "--tenant", "NAME", "Run it in this tenant (run)"},
        {OPT_NEW, RUN, "--new", NULL, "Run it in a tenant of its own, the default (run)"},
        {OPT_UNIT, RUN, "--unit", "NAME", "Name of the scope, and of a new tenant (run)"},
        {OPT_SLICE, RUN, "--slice", "SLICE", "Slice of a new tenant's scope (run)"},
        {OPT_DESCRIPTION, RUN, "--description", "TEXT", "Description of the scope (run)"},
        {OPT_TRANSIENT, TAG, "--transient", NULL, "Until their cgroups are gone (tag)"},
        {OPT_PERSISTENT, TAG | UNTAG, "--persistent", NULL, "Also write or remove the configuration (tag, untag)"},
        {OPT_FORCE, TAG | UNTAG | RUN, "--force", NULL,
         "Even if nothing can protect it (tag, run), or its cookies cannot be taken back (untag)"},
        {OPT_ALL, UNTAG, "--all", NULL, "All tenants (untag)"},
        {OPT_JSON, EVERY & ~(unsigned) (UNTAG | RELOAD | LOCAL), "--json", "MODE", "Print JSON: short, pretty, off"},
        {OPT_NO_PAGER, EVERY, "--no-pager", NULL, "Do not pipe output into a pager"},
        {OPT_NO_LEGEND, EVERY, "--no-legend", NULL, "Print no headers and no totals"},
        {OPT_NO_ASK_PASSWORD, EVERY, "--no-ask-password", NULL, "Do not ask for passwords"},
        {'q', EVERY & ~(unsigned) SHOW, "--quiet", NULL, "Print names only (list, policy), or errors only"},
        {'H', EVERY & ~(unsigned) LOCAL, "--host", "[USER@]HOST", "Work on a remote host, through ssh"},
        {'M', EVERY & ~(unsigned) LOCAL, "--machine", "CONTAINER", "Work in a local container"},
        {'h', EVERY, "--help", NULL, "Show this help"},
        {OPT_VERSION, EVERY, "--version", NULL, "Show the version"},
};

static void help(void) {
        puts("coreschedctl [OPTIONS...] [VERB] [NAME...]\n\n"
             "Keeps tenants from sharing CPU cores.\n\n"
             "Verbs:");
        for (size_t i = 0; i < ELEMENTS(verbs); i++)
                printf("  %s %-*s %s\n", verbs[i].name, 19 - (int) strlen(verbs[i].name), verbs[i].arguments,
                       verbs[i].help);
        puts("\nOptions:");
        for (size_t i = 0; i < ELEMENTS(rows); i++) {
                const struct option_row *row = rows + i;
                char letter[] = {'-', (char) row->value, ' ', '\0'};
                int width = 22 - (int) strlen(row->name);
                printf("  %s%s%s%-*s %s\n", row->value < 256 ? letter : "   ", row->name, row->argument ? "=" : "",
                       row->argument ? width - 1 : width, row->argument ? row->argument : "", row->help);
        }
        puts("\nExit status: 0 done and protected, 1 failure, 2 usage, 3 not protected, 4 no such tenant.\n"
             "See coreschedctl(1).");
}

static const struct option_row *find_row(int value) {
        for (size_t i = 0; i < ELEMENTS(rows); i++)
                if (rows[i].value == value)
                        return rows + i;
        return NULL;
}

static int unknown_option(const char *word) {
        const char *names[ELEMENTS(rows) + 1] = {NULL};
        for (size_t i = 0; i < ELEMENTS(rows); i++)
                names[i] = rows[i].name;
        if (strncmp(word, "--", 2) == 0)
                complain("unknown option '%s'%s", word, nearest_hint(word, names).text);
        else
                complain("unknown option '-%c'; 'coreschedctl --help' lists the options", optopt);
        return STATUS_USAGE;
}

static int parse_json(const char *word, enum json_mode *ret) {
        static const char *const words[] = {[JSON_OFF] = "off", [JSON_SHORT] = "short", [JSON_PRETTY] = "pretty"};
        for (size_t i = 0; i < ELEMENTS(words); i++)
                if (strcmp(word, words[i]) == 0) {
                        *ret = (enum json_mode) i;
                        return STATUS_GOOD;
                }
        complain("--json=%s: this has to be short, pretty or off", word);
        return STATUS_USAGE;
}

static int take_option(struct options *o, int value, char *argument) {
        switch (value) {
        case OPT_POLICY:
                o->policy = argument;
                break;
        case OPT_CGROUP:
                if (strv_extend(&o->cgroups, argument) < 0) {
                        complain("out of memory; try again when there is more");
                        return STATUS_FAILED;
                }
                break;
        case OPT_TENANT:
                o->tenant = argument;
                break;
        case OPT_NEW:
                o->new = true;
                break;
        case OPT_UNIT:
                o->unit = argument;
                break;
        case OPT_SLICE:
                o->slice = argument;
                break;
        case OPT_DESCRIPTION:
                o->description = argument;
                break;
        case OPT_TRANSIENT:
                o->transient = true;
                break;
        case OPT_PERSISTENT:
                o->persistent = true;
                break;
        case OPT_FORCE:
                o->force = true;
                break;
        case OPT_ALL:
                o->all = true;
                break;
        case OPT_JSON:
                return parse_json(argument, &o->json);
        case OPT_NO_PAGER:
                o->pager = false;
                break;
        case OPT_NO_LEGEND:
                o->legend = false;
                break;
        case OPT_NO_ASK_PASSWORD:
                o->ask_password = false;
                break;
        case 'q':
                o->quiet = true;
                break;
        case 'H':
                o->host = argument;
                break;
        case 'M':
                o->machine = argument;
                break;
        }
        return STATUS_GOOD;
}

static bool takes_command(const char *verb) {
        for (size_t i = 0; i < ELEMENTS(verbs); i++)
                if (verbs[i].flags & COMMAND && strcmp(verb, verbs[i].name) == 0)
                        return true;
        return false;
}

/* *ret_given: the bits of the rows that were given, row i being bit i. words has room for all words; verb and names go
 * there, up to a NULL. */
static int parse_options(int argc, char **argv, struct options *o, unsigned *ret_given, char **words) {
        struct option longs[ELEMENTS(rows) + 1] = {{0}};
        char letters[2 * ELEMENTS(rows) + 3] = "-:", *end = letters + 2;
        for (size_t i = 0; i < ELEMENTS(rows); i++) {
                longs[i] = (struct option){rows[i].name + 2, rows[i].argument ? required_argument : no_argument, NULL,
                                           rows[i].value};
                if (rows[i].value < 256)
                        *end++ = (char) rows[i].value;
                if (rows[i].value < 256 && rows[i].argument)
                        *end++ = ':';
        }
        *end = '\0';

        opterr = 0;
        int value;
        unsigned given = 0;
        int n = 0;
        while ((value = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
                if (value == 1) { /* no option */
                        words[n++] = optarg;
                        if (n == 2 && takes_command(words[0]))
                                break;
                        continue;
                }
                const struct option_row *row = find_row(value == '?' || value == ':' ? optopt : value);
                if (value == ':') {
                        complain("option '%s' needs an argument: %s=%s", argv[optind - 1], row->name, row->argument);
                        return STATUS_USAGE;
                }
                if (value == '?' && row && !row->argument) {
                        complain("option '%s' takes no argument; leave out what follows '='", row->name);
                        return STATUS_USAGE;
                }
                if (value == '?')
                        return unknown_option(argv[optind - 1]);
                given |= 1U << (row - rows);
                int r = take_option(o, value, optarg);
                if (r != STATUS_GOOD)
                        return r;
        }
        while (optind < argc)
                words[n++] = argv[optind++];
        words[n] = NULL;
        *ret_given = given;
        return STATUS_GOOD;
}

static const struct verb *find_verb(const char *name) {
        const char *names[ELEMENTS(verbs) + 1] = {NULL};
        for (size_t i = 0; i < ELEMENTS(verbs); i++) {
                names[i] = verbs[i].name;
                if (strcmp(name, names[i]) == 0)
                        return verbs + i;
        }
        complain("unknown verb '%s'%s", name, nearest_hint(name, names).text);
        return NULL;
}

/* D-Bus takes no other. */
static bool names_are_utf8(char **names) {
        for (; *names; names++)
                for (const char *c = *names; *c; c += utf8_character(c))
                        if (utf8_character(c) == 0)
                                return false;
        return true;
}

/* Do options and names go with the verb, and with each other? */
static int check(const struct verb *verb, const struct options *o, unsigned given, char **names) {
        int n_names = (int) strv_length(names);
        int min = o->all ? 0 : verb->min, max = o->all ? 0 : verb->max;
        for (size_t i = 0; i < ELEMENTS(rows); i++)
                if ((given & (1U << i)) && !(rows[i].verbs & verb->bit)) {
                        complain("option '%s' has no effect with '%s'; leave it out", rows[i].name, verb->name);
                        return STATUS_USAGE;
                }
        if (n_names < min && verb->flags & COMMAND)
                complain("'%s' needs a command: coreschedctl %s [OPTION...] -- %s", verb->name, verb->name,
                         verb->arguments);
        else if (n_names < min)
                complain("'%s' needs a tenant's name: coreschedctl %s %s", verb->name, verb->name, verb->arguments);
        else if (n_names > max)
                complain("too many words for '%s%s': coreschedctl %s%s%s", verb->name, o->all ? " --all" : "",
                         verb->name, verb->arguments[0] ? " " : "", verb->arguments);
        else if (o->cgroups && n_names > 1)
                complain("--cgroup= names the cgroups of one tenant, not of %i; tag them one by one", n_names);
        else if (o->host && o->machine)
                complain("--host= and --machine= exclude each other; leave one out");
        else if (o->quiet && o->json != JSON_OFF)
                complain("--quiet and --json= exclude each other; leave one out");
        else if (o->tenant && (o->new || o->slice || o->policy))
                complain("--tenant= and %s exclude each other: that is for a new tenant; leave one out",
                         o->new     ? "--new"
                         : o->slice ? "--slice="
                                    : "--policy=");
        else if (o->transient && o->persistent)
                complain("--transient and --persistent exclude each other; leave one out");
        else if (!(verb->flags & COMMAND) && !names_are_utf8(names))
                complain("a tenant's name has to be UTF-8; its cgroup's path need not be: "
                         "coreschedctl tag NAME --cgroup=PATH");
        else
                return STATUS_GOOD;
        return STATUS_USAGE;
}

static int run(const struct verb *verb, const struct options *o, char **names) {
        _cleanup_bus_ sd_bus *bus = NULL;
        int r = verb->flags & ALONE ? STATUS_GOOD : client_open(o, verb->flags & PATIENT, &bus);
        if (r == STATUS_NOT_ENFORCED && verb->bit != STATUS)
                return STATUS_FAILED;
        if (r != STATUS_GOOD)
                return r;
        if (verb->flags & PATIENT)
                agent_start(o);
        r = verb->run(bus, o, names);
        agent_stop();
        return status_worse(r, output_end());
}

int main(int argc, char **argv) {
        struct options options = {.colour = output_colour(), .pager = true, .legend = true, .ask_password = true};
        _cleanup_free_ char **words = calloc((size_t) argc + 2, sizeof(*words));
        unsigned given = 0;
        setlocale(LC_CTYPE, "");
        if (!words) {
                complain("out of memory; try again when there is more");
                return STATUS_FAILED;
        }

        int r = parse_options(argc, argv, &options, &given, words);
        _cleanup_strv_ char **cgroups _unused_ = options.cgroups;
        if (r != STATUS_GOOD)
                return r;
        if (given & (1U << (find_row('h') - rows))) {
                help();
                return output_end();
        }
        if (given & (1U << (find_row(OPT_VERSION) - rows))) {
                puts("coreschedctl " CORESCHED_VERSION);
                return output_end();
        }
        const struct verb *verb = find_verb(words[0] ? words[0] : "status");
        if (!verb)
                return STATUS_USAGE;
        char **names = words[0] ? words + 1 : words;
        r = check(verb, &options, given, names);
        return r == STATUS_GOOD ? run(verb, &options, names) : r;
}
