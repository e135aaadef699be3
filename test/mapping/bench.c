/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L

/* Measures how good the mappers are and how fast: prints the tables of doc/placement.md. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "exact.h"
#include "instance.h"
#include "mapping/bisect.h"
#include "mapping/graph.h"
#include "mapping/hopsort.h"
#include "scotch_cost.h"

enum { SMALL = 378, LARGE = 140, LARGE_SEED = 1000 }; /* instances; the seed of the first one */

static double now_ms(void)
{
    struct timespec t;
    /* Processor time is used because the machine may be busy with other processes. */
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* Returns by how many percent `cost` is above `best`. */
static double above(double cost, double best)
{
    return best > 0 ? 100 * (cost / best - 1) : 0;
}

/* Returns J of one mapper alone, or J of the start if the mapper does not apply. */
static double alone(const struct nuioa_problem *p, const struct nuioa_mapper *mapper,
                    uint32_t *slot_of)
{
    /* A finite limit, because bisection goes on until the budget is used up. */
    struct nuioa_budget budget = { 0, 200000 };
    struct nuioa_problem with_graph = *p;
    struct nuioa_graph graph;
    with_graph.graph = &graph;
    bool mapped = !nuioa_graph_make(p, &graph) && mapper->map(&with_graph, slot_of, &budget) >= 0;
    nuioa_graph_free(&graph);
    return nuioa_cost(p, mapped ? slot_of : p->start);
}

struct line {
    const char *name;
    int count;
    double sum[4], worst[4];
};

static void note(struct line *line, int column, double percent)
{
    line->sum[column] += percent;
    if (percent > line->worst[column])
        line->worst[column] = percent;
}

/* Returns the pattern. */
static int make_small(struct instance *in, int k)
{
    static const double shares[] = { 0, 0.25, 1 };
    uint32_t tasks = 8 + (uint32_t)(k / 3) % 3;
    int pattern = k / 9 % PATTERNS, machine = k / 63 % 3;
    instance_make(in, 1 + (uint64_t)k, tasks, pattern, machine, shares[k % 3], k / 7 % 3);
    return pattern;
}

static void small_table(void)
{
    printf("## Against the optimum\n\n"
           "Nodes of 2, 4 and 8 NUMA nodes, 8 to 10 ranks, up to two spare slots; 0, 25 and\n"
           "100 %% of the traffic off the node. J above the least there is (branch and\n"
           "bound), in percent: mean / worst.\n\n");
    struct line lines[PATTERNS + 1] = { { 0 } };
    int optimal = 0;
    lines[PATTERNS].name = "**all**";
    for (int k = 0; k < SMALL; k++) {
        struct instance in;
        uint32_t slot_of[16];
        int pattern = make_small(&in, k);
        struct nuioa_mapping m;
        nuioa_map(&in.problem, slot_of, &m);
        double best = exact_cost(&in.problem, m.cost * (1 + 1e-9));
        if (best > m.cost)
            best = m.cost;
        double costs[4] = { m.cost_start, alone(&in.problem, &nuioa_hopsort, slot_of),
                            alone(&in.problem, &nuioa_bisect, slot_of), m.cost };
        lines[pattern].name = in.pattern;
        lines[pattern].count++;
        lines[PATTERNS].count++;
        for (int c = 0; c < 4; c++) {
            note(&lines[pattern], c, above(costs[c], best));
            note(&lines[PATTERNS], c, above(costs[c], best));
        }
        optimal += m.cost <= best * (1 + 1e-9);
        instance_free(&in);
    }
    printf("| pattern | instances | Slurm's own | hop-sorted | bisection | nuioa |\n"
           "|---|---:|---:|---:|---:|---:|\n");
    for (int q = 0; q <= PATTERNS; q++) {
        printf("| %s | %d", lines[q].name, lines[q].count);
        for (int c = 0; c < 4; c++)
            printf(" | %.2f / %.2f", lines[q].sum[c] / lines[q].count, lines[q].worst[c]);
        printf(" |\n");
    }
    printf("\nOptimal: %d of %d.\n", optimal, SMALL);
}

static const uint32_t sizes[] = { 64, 128, 256, 512 };

struct result {
    double tasks, edges, start, hopsort, scotch, nic_scotch, place, ms;
    const char *pattern, *machine, *mapper;
    double off_node;
};

static void make_large(struct instance *in, uint64_t seed, int k)
{
    static const double shares[] = { 0, 0.1, 0.25, 0.5 };
    instance_make(in, seed + (uint64_t)k, sizes[k % 4], k / 4 % PATTERNS, 1 + k / 28 % 5,
                  shares[(k / 4 + k / 28) % 4], 0);
}

static void run_large(uint64_t seed, int k, struct result *r)
{
    struct instance in;
    make_large(&in, seed, k);
    const struct nuioa_problem *p = &in.problem;
    uint32_t *slot_of = calloc(p->task_count, sizeof(*slot_of));
    struct nuioa_mapping m;
    r->ms = INFINITY;
    for (int run = 0; run < 3; run++) {
        double begin = now_ms();
        nuioa_map(p, slot_of, &m);
        r->ms = fmin(r->ms, now_ms() - begin);
    }
    r->place = m.cost;
    r->mapper = m.mapper;
    r->start = m.cost_start;
    r->hopsort = alone(p, &nuioa_hopsort, slot_of);
    r->scotch = scotch_cost(&in, false, slot_of);
    r->nic_scotch = scotch_cost(&in, true, slot_of);
    r->tasks = p->task_count;
    r->edges = p->pair_count;
    r->pattern = in.pattern;
    r->machine = in.machine;
    r->off_node = in.off_node;
    free(slot_of);
    instance_free(&in);
}

static double best_scotch(const struct result *r)
{
    return fmin(r->scotch, r->nic_scotch);
}

struct summary {
    int not_above, harmless; /* numbers of instances, of LARGE */
    double worst;            /* percent above the best Scotch result */
    double most_ms[4][2];    /* [size][sparse, dense] */
    double gain[4];          /* [size]: mean percent by which Scotch is above nuioa */
};

static bool is_above_scotch(const struct result *r)
{
    return r->place > best_scotch(r) * (1 + 1e-9);
}

static struct summary summarise(const struct result *results)
{
    struct summary sum = { 0 };
    for (int k = 0; k < LARGE; k++) {
        const struct result *r = &results[k];
        double *most = &sum.most_ms[k % 4][r->edges > r->tasks * r->tasks / 8];
        *most = fmax(*most, r->ms);
        sum.not_above += !is_above_scotch(r);
        sum.worst = fmax(sum.worst, above(r->place, best_scotch(r)));
        sum.harmless += r->place <= fmin(r->start, r->hopsort) * (1 + 1e-9);
        sum.gain[k % 4] += above(best_scotch(r), r->place) / (LARGE / 4);
    }
    return sum;
}

static void print_summary(const struct summary *sum)
{
    printf("\nNever above Slurm's own or hop-sorted: %d of %d. "
           "Not above the best Scotch: %d of %d, worst %.2f %% above.\n\n",
           sum->harmless, LARGE, sum->not_above, LARGE, sum->worst);
    printf("| ranks | sparse, most ms | dense, most ms | mean gain over Scotch |\n"
           "|---:|---:|---:|---:|\n");
    for (int s = 0; s < 4; s++)
        printf("| %u | %.1f | %.1f | %.2f %% |\n", sizes[s], sum->most_ms[s][0], sum->most_ms[s][1],
               sum->gain[s]);
}

static const char head[] =
    "| # | ranks | pairs | pattern | machine | off node | Slurm's own | hop-sorted "
    "| Scotch | Scotch, NIC | nuioa: J | ms | mapper |\n"
    "|---:|---:|---:|---|---|---:|---:|---:|---:|---:|---:|---:|---|\n";

static void large_row(int k, const struct result *r)
{
    printf("| %d | %.0f | %.0f | %s | %s | %.0f %% | %+.2f | %+.2f | %+.2f | %+.2f | %.6g "
           "| %.1f | %s |\n",
           k, r->tasks, r->edges, r->pattern, r->machine, 100 * r->off_node,
           above(r->start, r->place), above(r->hopsort, r->place), above(r->scotch, r->place),
           above(r->nic_scotch, r->place), r->place, r->ms, r->mapper);
}

static void large_table(void)
{
    struct result *results = calloc(LARGE, sizeof(*results));
    printf("\n## Larger nodes\n\n"
           "Each mapper's J above nuioa's, in percent: positive is worse. Scotch: the\n"
           "better of its default and quality strategies, on the machine as a tree or as\n"
           "its graph of links, without and with the NIC as a pinned vertex; then improved\n"
           "by the same swaps. Milliseconds: processor time of the whole decision, the best\n"
           "of three. Dense: more than a quarter of all pairs.\n\n");
    printf("%s", head);
    for (int k = 0; k < LARGE; k++) {
        run_large(LARGE_SEED, k, &results[k]);
        large_row(k, &results[k]);
        fflush(stdout);
    }
    struct summary sum = summarise(results);
    print_summary(&sum);
    free(results);
}

enum { SETS = 5 };
static const unsigned fresh_seeds[SETS] = { 1000000, 2000000, 3000000, 4000000, 5000000 };

/* Prints a line for each set, then the instances of all sets where Scotch is better. */
static void fresh_table(void)
{
    struct result *results = calloc(SETS * LARGE, sizeof(*results));
    printf("\n## Larger nodes, seeds that nothing was tuned on\n\n"
           "Sets of %d like the one above.\n\n"
           "| seeds from | never above Slurm's own or hop-sorted | not above the best Scotch "
           "| worst above | mean gain | sparse, most ms at 128 / 512 | dense, most ms at 128 / 512 "
           "|\n|---:|---:|---:|---:|---:|---:|---:|\n",
           LARGE);
    for (int s = 0; s < SETS; s++) {
        struct result *set = results + s * LARGE;
        for (int k = 0; k < LARGE; k++)
            run_large(fresh_seeds[s], k, &set[k]);
        struct summary sum = summarise(set);
        printf("| %u | %d of %d | %d of %d | %.2f %% | %.2f %% | %.1f / %.1f | %.1f / %.1f |\n",
               fresh_seeds[s], sum.harmless, LARGE, sum.not_above, LARGE, sum.worst,
               (sum.gain[0] + sum.gain[1] + sum.gain[2] + sum.gain[3]) / 4, sum.most_ms[1][0],
               sum.most_ms[3][0], sum.most_ms[1][1], sum.most_ms[3][1]);
        fflush(stdout);
    }
    printf("\nThose above Scotch, by seed:\n\n%s", head);
    for (int k = 0; k < SETS * LARGE; k++)
        if (is_above_scotch(&results[k]))
            large_row((int)fresh_seeds[k / LARGE] + k % LARGE, &results[k]);
    free(results);
}

/* Prints J of an instance, and frees it. */
static void print_cost(struct instance *in, const char *name)
{
    struct nuioa_mapping m;
    uint32_t *slot_of = calloc(in->problem.task_count, sizeof(*slot_of));
    nuioa_map(&in->problem, slot_of, &m);
    printf("%s\t%.17g\n", name, m.cost);
    free(slot_of);
    instance_free(in);
}

/* Prints J of the instances of the first two tables, and of those of the third that take little
 * time, for `bench` to compare two builds. */
static void print_costs(void)
{
    struct instance in;
    for (int k = 0; k < SMALL; k++) {
        make_small(&in, k);
        print_cost(&in, "8 to 10 ranks");
    }
    for (int k = 0; k < LARGE; k++) {
        make_large(&in, LARGE_SEED, k);
        print_cost(&in, "64 to 512 ranks");
    }
    for (int k = 0; k < SETS * LARGE; k++)
        if (sizes[k % 4] <= 128) {
            make_large(&in, fresh_seeds[k / LARGE], k % LARGE);
            print_cost(&in, "64 and 128 ranks, other seeds");
        }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "small")) {
        printf("# How good the placement is, and how fast\n\n"
               "Written by `test/mapping/bench`. J is the cost of mapping/problem.h: what "
               "reaching the\n"
               "NIC and one's neighbours costs. All instances are made up from fixed seeds\n"
               "(test/mapping/instance.c).\n\n");
        small_table();
    } else if (!strcmp(what, "large")) {
        large_table();
    } else if (!strcmp(what, "fresh")) {
        fresh_table();
    } else if (!strcmp(what, "costs")) {
        print_costs();
    } else {
        fprintf(stderr, "usage: bench small|large|fresh|costs\n");
        return 2;
    }
    return 0;
}
