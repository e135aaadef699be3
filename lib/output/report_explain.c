/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/report_explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nics/rails.h"
#include "output/report_node.h"
#include "topology/policy.h"
#include "util/number.h"
#include "util/text.h"

/* --- why a rank is where it is ---------------------------------------------------------------- */

/* Returns true if `after` is lower by more than rounding. */
static bool falls(double before, double after)
{
    return after < before * (1 - 1e-9);
}

static const char *why_moved(const struct nuioa_plan *plan,
                             const struct nuioa_assignment *assignment, char *text, size_t size)
{
    const struct nuioa_rank_costs *a = &assignment->costs;
    if (assignment->gpu_level < a->gpu_level_before)
        return "nearer its GPUs";
    bool nearer = assignment->level<a->level_before, farther = assignment->level> a->level_before;
    if (nearer && falls(a->before.neighbours, a->after.neighbours))
        return "nearer NIC and neighbours";
    if (nearer)
        return "nearer its NIC";
    if (falls(a->before.neighbours, a->after.neighbours))
        return "nearer its neighbours";
    if (plan->why == NUIOA_REASON_FOLLOW_SHARE || plan->why == NUIOA_REASON_FOLLOW_SHARE_FAR)
        return "its part of the shared CPUs";
    bool lighter = a->gave_way >= 0 && assignment->weight < plan->assignments[a->gave_way].weight;
    if (!farther && !lighter && plan->rail_leader_count > 1)
        return "so that the NICs share the load";
    if (plan->why >= NUIOA_REASON_SHARE && plan->why <= NUIOA_REASON_SHARE_TRAFFIC)
        return "its part of the shared CPUs";
    if (a->gave_way < 0)
        return "nearer cores were free for others";
    snprintf(text, size, "gave way to rank %u", plan->assignments[a->gave_way].rank);
    return text;
}

const char *nuioa_report_why(const struct nuioa_plan *plan, uint32_t local, char *text, size_t size)
{
    const struct nuioa_assignment *assignment = &plan->assignments[local];
    if (assignment->moved) {
        const char *why = why_moved(plan, assignment, text, size);
        if (why != text)
            nuioa_copy(text, size, why);
    } else if (assignment->level == 0)
        nuioa_copy(text, size, plan->moved ? "already beside its NIC" : "beside its NIC");
    else
        nuioa_copy(text, size, plan->moved ? "not moved" : "where Slurm put it");
    return text;
}

/* --- the table -------------------------------------------------------------------------------- */

/* The columns behind those of a report without reasons. */
static const char heads[][12] = { "before", "order", "local", "partners", "why" };
enum { HEADS = sizeof(heads) / sizeof(*heads) };

/* Returns true if Slurm put the rank on another level, and both are known. */
static bool is_changed(const struct nuioa_assignment *p)
{
    return p->costs.level_before != p->level && p->costs.level_before != NUIOA_NO_LEVEL &&
           p->level != NUIOA_NO_LEVEL;
}

/* Adds the percentage of the traffic on the node that stays on the NUMA nodes of the ranks. */
static void add_local(struct nuioa_text_table *table, const struct nuioa_plan *plan,
                      const struct nuioa_report_rows *rows, uint32_t row)
{
    double local = 0, beside = 0;
    for (uint32_t i = 0; i < plan->task_count; i++)
        if (rows->row_of[i] == row) {
            local += plan->assignments[i].costs.local;
            beside += plan->assignments[i].costs.beside;
        }
    nuioa_text_table_add(table, local > 0 ? "%.0f %%" : "", local > 0 ? 100 * beside / local : 0);
}

/* Adds the main partners that are on the same NUMA nodes. */
static void add_partners(struct nuioa_text_table *table, const struct nuioa_plan *plan,
                         const struct nuioa_assignment *p, bool alone)
{
    char text[64];
    struct nuioa_text t = nuioa_text_in(text, sizeof(text));
    for (uint32_t k = 0; alone && k < p->costs.partner_count; k++) {
        const struct nuioa_assignment *other = &plan->assignments[p->costs.partners[k]];
        if (hwloc_bitmap_isequal(other->numas, p->numas))
            nuioa_text_add(&t, "%s%u", t.used ? "," : "", other->rank);
    }
    nuioa_text_table_add(table, "%s", text);
}

