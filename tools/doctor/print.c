/* SPDX-License-Identifier: BSD-3-Clause */

/* Prints the findings: for people, for programs, in one line. */

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "tools/doctor/doctor.h"
#include "tools/doctor/kinds.h"
#include "tools/doctor/nic.h"
#include "tools/doctor/print.h"
#include "tools/tool.h"
#include "output/text_table.h"

const char *doctor_severity_name(enum doctor_severity severity)
{
    if (severity == DOCTOR_PROBLEM)
        return "problem";
    return severity == DOCTOR_ADVICE ? "advice" : "unknown";
}

const char *doctor_role_name(enum doctor_role role)
{
    return role == DOCTOR_COMPUTE ? "compute" : role == DOCTOR_LOGIN ? "login" : "other";
}

static unsigned count(const struct doctor *d, enum doctor_severity severity)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < d->count; i++)
        sum += d->findings[i].kind->severity == severity;
    return sum;
}

/* Writes the numbers, as "2 problems, 1 piece of advice, 1 unknown". */
static void summarise(const struct doctor *d, char *text, size_t size)
{
    unsigned problems = count(d, DOCTOR_PROBLEM), advice = count(d, DOCTOR_ADVICE),
             unknown = count(d, DOCTOR_UNKNOWN);
    snprintf(text, size, "%u problem%s, %u advice, %u unknown", problems, problems == 1 ? "" : "s",
             advice, unknown);
}

/* --- for a person ----------------------------------------------------------------------------- */

static void print_finding(const struct doctor_finding *finding)
{
    const struct doctor_kind *kind = finding->kind;
    char text[1024];
    printf("\n%-8s %s%s%s\n", doctor_severity_name(kind->severity), kind->id,
           *finding->subject ? ":" : "", finding->subject);
    nuioa_text_table_wrap(stdout, 9, finding->what);
    snprintf(text, sizeof(text), "Why: %s", kind->why);
    nuioa_text_table_wrap(stdout, 9, text);
    snprintf(text, sizeof(text), "Do: %s", kind->remedy);
    nuioa_text_table_wrap(stdout, 9, text);
}

static void print_node(const struct doctor *d)
{
    static const char *const roles[] = {
        [DOCTOR_COMPUTE] = "a compute node",
        [DOCTOR_LOGIN] = "a login node",
        [DOCTOR_OTHER] = "no node of Slurm's",
    };
    unsigned ports = 0;
    for (uint32_t i = 0; i < d->node.nic_count; i++)
        ports += doctor_is_port(&d->node.nics[i]);
    printf("%s: %s", *d->host ? d->host : "this machine", roles[d->role]);
    if (d->node_known)
        printf(", %u NUMA node%s, %u port%s", d->node.numa_count,
               d->node.numa_count == 1 ? "" : "s", ports, ports == 1 ? "" : "s");
    if (*d->slurm.path)
        printf("; %s", d->slurm.path);
    printf("\nnuioa %s\n", VERSION);
    if (*d->pmix)
        printf("PMIx: %s\n", d->pmix);
}

int doctor_print_text(const struct doctor *d, int status)
{
    char text[128];
    print_node(d);
    for (int severity = DOCTOR_PROBLEM; severity >= DOCTOR_UNKNOWN; severity--)
        for (unsigned i = 0; i < d->count; i++)
            if (d->findings[i].kind->severity == (enum doctor_severity)severity)
                print_finding(&d->findings[i]);
    if (d->count) {
        summarise(d, text, sizeof(text));
        printf("\n%u checks: %s", d->check_count, text);
    } else {
        printf("%u checks: nothing to report", d->check_count);
    }
    printf(d->ignored ? ", %u ignored\n" : "\n", d->ignored);
    return status;
}

/* --- in one line ------------------------------------------------------------------------------ */

int doctor_print_line(const struct doctor *d, int status)
{
    char text[128];
    const char *separator = ": ";
    summarise(d, text, sizeof(text));
    printf("nuioa: %s", d->count ? text : "healthy");
    for (int severity = DOCTOR_PROBLEM; severity >= DOCTOR_ADVICE; severity--)
        for (unsigned i = 0; i < d->count; i++) {
            const struct doctor_finding *finding = &d->findings[i];
            if (finding->kind->severity != (enum doctor_severity)severity)
                continue;
            printf("%s%s%s%s", separator, finding->kind->id, *finding->subject ? ":" : "",
                   finding->subject);
            separator = ", ";
        }
    printf("\n");
    return status;
}

/* --- for a program ---------------------------------------------------------------------------- */

/* A name from the system need not be UTF-8. */
static json_t *text_or_null(const char *text)
{
    json_t *value = *text ? json_string(text) : json_null();
    return value ? value : json_string("?");
}

static json_t *finding_of(const struct doctor_finding *finding)
{
    const struct doctor_kind *kind = finding->kind;
    return json_pack("{s:s, s:s, s:o, s:o, s:s, s:s}", "id", kind->id, "severity",
                     doctor_severity_name(kind->severity), "subject",
                     text_or_null(finding->subject), "what", text_or_null(finding->what), "why",
                     kind->why, "remedy", kind->remedy);
}

int doctor_print_json(const struct doctor *d, int status)
{
    json_t *findings = json_array();
    bool bad = !findings;
    for (unsigned i = 0; i < d->count && !bad; i++)
        bad = json_array_append_new(findings, finding_of(&d->findings[i]));
    json_t *root =
        json_pack("{s:i, s:o, s:s, s:b, s:i, s:i, s:o, s:o, s:o, s:o}", "nuioa", 1, "host",
                  text_or_null(d->host), "role", doctor_role_name(d->role), "healthy",
                  status == TOOL_DONE, "checks", (int)d->check_count, "ignored", (int)d->ignored,
                  "slurm_conf", text_or_null(d->slurm.path), "plugstack_conf",
                  text_or_null(d->stack.path), "pmix", text_or_null(d->pmix), "findings", findings);
    if (bad || !root) {
        json_decref(root);
        tool_fail("out of memory");
        return TOOL_USAGE;
    }
    json_dumpf(root, stdout, JSON_ENSURE_ASCII | JSON_INDENT(2));
    printf("\n");
    json_decref(root);
    return status;
}
