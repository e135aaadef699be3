#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "table.h"

/* Above this, ranks that share everything are one line. */
#define LINES_MAX 64
#define BAR_WIDTH 20

/* Six digits are enough for a person; whole numbers stay whole. */
static const char *number(double value, char *text, size_t size)
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

static double heaviest(const struct nuioa_plan *plan)
{
    double most = 0;
    for (uint32_t i = 0; i < plan->task_count; i++)
        if (plan->places[i].weight > most)
            most = plan->places[i].weight;
    return most;
}

static bool same_line(const struct nuioa_place *a, const struct nuioa_place *b)
{
    return a->nic == b->nic && a->level == b->level && a->memory == b->memory &&
           hwloc_bitmap_isequal(a->numas, b->numas);
}

/* Ranks of one line of the table: places[first] and, when grouped, all later ones like it. */
struct line {
    const struct nuioa_place *place;
    hwloc_bitmap_t ranks, cpus;
    double weight; /* of all together */
    bool leads;
};

static void collect(const struct nuioa_plan *plan, uint32_t first, bool grouped, bool *done,
                    struct line *line)
{
    const struct nuioa_place *place = line->place = &plan->places[first];
    hwloc_bitmap_zero(line->ranks);
    hwloc_bitmap_zero(line->cpus);
    line->weight = 0;
    line->leads = false;
    for (uint32_t i = first; i < plan->task_count; i++) {
        if (i > first && (!grouped || done[i] || !same_line(place, &plan->places[i])))
            continue;
        done[i] = true;
        hwloc_bitmap_set(line->ranks, plan->places[i].rank);
        hwloc_bitmap_or(line->cpus, line->cpus, plan->places[i].cpus);
        line->weight += plan->places[i].weight;
        line->leads = line->leads || (plan->order_count && plan->order[0] == i);
    }
}

static void add_set(struct nuioa_table *table, hwloc_const_bitmap_t set)
{
    char *text = NULL;
    if (hwloc_bitmap_iszero(set) || hwloc_bitmap_list_asprintf(&text, set) < 0)
        nuioa_table_add(table, "-");
    else
        nuioa_table_add(table, "%s", text);
    free(text);
}

static void add_line(struct nuioa_table *table, const struct nuioa_node *node,
                     const struct line *line, double most)
{
    const struct nuioa_place *place = line->place;
    char text[128];
    nuioa_table_add(table, "%s", node->host);
    add_set(table, line->ranks);
    nuioa_table_add(table, "%s", line->leads ? "*" : "");
    add_set(table, line->cpus);
    add_set(table, place->numas);
    nuioa_table_add(table, "%s", nuioa_memory_text(place, text, sizeof(text)));
    if (place->nic < 0)
        nuioa_table_add(table, "-");
    else
        nuioa_table_add(table, "%s",
                        nuioa_nic_label(&node->nics[place->nic], text, sizeof(text)));
    nuioa_table_add(table, place->level == NUIOA_NO_LEVEL ? "-" : "%u", place->level);
    bool alone = hwloc_bitmap_weight(line->ranks) == 1;
    int bar = most > 0 && alone ? (int)(place->weight / most * BAR_WIDTH + 0.5) : 0;
    nuioa_table_add(table, "%s",
                    most > 0 ? number(line->weight, text, sizeof(text)) : "");
    nuioa_table_add(table, "%.*s", bar, "####################");
}

static void print_ranks(const struct nuioa_plan *plan, const struct nuioa_node *node, FILE *out)
{
    static const char *const heads[] = { "node",   "rank", "",      "CPUs",   "NUMA",
                                         "memory", "NIC",  "level", "weight", "" };
    bool grouped = plan->task_count > LINES_MAX;
    double most = heaviest(plan);
    bool *done = calloc(plan->task_count + 1, sizeof(*done));
    struct line line = { .ranks = hwloc_bitmap_alloc(), .cpus = hwloc_bitmap_alloc() };
    struct nuioa_table table;
    nuioa_table_init(&table, "lrllllllrl");
    for (unsigned i = 0; i < sizeof(heads) / sizeof(*heads); i++)
        nuioa_table_add(&table, "%s", heads[i]);
    for (uint32_t i = 0; done && line.ranks && line.cpus && i < plan->task_count; i++) {
        if (done[i])
            continue;
        collect(plan, i, grouped, done, &line);
        add_line(&table, node, &line, most);
    }
    nuioa_table_print(&table, out, 2);
    hwloc_bitmap_free(line.ranks);
    hwloc_bitmap_free(line.cpus);
    free(done);
}

