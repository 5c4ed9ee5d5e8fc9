// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the daemon says of its interfaces, the XML that is installed, and the man page say the same. */
#include "fixture.h"
#include <string.h>

static char *slurp(const char *path) {
        char *text = calloc(1, 65536);
        _cleanup_fclose_ FILE *f = fopen(path, "re");
        assert_non_null(text);
        assert_non_null(f);
        assert_true(fread(text, 1, 65535, f) > 0);
        return text;
}

static int compare(const void *a, const void *b) {
        return strcmp(*(char *const *) a, *(char *const *) b);
}

/* Appends one tag, without its "<" and ">", with its attributes in order. */
static void write_tag(FILE *out, char *tag) {
        char *attributes[8], *save, *name = strtok_r(tag, " \n\t", &save);
        size_t n = 0;
        for (char *at = strtok_r(NULL, "=", &save); at; at = strtok_r(NULL, "=", &save)) {
                at += strspn(at, " \n\t/");
                char *value = *at ? strtok_r(NULL, "\"", &save) : NULL;
                if (!value)
                        break;
                assert_true(n < ELEMENTS(attributes));
                assert_true(asprintf(&attributes[n++], "%s=%s", at, value) > 0);
        }
        qsort(attributes, n, sizeof(*attributes), compare);
        fprintf(out, "%s", name);
        for (size_t i = 0; i < n; i++) {
                fprintf(out, " %s", attributes[i]);
                free(attributes[i]);
        }
        fputc('\n', out);
}

/* The opening tags of one interface, one a line, in the order of the document; comments are left out. */
static char *outline(const char *xml, const char *interface) {
        _cleanup_free_ char *copy = strdup(xml), *opening = NULL;
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        assert_non_null(copy);
        assert_non_null(out);
        assert_true(asprintf(&opening, "<interface name=\"%s\">", interface) > 0);
        char *at = strstr(copy, opening);
        assert_non_null(at);
        for (char *end; strncmp(at, "</interface", 11) != 0; at = strchr(end, '<')) {
                if (strncmp(at, "<!--", 4) == 0) {
                        end = strstr(at, "-->") + 3;
                        continue;
                }
                end = strchr(at, '>');
                assert_non_null(end);
                *end++ = '\0';
                if (at[1] != '/')
                        write_tag(out, at + 1);
        }
        fclose(out);
        return text;
}

static void compare_interface(const struct fixture *f, const char *path, const char *interface, const char *file) {
        _cleanup_reply_ sd_bus_message *reply = NULL;
        _cleanup_free_ char *installed = slurp(file), *should = NULL, *is = NULL;
        const char *xml;
        expect(f->root, path, "org.freedesktop.DBus.Introspectable", "Introspect", &reply, "");
        assert_true(sd_bus_message_read(reply, "s", &xml) > 0);
        should = outline(installed, interface);
        is = outline(xml, interface);
        assert_non_null(strstr(should, "property"));
        assert_string_equal(is, should);
}

static void test_manager(void **state) {
        compare_interface(*state, CORESCHED_PATH, CORESCHED_MANAGER_INTERFACE, ROOM "/org.coresched1.Manager.xml");
}

static void test_tenant(void **state) {
        struct fixture *f = *state;
        tag(f, "t", "/t");
        compare_interface(f, TENANT("t"), CORESCHED_TENANT_INTERFACE, ROOM "/org.coresched1.Tenant.xml");
        untag(f, "t");
}

/* The names of an interface's methods and properties stand in the man page as headings, and no others do. */
static void test_man_page(void **state) {
        _cleanup_free_ char *page = slurp(ROOM "/org.coresched1.5");
        static const char *const interfaces[] = {CORESCHED_MANAGER_INTERFACE, CORESCHED_TENANT_INTERFACE};
        for (size_t i = 0; i < ELEMENTS(interfaces); i++) {
                _cleanup_free_ char *file = NULL, *xml = NULL, *lines = NULL;
                assert_true(asprintf(&file, "%s/%s.xml", ROOM, interfaces[i]) > 0);
                xml = slurp(file);
                lines = outline(xml, interfaces[i]);
                for (char *save, *line = strtok_r(lines, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
                        bool method = strncmp(line, "method ", 7) == 0;
                        if (!method && strncmp(line, "property ", 9) != 0)
                                continue;
                        _cleanup_free_ char *section = NULL, *item = NULL;
                        char *name = strstr(line, "name=") + 5, *type = strstr(line, "type=");
                        name[strcspn(name, " ")] = '\0';
                        assert_true(asprintf(&section, "\n.Ss %s of %s\n", method ? "Methods" : "Properties",
                                             interfaces[i]) > 0);
                        assert_true((method ? asprintf(&item, "\n.It Fn %s", name)
                                            : asprintf(&item, "\n.It Va %s Pq %s", name, type + 5)) > 0);
                        const char *begin = strstr(page, section);
                        assert_non_null(begin);
                        const char *end = strstr(begin + 1, "\n.Ss "), *sh = strstr(begin + 1, "\n.Sh ");
                        end = end && end < sh ? end : sh;
                        const char *found = strstr(begin, item);
                        if (!found || found > end)
                                fail_msg("%s of %s is not in the man page", name, interfaces[i]);
                }
        }
}

/* A tenant is listed below its parent, and only there. */
static void test_nodes(void **state) {
        struct fixture *f = *state;
        _cleanup_reply_ sd_bus_message *reply = NULL;
        const char *xml;
        tag(f, "node 1", "/node");
        expect(f->root, CORESCHED_TENANT_PREFIX, "org.freedesktop.DBus.Introspectable", "Introspect", &reply, "");
        assert_true(sd_bus_message_read(reply, "s", &xml) > 0);
        assert_non_null(strstr(xml, "<node name=\"node_201\"/>"));
        assert_null(strstr(xml, CORESCHED_TENANT_INTERFACE));
        untag(f, "node 1");
}

int main(void) {
        const struct CMUnitTest tests[] = {cmocka_unit_test(test_manager), cmocka_unit_test(test_tenant),
                                           cmocka_unit_test(test_man_page), cmocka_unit_test(test_nodes)};
        return cmocka_run_group_tests_name("bus/introspection", tests, fixture_start, fixture_stop);
}
