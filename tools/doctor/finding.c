/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>

#include "tools/doctor/doctor.h"
#include "tools/doctor/conf.h"
#include "tools/doctor/finding.h"
#include "tools/doctor/kinds.h"

/* Returns true if `list` has "id" or "id:subject". */
static bool is_ignored(const char *list, const char *id, const char *subject)
{
    char both[128];
    snprintf(both, sizeof(both), "%s:%s", id, subject);
    return doctor_list_has(list, "", id) || doctor_list_has(list, "", both);
}

void doctor_report(struct doctor *d, const char *id, const char *subject, const char *fmt, ...)
{
    va_list args;
    const struct doctor_kind *kind = doctor_kind_find(id);
    if (kind && d->this_node && kind->scope != DOCTOR_NODE)
        return;
    if (is_ignored(d->ignore, id, subject)) {
        d->ignored++;
        return;
    }
    if (!kind || d->count == DOCTOR_FINDINGS_MAX) {
        d->lost++;
        return;
    }
    struct doctor_finding *finding = &d->findings[d->count++];
    finding->kind = kind;
    nuioa_copy(finding->subject, sizeof(finding->subject), subject);
    nuioa_make_printable(finding->subject);
    va_start(args, fmt);
    vsnprintf(finding->what, sizeof(finding->what), fmt, args);
    va_end(args);
    nuioa_make_printable(finding->what);
}

bool doctor_is_live(const struct doctor *d)
{
    return !*d->root;
}