/* Adds how many ranks of a row moved, and where to. */
static void add_moves(struct nuioa_text_table *table, const struct nuioa_plan *plan,
                      const struct nuioa_report_rows *rows, uint32_t row)
{
    uint32_t nearer = 0, farther = 0, equal = 0;
    for (uint32_t i = 0; i < plan->task_count; i++) {
        const struct nuioa_assignment *p = &plan->assignments[i];
        if (rows->row_of[i] != row || !p->moved)
            continue;
        *(p->level < p->costs.level_before   ? &nearer
          : p->level > p->costs.level_before ? &farther
                                             : &equal) += 1;
    }
    nuioa_text_table_add(
        table, nearer + farther + equal ? "%u nearer, %u farther, %u equally far" : "none moved",
        nearer, farther, equal);
}

/* Adds the cells of the long form to a row. */
static void add_reasons(struct nuioa_text_table *table, const struct nuioa_plan *plan,
                        const struct nuioa_report_rows *rows, uint32_t row)
{
    const struct nuioa_assignment *first = &plan->assignments[rows->first[row]];
    bool alone = rows->row[row].count == 1;
    char why[64];
    nuioa_text_table_add(table, alone && is_changed(first) ? "%u" : "", first->costs.level_before);
    nuioa_text_table_add(table, alone && plan->hinted ? "%u" : "", first->costs.heavier + 1);
    add_local(table, plan, rows, row);
    add_partners(table, plan, first, alone);
    if (alone)
        nuioa_text_table_add(table, "%s",
                             nuioa_report_why(plan, rows->first[row], why, sizeof(why)));
    else
        add_moves(table, plan, rows, row);
}

unsigned report_ranks(const struct nuioa_plan *plan, const struct nuioa_report_rows *rows,
                      const char *host, FILE *out)
{
    const unsigned more = host ? 0 : HEADS;
    struct nuioa_text_table table;
    double heaviest = 0;
    unsigned shown = 0;
    nuioa_text_table_init(&table, host ? NUIOA_REPORT_COLUMNS : NUIOA_REPORT_COLUMNS "rrrll");
    table.lost = rows->arena.failed;
    nuioa_report_add_heads(&table);
    for (unsigned i = 0; i < more; i++)
        nuioa_text_table_add(&table, "%s", heads[i]);
    for (uint32_t i = 0; host && i < rows->count; i++)
        if (rows->row[i].count == 1)
            heaviest = fmax(heaviest, rows->row[i].weight);
    for (uint32_t i = 0; i < rows->count; i++) {
        nuioa_report_add_row(&table, host, &rows->row[i], heaviest);
        if (!host)
            add_reasons(&table, plan, rows, i);
    }
    for (unsigned i = 0; i < more; i++)
        shown |= (unsigned)nuioa_text_table_shows(&table, table.columns - HEADS + i) << i;
    nuioa_text_table_print(&table, out, 2);
    return shown;
}

/* Explains the columns that were shown and whose names do not say enough. */
static void print_legend(unsigned shown, FILE *out)
{
    static const char *const texts[HEADS] = {
        "the level where Slurm put the rank, if that is another one",
        "the rank's position by weight; 1 is the heaviest",
        "the part of its traffic on this node that stays on its NUMA nodes",
        "ranks there, among the three with which it exchanges most",
    };
    const char *before = "\n";
    for (unsigned i = 0; i < HEADS; i++)
        if (texts[i] && shown & 1u << i) {
            fprintf(out, "%s  %-8s  %s\n", before, heads[i], texts[i]);
            before = "";
        }
}

/* --- the cost --------------------------------------------------------------------------------- */

static void print_term(const char *name, double before, double after, double gain, FILE *out)
{
    char from[32], to[32];
    fprintf(out, "  %-14s %s -> %s", name, nuioa_report_number(before, from, sizeof(from)),
            nuioa_report_number(after, to, sizeof(to)));
    if (gain > 0)
        fprintf(out, ", %.0f %% of the gain", round(100 * (before - after) / gain) + 0.0);
    fputc('\n', out);
}

