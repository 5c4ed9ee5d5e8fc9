// SPDX-License-Identifier: LGPL-2.1-or-later
#include "api/words.h"
#include "util.h"
#include <errno.h>
#include <string.h>

/* One table a type; WORDS_BACK where words are also read. */
#define WORDS(type, name, max, ...)                                                                                    \
        static const char *const name##_words[max] = {__VA_ARGS__};                                                    \
        const char *name##_word(type value) {                                                                          \
                return (size_t) value < ELEMENTS(name##_words) ? name##_words[value] : NULL;                           \
        }
#define WORDS_BACK(name)                                                                                               \
        int name##_from_word(const char *word) {                                                                       \
                return find(name##_words, ELEMENTS(name##_words), word);                                               \
        }

static int find(const char *const *words, size_t n, const char *word) {
        for (size_t i = 0; i < n; i++)
                if (strcmp(words[i], word) == 0)
                        return (int) i;
        return -EINVAL;
}

WORDS(enum tenant_state, tenant_state, _TENANT_STATE_MAX, [TENANT_PENDING] = "pending", [TENANT_ENFORCED] = "enforced",
      [TENANT_INERT] = "inert", [TENANT_DEGRADED] = "degraded", [TENANT_EXPOSED] = "exposed")
WORDS_BACK(tenant_state)

WORDS(enum isolation, isolation, _ISOLATION_MAX, [ISOLATION_NONE] = "none", [ISOLATION_COOKIE] = "cookie",
      [ISOLATION_WHOLE_CORES] = "whole-cores", [ISOLATION_ONE_THREAD] = "one-thread", [ISOLATION_SMT_OFF] = "smt-off")
WORDS_BACK(isolation)

WORDS(enum attach, attach, _ATTACH_MAX, [ATTACH_LIVE] = "live", [ATTACH_FREEZE] = "freeze")
WORDS_BACK(attach)

WORDS(enum on_exposed, on_exposed, _ON_EXPOSED_MAX, [ON_EXPOSED_REPORT] = "report", [ON_EXPOSED_FREEZE] = "freeze")
WORDS_BACK(on_exposed)

WORDS(enum core_scheduling, core_scheduling, _CORE_SCHEDULING_MAX, [CORE_SCHEDULING_AVAILABLE] = "available",
      [CORE_SCHEDULING_NO_SMT] = "no-smt", [CORE_SCHEDULING_UNSUPPORTED] = "unsupported",
      [CORE_SCHEDULING_DENIED] = "denied", [CORE_SCHEDULING_SCHED_EXT] = "sched-ext")

WORDS(enum origin, origin,
      _ORIGIN_MAX, [ORIGIN_RUNTIME] = "runtime", [ORIGIN_CONFIGURATION] = "configuration", [ORIGIN_PATTERN] = "pattern")
WORDS_BACK(origin)

WORDS(enum finding, finding,
      _FINDING_MAX, [FINDING_GOOD] = "good", [FINDING_UNTAGGED] = "untagged", [FINDING_FOREIGN] = "foreign-cookie",
      [FINDING_OWN] = "own-cookie", [FINDING_WRONG_TENANT] = "wrong-tenant", [FINDING_UNREADABLE] = "unreadable")
