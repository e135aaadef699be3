/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/report.h"

#include <stdlib.h>

#include "output/report_explain.h"
#include "output/report_node.h"
#include "output/report_table.h"
#include "util/text.h"

struct nuioa_report_totals nuioa_report_totals(const struct nuioa_plan *plan,
                                               const struct nuioa_node *node)
{
    struct nuioa_report_totals totals = {
        .host = node->host,
        .nodes = 1,
        .ranks = plan->task_count,
        .policy = plan->policy,
        .planned = plan->planned,
        .leads = plan->order_count > 0,
        .before = plan->gpus_left ? -1 : plan->before.j,
        .after = plan->after.j,
        .bound = plan->bound_known ? plan->bound : -1,
    };
    for (uint32_t i = 0; i < plan->task_count; i++)
        totals.moved += plan->assignments[i].moved;
    return totals;
}

void nuioa_report_head(const struct nuioa_report_totals *t, FILE *out)
{
    char nodes[80] = "", head[300];
    if (!t->ranks) {
        fputs("nuioa: no node has a plan\n", out);
        return;
    }
    if (!t->host)
        snprintf(nodes, sizeof(nodes), "%u node%s, ", t->nodes, nuioa_report_plural(t->nodes));
    else if (*t->host)
        snprintf(nodes, sizeof(nodes), "%s, ", t->host);
    snprintf(head, sizeof(head), "nuioa: %s%llu rank%s, %llu moved%s, policy %s%s", nodes,
             (unsigned long long)t->ranks, nuioa_report_plural(t->ranks),
             (unsigned long long)t->moved, t->planned ? " (planned, not bound)" : "",
             nuioa_policy_name(t->policy), t->leads ? ", leader *" : "");
    nuioa_text_table_wrap(out, 0, head);
}

void nuioa_report_cost(const struct nuioa_report_totals *t, FILE *out)
{
    char before[32], after[32], bound[32];
    if (t->before <= 0 || t->after < 0)
        return;
    fprintf(out, "cost %s -> %s", nuioa_report_number(t->before, before, sizeof(before)),
            nuioa_report_number(t->after, after, sizeof(after)));
    if (t->after < t->before)
        fprintf(out, " (%.1f %% less)", 100 * (t->before - t->after) / t->before);
    if (t->bound >= 0)
        fprintf(out, ", " NUIOA_BOUND " %s%s", nuioa_report_number(t->bound, bound, sizeof(bound)),
                t->bound < t->after * (1 - 1e-6) ? ", and perhaps none is as low" : "");
    fputc('\n', out);
}

static void print(const struct nuioa_plan *plan, const struct nuioa_node *node,
                  const struct nuioa_options *options, bool explain, FILE *out)
{
    const struct nuioa_report_totals totals = nuioa_report_totals(plan, node);
    struct nuioa_report_rows rows;
    nuioa_report_rows_make(&rows, plan, node, plan->task_count > NUIOA_REPORT_RANKS_MAX);
    nuioa_report_head(&totals, out);
    unsigned shown = report_ranks(plan, &rows, explain ? NULL : node->host, out);
    nuioa_arena_free(&rows.arena);
    nuioa_text_table_wrap(out, 0, plan->reason);
    for (unsigned i = 0; i < NUIOA_ADVICE_COUNT; i++)
        if (plan->advice & 1u << i)
            nuioa_text_table_wrap(out, 0, nuioa_advice_text((enum nuioa_advice)i));
    nuioa_report_cost(&totals, out);
    report_warnings(&plan->warnings, out);
    if (explain)
        report_explain_rest(plan, node, options, shown, out);
}

char *nuioa_report_text(const struct nuioa_plan *plan, const struct nuioa_node *node,
                        const struct nuioa_options *options, bool explain)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    print(plan, node, options, explain, out);
    return nuioa_text_close(out, &text);
}

/* --- for launchers --------------------------------------------------------------------------- */

char *nuioa_report_cpu_bind(const struct nuioa_plan *plan)
{
    char *text = NULL;
    size_t size;
    bool whole = true;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    for (uint32_t i = 0; i < plan->task_count; i++) {
        char *mask = NULL; /* such as "0xff00000000": Slurm needs one number without commas */
        whole = whole && hwloc_bitmap_taskset_asprintf(&mask, plan->assignments[i].cpus) >= 0;
        if (whole)
            fprintf(out, "%s%s", i ? "," : "", mask);
        free(mask);
    }
    fputc('\n', out);
    text = nuioa_text_close(out, &text);
    if (whole)
        return text;
    free(text);
    return NULL;
}
