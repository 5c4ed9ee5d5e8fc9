// SPDX-License-Identifier: LGPL-2.1-or-later
/* Strict reading of one INI file.
 *
 * The text is read once, and scanned by the rules of coresched.conf(5), which are narrower than iniparser's; then
 * iniparser reads the same bytes. What always holds: an entry is handed on only when both read the same value, and
 * iniparser found no other. */
#include "ini.h"
#include "nearest.h"
#include "utf8.h"
#include <errno.h>
#include <fcntl.h>
#include <iniparser.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define FILE_BYTES_MAX (1024L * 1024)
#define LINE_BYTES_MAX 1000 /* iniparser loses files with more than 1,023 */
#define BLANKS         " \t"

struct scan {
        const char *path;
        const struct ini_key *known;
        size_t n_known;
        unsigned line;
        const char *section;     /* the one that the line is in, of the known ones; NULL: none yet */
        unsigned *section_lines; /* where a section began, at the index of its first key; 0: nowhere */
        unsigned *key_lines;     /* where a key stands */
        struct ini_entry *entries;
        size_t n_entries;
        const char **valid; /* room for the words of a hint */
        struct failure *f;
};

static int wrong(const struct scan *scan, const char *what, const char *word) {
        return fail(scan->f, FAILURE_INVALID_CONFIG, -EBADMSG, "%s:%u: %s%s%s%s", scan->path, scan->line, what,
                    word ? " \"" : "", word ? word : "", word ? "\"" : "");
}

static int unknown(const struct scan *scan, const char *what, const char *word, const char *const *valid) {
        return fail(scan->f, FAILURE_INVALID_CONFIG, -EBADMSG, "%s:%u: unknown %s \"%.200s\"%s", scan->path, scan->line,
                    what, word, nearest_hint(word, valid).text);
}

static int twice(const struct scan *scan, const char *what, const char *word, unsigned before) {
        return fail(scan->f, FAILURE_INVALID_CONFIG, -EBADMSG, "%s:%u: %s \"%s\" a second time, it stands in line %u",
                    scan->path, scan->line, what, word, before);
}

static char *strip(char *text) {
        text += strspn(text, BLANKS);
        size_t length = strlen(text);
        while (length > 0 && strchr(BLANKS, text[length - 1]))
                length--;
        text[length] = '\0';
        return text;
}

static int scan_section(struct scan *scan, char *line) {
        char *end = strrchr(line, ']');
        if (!end)
                return wrong(scan, "no ] ends the section", line);
        if (end[1] != '\0')
                return wrong(scan, "only white space may follow a section, not", end + 1);
        *end = '\0';
        const char *name = line + 1;
        size_t n_valid = 0;
        for (size_t i = 0; i < scan->n_known; i++) {
                const char *section = scan->known[i].section;
                if (i > 0 && strcmp(section, scan->known[i - 1].section) == 0)
                        continue;
                if (strcmp(section, name) == 0) {
                        if (scan->section_lines[i] > 0)
                                return twice(scan, "section", name, scan->section_lines[i]);
                        scan->section_lines[i] = scan->line;
                        scan->section = section;
                        return 0;
                }
                scan->valid[n_valid++] = section;
        }
        scan->valid[n_valid] = NULL;
        return unknown(scan, "section", name, scan->valid);
}

/* Cuts off the comment, if there is one. */
static int scan_value(const struct scan *scan, char **value) {
        char *v = *value + strspn(*value, BLANKS);
        size_t end = strcspn(v, ";#");
        if (v[end] != '\0' && end > 0 && !strchr(BLANKS, v[end - 1]))
                return wrong(scan,
                             "a comment begins after white space only, and in a value ; is \\x3b and # is \\x23, not",
                             v + end);
        v[end] = '\0';
        v = strip(v);
        if (*v == '"' || *v == '\'')
                return wrong(scan, "a value does not begin with a quote:", v);
        *value = v;
        return 0;
}