static void print_terms(const struct nuioa_plan *plan, FILE *out)
{
    const struct nuioa_plan_cost *before = &plan->before, *after = &plan->after;
    const struct nuioa_load_term *load = &after->load;
    double gain = falls(before->j, after->j) && !plan->gpus_left ? before->j - after->j : 0;
    if (before->j <= 0)
        return;
    fputs("\nThe parts of the cost\n", out);
    print_term("to the NIC", before->nic, after->nic, gain, out);
    print_term("to neighbours", before->neighbours, after->neighbours, gain, out);
    if (load->ratio > 0)
        print_term("of uneven load", before->load.cost, load->cost, gain, out);
    if (load->ratio > 0)
        fprintf(out, "  the busiest NIC has %.2f of an even share (with Slurm's masks %.2f)\n",
                load->ratio, before->load.ratio);
    if (plan->bound_known)
        nuioa_text_table_wrap(
            out, 2,
            load->ratio > 0
                ? "the bound is the cost of heavier ranks in Slurm's closest masks, with NICs "
                  "loaded as evenly as possible, and of each pair in the cheapest two masks"
            : before->neighbours > 0
                ? "the bound is the cost of heavier ranks in Slurm's closest masks, and of each "
                  "pair in the cheapest two masks"
                : "the bound is the cost of heavier ranks in Slurm's closest masks, which is "
                  "optimal");
    if (plan->gpus_left)
        fputs("  the cost does not count how far ranks are from their GPUs\n", out);
}

/* --- the rest --------------------------------------------------------------------------------- */

/* Says which NICs have prices that were measured, and which. */
static void print_measured(const struct nuioa_node *node, const struct nuioa_options *options,
                           FILE *out)
{
    char label[48], price[32];
    for (uint32_t i = 0; i < node->nic_count; i++) {
        const struct nuioa_nic *nic = &node->nics[i];
        const char *between = ": ";
        if (!nic->measured)
            continue;
        fprintf(out, "  cost of one weight, measured for %s",
                nuioa_nic_label(nic, label, sizeof(label)));
        for (uint32_t k = 0; k < node->numa_count; k++) {
            double cost = nuioa_measured_price(nic->measured, node->numa_count, k, options->policy);
            if (cost > 0)
                fprintf(out, "%s%s on NUMA node %u", between,
                        nuioa_print_decimal(round(cost * 100) / 100, price, sizeof(price)),
                        node->numas[k].os_index);
            between = cost > 0 ? ", " : between;
        }
        fputc('\n', out);
    }
}

static void print_choice(const struct nuioa_plan *plan, const struct nuioa_node *node,
                         const struct nuioa_options *options, FILE *out)
{
    char remote[32], hop[32], load[32];
    fprintf(out, "\nHow the placement was found\n  mapper %s\n", plan->mapper);
    fprintf(out,
            "  cost of one weight: 1 on the NIC's NUMA node, %s more off it, %s more per further "
            "level\n",
            nuioa_print_decimal(options->remote_cost, remote, sizeof(remote)),
            nuioa_print_decimal(options->hop_cost, hop, sizeof(hop)));
    print_measured(node, options, out);
    if (plan->after.load.ratio > 0)
        fprintf(out, "  cost of one weight above a NIC's share of the load: %s more\n",
                nuioa_print_decimal(options->load_cost, load, sizeof(load)));
    if (*options->hints)
        fprintf(out, "  hints %.80s\n", options->hints);
    if (plan->order_count) {
        fprintf(out, "  leader rank %u", plan->assignments[plan->order[0]].rank);
        if (plan->near > 1)
            fprintf(out, "; %u ranks are equally near", plan->near);
        fputc('\n', out);
    }
}

void report_explain_rest(const struct nuioa_plan *plan, const struct nuioa_node *node,
                         const struct nuioa_options *options, unsigned shown, FILE *out)
{
    print_legend(shown, out);
    print_terms(plan, out);
    print_choice(plan, node, options, out);
    report_facts(node, out);
}