static void print_cost(const struct nuioa_plan *plan, FILE *out)
{
    const struct nuioa_mapping *m = &plan->mapping;
    char before[32], after[32], bound[32];
    if (m->cost_start <= 0)
        return;
    number(m->cost_start, before, sizeof(before));
    number(m->cost, after, sizeof(after));
    fprintf(out, "cost %s -> %s", before, after);
    if (m->cost < m->cost_start)
        fprintf(out, " (%.1f %% less)", 100 * (m->cost_start - m->cost) / m->cost_start);
    if (plan->bound_known)
        fprintf(out, ", no placement can be below %s",
                number(m->bound, bound, sizeof(bound)));
    fputc('\n', out);
}

static void print_head(const struct nuioa_plan *plan, const struct nuioa_node *node, FILE *out)
{
    char head[400];
    unsigned moved = 0;
    for (uint32_t i = 0; i < plan->task_count; i++)
        moved += plan->places[i].moved;
    snprintf(head, sizeof(head), "nuioa: %s, %u ranks, %u moved%s, policy %s%s", node->host,
             plan->task_count, moved, plan->planned ? " (planned, not bound)" : "",
             nuioa_policy_name(plan->policy), plan->order_count ? ", leader *" : "");
    nuioa_table_wrap(out, 0, head);
}

/* --- explain --------------------------------------------------------------------------------- */

static void print_level(const struct nuioa_plan *plan, uint32_t level, struct nuioa_table *table)
{
    hwloc_bitmap_t ranks = hwloc_bitmap_alloc(), numas = hwloc_bitmap_alloc();
    double least = 0, most = 0;
    bool any = false;
    for (uint32_t i = 0; ranks && numas && i < plan->task_count; i++) {
        const struct nuioa_place *p = &plan->places[i];
        if (p->level != level)
            continue;
        hwloc_bitmap_set(ranks, p->rank);
        hwloc_bitmap_or(numas, numas, p->numas);
        least = !any || p->weight < least ? p->weight : least;
        most = !any || p->weight > most ? p->weight : most;
        any = true;
    }
    if (any) {
        char from[32], to[32];
        nuioa_table_add(table, level == NUIOA_NO_LEVEL ? "unknown" : "%u", level);
        add_set(table, numas);
        add_set(table, ranks);
        number(most, from, sizeof(from));
        number(least, to, sizeof(to));
        nuioa_table_add(table, "%s%s%s", from, most > least ? " to " : "", most > least ? to : "");
    }
    hwloc_bitmap_free(ranks);
    hwloc_bitmap_free(numas);
}

static void print_levels(const struct nuioa_plan *plan, FILE *out)
{
    struct nuioa_table table;
    nuioa_table_init(&table, "llll");
    const char *const heads[] = { "level", "NUMA", "ranks", "weights" };
    for (unsigned i = 0; i < 4; i++)
        nuioa_table_add(&table, "%s", heads[i]);
    for (uint32_t level = 0; level <= UINT8_MAX; level++)
        print_level(plan, level, &table);
    print_level(plan, NUIOA_NO_LEVEL, &table);
    fputs("\nWho is how far from a NIC\n", out);
    nuioa_table_print(&table, out, 2);
}

static void print_choice(const struct nuioa_plan *plan, const struct nuioa_options *options,
                         FILE *out)
{
    char remote[32], hop[32];
    fprintf(out, "\nHow it was chosen\n  mapper %s, %llu evaluations, %u us\n",
            plan->mapping.mapper, (unsigned long long)plan->mapping.evaluations, plan->time_us);
    fprintf(out, "  weight costs 1 on the NIC's NUMA node, %s more off it, %s more per level\n",
            nuioa_print_decimal(options->remote_cost, remote, sizeof(remote)),
            nuioa_print_decimal(options->hop_cost, hop, sizeof(hop)));
    if (*options->hints)
        fprintf(out, "  hints %.80s\n", options->hints);
    if (plan->order_count) {
        fprintf(out, "  leader rank %u", plan->places[plan->order[0]].rank);
        if (plan->near > 1)
            fprintf(out, "; %u ranks are equally near", plan->near);
        fputc('\n', out);
    }
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
    print_ranks(plan, node, out);
    nuioa_table_wrap(out, 0, plan->reason);
    print_cost(plan, out);
    for (unsigned i = 0; i < plan->warnings.count; i++) {
        char line[300];
        snprintf(line, sizeof(line), "warning: %s", plan->warnings.text[i]);
        nuioa_table_wrap(out, 0, line);
    }
    if (explain) {
        print_levels(plan, out);
        print_choice(plan, options, out);
        char *facts = nuioa_report_node(node);
        fprintf(out, "\nThe node\n%s", facts ? facts : "");
        free(facts);
    }
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
        print_mask(out, plan->places[i].cpus);
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
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    for (uint32_t i = 0; i < plan->task_count; i++) {
        char *list = NULL;
        if (hwloc_bitmap_list_asprintf(&list, plan->places[i].cpus) >= 0)
            fprintf(out, "rank %u=%s slot=%s\n", plan->places[i].rank, node->host, list);
        free(list);
    }
    if (fclose(out)) {
        free(text);
        return NULL;
    }
    return text;
}