static int scan_entry(struct scan *scan, char *line) {
        char *equals = strchr(line, '=');
        if (!equals)
                return wrong(scan, "neither [SECTION] nor KEY=VALUE nor a comment:", line);
        char *value = equals + 1;
        *equals = '\0';
        const char *key = strip(line);
        if (!scan->section)
                return wrong(scan, "a key before any [SECTION]:", key);
        size_t n_valid = 0;
        for (size_t i = 0; i < scan->n_known; i++) {
                if (strcmp(scan->known[i].section, scan->section) != 0)
                        continue;
                if (strcmp(scan->known[i].key, key) == 0) {
                        if (scan->key_lines[i] > 0)
                                return twice(scan, "key", key, scan->key_lines[i]);
                        int r = scan_value(scan, &value);
                        if (r < 0)
                                return r;
                        scan->key_lines[i] = scan->line;
                        scan->entries[scan->n_entries++] =
                                (struct ini_entry){scan->section, scan->known[i].key, value, scan->line};
                        return 0;
                }
                scan->valid[n_valid++] = scan->known[i].key;
        }
        scan->valid[n_valid] = NULL;
        return unknown(scan, "key", key, scan->valid);
}

static int scan_line(struct scan *scan, char *line, size_t length) {
        if (scan->line == 1 && strncmp(line, "\xef\xbb\xbf", 3) == 0)
                return wrong(scan, "the file begins with a UTF-8 byte-order mark: remove it", NULL);
        if (strlen(line) != length)
                return wrong(scan, "a NUL byte after", line);
        if (length > LINE_BYTES_MAX)
                return fail(scan->f, FAILURE_INVALID_CONFIG, -EBADMSG,
                            "%s:%u: a line of %zu bytes that begins with \"%.32s\", at most %u are read", scan->path,
                            scan->line, length, line, LINE_BYTES_MAX);
        if (length > 0 && line[length - 1] == '\r') {
                line[length - 1] = '\0';
                return wrong(scan, "a line feed alone ends a line, not CR LF, as here:", strip(line));
        }
        for (char *c = line; *c; c += utf8_character(c))
                if (utf8_character(c) == 0)
                        return wrong(scan, "not UTF-8 (\\xNN stands for a byte):", c);
                else if (utf8_control(c) && *c != '\t')
                        return wrong(scan, "a control character before", c + utf8_character(c));
        line = strip(line);
        if (*line && line[strlen(line) - 1] == '\\')
                return wrong(scan, "a line does not go on after a backslash:", line);
        if (*line == '\0' || *line == '#' || *line == ';')
                return 0;
        return *line == '[' ? scan_section(scan, line) : scan_entry(scan, line);
}

static int scan_text(struct scan *scan, char *text, size_t size) {
        for (char *line = text, *end = text + size; line < end;) {
                char *feed = memchr(line, '\n', (size_t) (end - line));
                size_t length = (size_t) ((feed ? feed : end) - line);
                line[length] = '\0';
                scan->line++;
                int r = scan_line(scan, line, length);
                if (r < 0)
                        return r;
                line += length + 1;
        }
        return 0;
}

static int silent(const char *format, ...) {
        return 0;
}

static int copy_text(int fd, const char *text, size_t size) {
        for (size_t done = 0; done < size;) {
                ssize_t n = write(fd, text + done, size - done);
                if (n < 0)
                        return -errno;
                done += (size_t) n;
        }
        return 0;
}

/* iniparser opens files by name only. */
static int load(int fd, dictionary **ret) {
        char name[sizeof("/proc/self/fd/") + 10];
        snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
        iniparser_set_error_callback(silent);
        dictionary *d = iniparser_load(name);
        if (!d)
                return -EBADMSG;
        *ret = d;
        return 0;
}

static void dictionary_freep(dictionary **d) {
        if (*d)
                iniparser_freedict(*d);
}

