/* SPDX-License-Identifier: BSD-3-Clause */

/* Prints the findings: for people, for programs, in one line. */

#include <stdlib.h>
#include <string.h>

#include "tools/doctor/checks.h"
#include "tools/json.h"
#include "tools/tool.h"
#include "output/text_table.h"

static const char *const severities[] = {
    [DOCTOR_UNKNOWN] = "unknown",
    [DOCTOR_ADVICE] = "advice",
    [DOCTOR_PROBLEM] = "problem",
};

static const struct {
    const char *word, *text;
} roles[] = {
    [DOCTOR_COMPUTE] = { "compute", "compute node" },
    [DOCTOR_LOGIN] = { "login", "login node" },
    [DOCTOR_OTHER] = { "other", "no slurm.conf found (if Slurm is here, set SLURM_CONF)" },
};

/* Returns the next finding after `from` of that severity, the first for NULL; NULL: no more. */
static const struct doctor_finding *next(const struct doctor *d, int severity,
                                         const struct doctor_finding *from)
{
    const struct doctor_finding *end = d->findings + d->count;
    for (from = from ? from + 1 : d->findings; from < end; from++)
        if (from->kind->severity == (enum doctor_severity)severity)
            return from;
    return NULL;
}

/* Writes the numbers, as "2 problems, 1 advice, 1 unknown". */
static void summarise(const struct doctor *d, char *text, size_t size)
{
    unsigned counts[DOCTOR_PROBLEM + 1] = { 0 };
    for (unsigned i = 0; i < d->count; i++)
        counts[d->findings[i].kind->severity]++;
    snprintf(text, size, "%u problem%s, %u advice, %u unknown", counts[DOCTOR_PROBLEM],
             counts[DOCTOR_PROBLEM] == 1 ? "" : "s", counts[DOCTOR_ADVICE], counts[DOCTOR_UNKNOWN]);
}

static void print_name(const struct doctor_finding *finding)
{
    printf("%s%s%s", finding->kind->id, *finding->subject ? ":" : "", finding->subject);
}

/* --- for a person ----------------------------------------------------------------------------- */

static void print_finding(const struct doctor_finding *finding)
{
    const struct doctor_kind *kind = finding->kind;
    char text[1024];
    printf("\n%-8s ", severities[kind->severity]);
    print_name(finding);
    printf("\n");
    nuioa_text_table_wrap(stdout, 9, finding->what);
    snprintf(text, sizeof(text), "Why: %s", kind->why);
    nuioa_text_table_wrap(stdout, 9, text);
    snprintf(text, sizeof(text), "Do: %s", kind->remedy);
    nuioa_text_table_wrap(stdout, 9, text);
}

static void print_node(const struct doctor *d)
{
    unsigned ports = 0;
    for (uint32_t i = 0; i < d->node.nic_count; i++)
        ports += doctor_is_port(&d->node.nics[i]);
    printf("%s: %s", *d->host ? d->host : d->live ? "this node" : d->root, roles[d->role].text);
    if (d->node_known)
        printf(", %u NUMA node%s, %u port%s", d->node.numa_count,
               d->node.numa_count == 1 ? "" : "s", ports, ports == 1 ? "" : "s");
    printf("%s%s\nnuioa %s\n", *d->slurm.path ? ", " : "", d->slurm.path, VERSION);
    if (*d->pmix)
        printf("PMIx: %s\n", d->pmix);
}

/* Prints the first sentence of the remedy for the first of the worst findings. */
static void print_first(const struct doctor *d)
{
    const struct doctor_finding *first = next(d, DOCTOR_PROBLEM, NULL);
    first = first ? first : next(d, DOCTOR_ADVICE, NULL);
    if (!first) {
        printf("No problem found.\n");
        return;
    }
    const char *remedy = first->kind->remedy, *end = strstr(remedy, ". ");
    printf("First: ");
    print_name(first);
    printf(": %.*s\n", end ? (int)(end - remedy) + 1 : (int)strlen(remedy), remedy);
}

int doctor_print_text(const struct doctor *d, int status)
{
    char text[128];
    print_node(d);
    for (int severity = DOCTOR_PROBLEM; severity >= DOCTOR_UNKNOWN; severity--)
        for (const struct doctor_finding *f = NULL; (f = next(d, severity, f));)
            print_finding(f);
    summarise(d, text, sizeof(text));
    printf("\n%u checks: %s", d->check_count, text);
    printf(d->ignored ? ", %u ignored\n" : "\n", d->ignored);
    print_first(d);
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
        for (const struct doctor_finding *f = NULL; (f = next(d, severity, f));) {
            printf("%s", separator);
            print_name(f);
            separator = ", ";
        }
    printf("\n");
    return status;
}

/* --- for a program ---------------------------------------------------------------------------- */

static json_t *finding_of(const struct doctor_finding *finding)
{
    const struct doctor_kind *kind = finding->kind;
    return json_pack(
        "{s:s, s:s, s:o, s:o, s:s, s:s}", "id", kind->id, "severity", severities[kind->severity],
        "subject", tool_json_text_or_null(finding->subject), "what",
        tool_json_text_or_null(finding->what), "why", kind->why, "remedy", kind->remedy);
}

int doctor_print_json(const struct doctor *d, int status)
{
    json_t *findings = json_array();
    for (unsigned i = 0; i < d->count; i++)
        findings = tool_json_add(findings, finding_of(&d->findings[i]));
    json_t *root =
        json_pack("{s:i, s:o, s:s, s:b, s:i, s:i, s:o, s:o, s:o, s:o}", "nuioa", 1, "host",
                  tool_json_text_or_null(d->host), "role", roles[d->role].word, "healthy",
                  status == TOOL_DONE, "checks", (int)d->check_count, "ignored", (int)d->ignored,
                  "slurm_conf", tool_json_text_or_null(d->slurm.path), "plugstack_conf",
                  tool_json_text_or_null(d->slurm.stack), "pmix", tool_json_text_or_null(d->pmix),
                  "findings", findings);
    return tool_json_print(root, 2) ? TOOL_USAGE : status;
}
