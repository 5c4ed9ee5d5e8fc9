// SPDX-License-Identifier: LGPL-2.1-or-later
#include "view.h"
#include "api/words.h"
#include "ctl.h"
#include "text.h"
#include <inttypes.h>

enum colour view_state_colour(const char *state) {
        switch (tenant_state_from_word(state)) {
        case TENANT_ENFORCED:
        case TENANT_INERT:
                return COLOUR_GOOD;
        case TENANT_DEGRADED:
        case TENANT_EXPOSED:
                return COLOUR_BAD;
        default:
                return COLOUR_WARNING;
        }
}

int view_state_status(const char *state) {
        return view_state_colour(state) == COLOUR_GOOD ? STATUS_GOOD : STATUS_NOT_ENFORCED;
}

const char *view_reason(json_object *tenant) {
        const char *reason = json_text(tenant, "StateReason");
        if (reason[0])
                return reason;
        switch (tenant_state_from_word(json_text(tenant, "State"))) {
        case TENANT_PENDING:
                return "it is being looked at";
        case TENANT_INERT:
                return "SMT is not active: nothing shares a core";
        case TENANT_EXPOSED:
                return "nothing protects it";
        default:
                return "";
        }
}

const char *view_cookie(uint64_t cookie, char buffer[static COOKIE_TEXT_MAX]) {
        if (cookie == 0)
                return "";
        snprintf(buffer, COOKIE_TEXT_MAX, "0x%08" PRIx64, cookie);
        return buffer;
}

void view_field(const char *label, const char *text) {
        _cleanup_free_ char *shown = text_printable(text);
        printf("%16s: %s\n", label, shown ? shown : "");
}