static int compare(struct scan *scan, const dictionary *d) {
        int n = 0;
        for (int i = 0; i < iniparser_getnsec(d); i++)
                n += iniparser_getsecnkeys(d, iniparser_getsecname(d, i));
        if ((size_t) n != scan->n_entries)
                return fail(scan->f, FAILURE_INVALID_CONFIG, -EBADMSG, "%s: iniparser reads %d entries where %zu stand",
                            scan->path, n, scan->n_entries);
        for (size_t i = 0; i < scan->n_entries; i++) {
                const struct ini_entry *entry = &scan->entries[i];
                char name[LINE_BYTES_MAX];
                snprintf(name, sizeof(name), "%s:%s", entry->section, entry->key);
                const char *value = iniparser_getstring(d, name, NULL);
                scan->line = entry->line;
                if (!value || strcmp(value, entry->value) != 0)
                        return wrong(scan, "iniparser reads another value:", value ? value : "(none)");
        }
        return 0;
}

static int read_text(const char *path, char **ret_text, size_t *ret_size, struct failure *f) {
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        struct stat st;
        if (fd < 0 || fstat(fd, &st) < 0)
                return fail(f, FAILURE_INVALID_CONFIG, -errno, "%s: %m", path);
        if (!S_ISREG(st.st_mode))
                return fail(f, FAILURE_INVALID_CONFIG, S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL,
                            "%s: is %s, not a regular file", path,
                            S_ISDIR(st.st_mode) ? "a directory" : "something else");
        if (st.st_size > FILE_BYTES_MAX)
                return fail(f, FAILURE_INVALID_CONFIG, -EFBIG, "%s: is larger than 1 MiB", path);
        size_t size = 0, room = (size_t) st.st_size;
        _cleanup_free_ char *text = malloc(room + 1);
        if (!text)
                return fail(f, FAILURE_FAILED, -ENOMEM, "%s: %s", path, strerror(ENOMEM));
        ssize_t n = 1;
        while (size < room && (n = read(fd, text + size, room - size)) > 0)
                size += (size_t) n;
        if (n < 0)
                return fail(f, FAILURE_INVALID_CONFIG, -errno, "%s: %m", path);
        text[size] = '\0';
        *ret_text = TAKE(text);
        *ret_size = size;
        return 0;
}

int ini_read(const char *path, const struct ini_key *known, ini_entry_t entry, void *userdata, struct failure *f) {
        _cleanup_free_ char *text = NULL;
        size_t size = 0;
        int r = read_text(path, &text, &size, f);
        if (r < 0)
                return r;
        size_t n_known = 0;
        while (known[n_known].section)
                n_known++;
        _cleanup_free_ unsigned *section_lines = calloc(n_known + 1, sizeof(unsigned));
        _cleanup_free_ unsigned *key_lines = calloc(n_known + 1, sizeof(unsigned));
        _cleanup_free_ struct ini_entry *entries = calloc(n_known + 1, sizeof(*entries));
        _cleanup_free_ const char **valid = calloc(n_known + 1, sizeof(*valid));
        _cleanup_(dictionary_freep) dictionary *d = NULL;
        if (!section_lines || !key_lines || !entries || !valid)
                return fail(f, FAILURE_FAILED, -ENOMEM, "%s: %s", path, strerror(ENOMEM));
        struct scan scan = {.path = path,
                            .known = known,
                            .n_known = n_known,
                            .section_lines = section_lines,
                            .key_lines = key_lines,
                            .entries = entries,
                            .valid = valid,
                            .f = f};
        _cleanup_close_ int copy = memfd_create("ini", MFD_CLOEXEC);
        r = copy < 0 ? -errno : copy_text(copy, text, size);
        if (r < 0)
                return fail(f, FAILURE_FAILED, r, "%s: cannot copy it: %s", path, strerror(-r));
        r = scan_text(&scan, text, size); /* writes into the text */
        if (r < 0)
                return r;
        r = load(copy, &d);
        if (r < 0)
                return fail(f, FAILURE_INVALID_CONFIG, r, "%s: iniparser cannot read it", path);
        r = compare(&scan, d);
        for (size_t i = 0; r >= 0 && i < scan.n_entries; i++)
                r = entry(&scan.entries[i], userdata, f);
        return r < 0 ? r : 0;
}
