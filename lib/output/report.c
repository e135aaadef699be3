#include "output/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/report_private.h"
#include "util/number.h"

/* Above this, ranks that share everything are one line. */
#define LINES_MAX 64
#define BAR_WIDTH 20

/* Six digits are enough for a person; whole numbers stay whole. */
const char *report_number(double value, char *text, size_t size)
{
    if (value >= 1e5) {
        value = round(value);
    } else if (value > 0) {
        double scale = pow(10, 5 - floor(log10(value)));
        if (isfinite(scale))
            value = round(value * scale) / scale;
    }
    return nuioa_print_decimal(value, text, size);
}

double report_heaviest(const struct nuioa_plan *plan)
{
    double most = 0;
    for (uint32_t i = 0; i < plan->task_count; i++)
        if (plan->assignments[i].weight > most)
            most = plan->assignments[i].weight;
    return most;
}

static bool same_line(const struct nuioa_assignment *a, const struct nuioa_assignment *b)
{
    return a->nic == b->nic && a->level == b->level && a->memory == b->memory &&
           hwloc_bitmap_isequal(a->numas, b->numas);
}

static void gather(struct report_lines *lines, uint32_t first)
{
    const struct nuioa_plan *plan = lines->plan;
    lines->assignment = &plan->assignments[first];
    lines->weight = 0;
    lines->leads = false;
    lines->count = 0;
    hwloc_bitmap_zero(lines->ranks);
    hwloc_bitmap_zero(lines->cpus);
    for (uint32_t i = first; i < plan->task_count; i++) {
        lines->member[i] = i == first || (lines->grouped && !lines->done[i] &&
                                          same_line(lines->assignment, &plan->assignments[i]));
        if (!lines->member[i])
            continue;
        lines->done[i] = true;
        lines->count++;
        hwloc_bitmap_set(lines->ranks, plan->assignments[i].rank);
        hwloc_bitmap_or(lines->cpus, lines->cpus, plan->assignments[i].cpus);
        lines->weight += plan->assignments[i].weight;
        lines->leads = lines->leads || (plan->order_count && plan->order[0] == i);
    }
}

bool report_lines_open(struct report_lines *lines, const struct nuioa_plan *plan)
{
    *lines = (struct report_lines){ .plan = plan, .grouped = plan->task_count > LINES_MAX };
    lines->done = calloc(plan->task_count + 1, sizeof(*lines->done));
    lines->member = calloc(plan->task_count + 1, sizeof(*lines->member));
    lines->ranks = hwloc_bitmap_alloc();
    lines->cpus = hwloc_bitmap_alloc();
    return lines->done && lines->member && lines->ranks && lines->cpus;
}

bool report_lines_next(struct report_lines *lines)
{
    while (lines->next < lines->plan->task_count && lines->done[lines->next])
        lines->next++;
    if (lines->next == lines->plan->task_count)
        return false;
    memset(lines->member, 0, lines->plan->task_count * sizeof(*lines->member));
    gather(lines, lines->next);
    return true;
}

void report_lines_close(struct report_lines *lines)
{
    free(lines->done);
    free(lines->member);
    hwloc_bitmap_free(lines->ranks);
    hwloc_bitmap_free(lines->cpus);
}

void report_add_set(struct nuioa_text_table *table, hwloc_const_bitmap_t set)
{
    char *text = NULL;
    if (hwloc_bitmap_iszero(set))
        nuioa_text_table_add(table, "-");
    else if (hwloc_bitmap_list_asprintf(&text, set) < 0)
        table->lost = true;
    else
        nuioa_text_table_add(table, "%s", text);
    free(text);
}

void report_add_home(struct nuioa_text_table *table, const struct report_lines *line)
{
    report_add_set(table, line->ranks);
    nuioa_text_table_add(table, "%s", line->leads ? "*" : "");
    report_add_set(table, line->cpus);
    report_add_set(table, line->assignment->numas);
}

void report_add_nic(struct nuioa_text_table *table, const struct nuioa_node *node,
                    const struct report_lines *line)
{
    const struct nuioa_assignment *assignment = line->assignment;
    char text[128];
    if (assignment->nic < 0)
        nuioa_text_table_add(table, "-");
    else
        nuioa_text_table_add(table, "%s",
                             nuioa_nic_label(&node->nics[assignment->nic], text, sizeof(text)));
    nuioa_text_table_add(table, assignment->level == NUIOA_NO_LEVEL ? "-" : "%u",
                         assignment->level);
}

void report_add_weight(struct nuioa_text_table *table, const struct report_lines *line)
{
    char text[128];
    nuioa_text_table_add(
        table, "%s",
        report_heaviest(line->plan) > 0 ? report_number(line->weight, text, sizeof(text)) : "");
}

static void print_ranks(const struct nuioa_plan *plan, const struct nuioa_node *node, FILE *out)
{
    static const char *const heads[] = { "node",   "rank", "",      "CPUs",   "NUMA",
                                         "memory", "NIC",  "level", "weight", "" };
    char text[128];
    double most = report_heaviest(plan);
    struct report_lines lines;
    struct nuioa_text_table table;
    nuioa_text_table_init(&table, "lrllllllrl");
    for (unsigned i = 0; i < sizeof(heads) / sizeof(*heads); i++)
        nuioa_text_table_add(&table, "%s", heads[i]);
    bool open = report_lines_open(&lines, plan);
    table.lost = table.lost || !open;
    while (open && report_lines_next(&lines)) {
        bool alone = lines.count == 1;
        int bar = most > 0 && alone ? (int)(lines.weight / most * BAR_WIDTH + 0.5) : 0;
        nuioa_text_table_add(&table, "%s", node->host);
        report_add_home(&table, &lines);
        nuioa_text_table_add(&table, "%s", nuioa_memory_text(lines.assignment, text, sizeof(text)));
        report_add_nic(&table, node, &lines);
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
        fprintf(out, ", " NUIOA_BOUND " %s",
                report_number(m->bound, bound, sizeof(bound)));
    fputc('\n', out);
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

/* "0xff00000000": Slurm wants one number without commas. */
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
