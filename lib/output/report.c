/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/report_explain.h"
#include "output/report_lines.h"
#include "util/number.h"

/* The width of the bar for the heaviest rank, in characters. */
#define BAR_WIDTH 20

static void print_ranks(const struct nuioa_plan *plan, const struct nuioa_node *node, FILE *out)
{
    static const char *const heads[] = { "node", "rank",  "",    "CPUs", "NUMA",   "memory",
                                         "NIC",  "level", "GPU", "path", "weight", "" };
    char text[128];
    double most = report_heaviest(plan);
    struct report_lines lines;
    struct nuioa_text_table table;
    nuioa_text_table_init(&table, "lrllllllllrl");
    for (unsigned i = 0; i < sizeof(heads) / sizeof(*heads); i++)
        nuioa_text_table_add(&table, "%s", heads[i]);
    bool open = report_lines_open(&lines, plan);
    table.lost = table.lost || !open;
    while (open && report_lines_next(&lines)) {
        bool alone = lines.count == 1;
        int bar = most > 0 && alone ? (int)(lines.weight / most * BAR_WIDTH + 0.5) : 0;
        nuioa_text_table_add(&table, "%s", node->host);
        report_add_location(&table, &lines);
        nuioa_text_table_add(&table, "%s", nuioa_memory_text(lines.assignment, text, sizeof(text)));
        report_add_nic(&table, node, &lines);
        report_add_gpus(&table, &lines);
        report_add_weight(&table, &lines);
        nuioa_text_table_add(&table, "%.*s", bar, "####################");
    }
    nuioa_text_table_print(&table, out, 2);
    report_lines_close(&lines);
}

static void print_cost(const struct nuioa_plan *plan, FILE *out)
{
    const struct nuioa_mapping *m = &plan->mapping;
    char before[32], after[32], bound[32];
    if (m->cost_start <= 0 || plan->gpus_left)
        return;
    report_number(m->cost_start, before, sizeof(before));
    report_number(m->cost, after, sizeof(after));
    fprintf(out, "cost %s -> %s", before, after);
    if (m->cost < m->cost_start)
        fprintf(out, " (%.1f %% less)", 100 * (m->cost_start - m->cost) / m->cost_start);
    if (plan->bound_known)
        fprintf(out, ", " NUIOA_BOUND " %s", report_number(m->bound, bound, sizeof(bound)));
    fputc('\n', out);
    if (plan->load_after.ratio > 0)
        fprintf(out, "the most loaded NIC has %.2f of an even share, with Slurm's masks %.2f\n",
                plan->load_after.ratio, plan->load_before.ratio);
}

static void print_head(const struct nuioa_plan *plan, const struct nuioa_node *node, FILE *out)
{
    char head[400];
    unsigned moved = 0;
    for (uint32_t i = 0; i < plan->task_count; i++)
        moved += plan->assignments[i].moved;
    snprintf(head, sizeof(head), "nuioa: %s, %u ranks, %u moved%s, policy %s%s", node->host,
             plan->task_count, moved, plan->planned ? " (planned, not bound)" : "",
             nuioa_policy_name(plan->policy), plan->order_count ? ", leader *" : "");
    nuioa_text_table_wrap(out, 0, head);
}

char *nuioa_report_text(const struct nuioa_plan *plan, const struct nuioa_node *node,
                        const struct nuioa_options *options, bool explain)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    print_head(plan, node, out);
    if (explain)
        report_explain_ranks(plan, node, out);
    else
        print_ranks(plan, node, out);
    nuioa_text_table_wrap(out, 0, plan->reason);
    for (unsigned i = 0; i < NUIOA_ADVICE_COUNT; i++)
        if (plan->advice & 1u << i)
            nuioa_text_table_wrap(out, 0, nuioa_advice_text((enum nuioa_advice)i));
    print_cost(plan, out);
    for (unsigned i = 0; i < plan->warnings.count; i++) {
        char line[300];
        snprintf(line, sizeof(line), "warning: %s", plan->warnings.text[i]);
        nuioa_text_table_wrap(out, 0, line);
    }
    if (explain)
        report_explain_rest(plan, node, options, out);
    if (fclose(out)) {
        free(text);
        return NULL;
    }
    return text;
}

/* --- for launchers --------------------------------------------------------------------------- */

/* Prints a mask such as "0xff00000000". Slurm needs one number without commas. */
static void print_mask(FILE *out, hwloc_const_bitmap_t cpus)
{
    int last = hwloc_bitmap_last(cpus);
    bool begun = false;
    fputs("0x", out);
    for (int digit = last / 4; digit >= 0; digit--) {
        unsigned value = 0;
        for (int bit = 0; bit < 4; bit++)
            value |= (unsigned)hwloc_bitmap_isset(cpus, (unsigned)(4 * digit + bit)) << bit;
        if (value || begun || digit == 0)
            fprintf(out, "%x", value);
        begun = begun || value;
    }
}

char *nuioa_report_cpu_bind(const struct nuioa_plan *plan)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    for (uint32_t i = 0; i < plan->task_count; i++) {
        fputs(i ? "," : "", out);
        print_mask(out, plan->assignments[i].cpus);
    }
    fputc('\n', out);
    if (fclose(out)) {
        free(text);
        return NULL;
    }
    return text;
}

char *nuioa_report_rankfile(const struct nuioa_plan *plan, const struct nuioa_node *node)
{
    char *text = NULL;
    size_t size;
    bool whole = true;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    for (uint32_t i = 0; i < plan->task_count; i++) {
        char *list = NULL;
        whole = whole && hwloc_bitmap_list_asprintf(&list, plan->assignments[i].cpus) >= 0;
        if (whole)
            fprintf(out, "rank %u=%s slot=%s\n", plan->assignments[i].rank, node->host, list);
        free(list);
    }
    if (fclose(out) || !whole) {
        free(text);
        return NULL;
    }
    return text;
}
