/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/probe/link_graph.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The cut between one link and two is the middle of the widest gap between CUT - REACH and
 * CUT + REACH links. The gap must be at least GAP links wide, and the second widest less than RIVAL
 * of it. The trials of test/unit/link_graph_test.c have determined these values. */
#define CUT 1.5
#define REACH 0.35
#define GAP 0.25
#define RIVAL 0.7
/* A path may seem shorter than its links by this part of a quantum. */
#define SHORTCUT 0.6
/* Links may differ by this part of a quantum (root mean square), and by more if they are few. */
#define SPREAD 0.30
/* Links may differ by this part of a link more than their two directions do (root mean square):
 * ALIKE usually, EQUAL if all pairs are linked and there is no gap. CHANCE allows for how much a
 * few links may differ by chance: about the 99 % point of the ratio of two variances. */
#define ALIKE 0.12
#define EQUAL 0.05
#define CHANCE(links) (1 + 40. / (links))
/* Between two groups, far pairs cross a link inside of a group more than near ones. So they are of
 * another kind if their mean is at least FARTHER links above that of the near ones, and a gap of
 * APART links between the two is empty. The same trials have determined these values. */
#define FARTHER 0.8
#define APART 0.25
/* No latency between two NUMA nodes, and no sum of a few, is longer. */
#define LONGEST_NS 1e9
/* Remote access must be slower than local access by this many times the noise. */
#define NOISE_TIMES 3

/* All pairs between two groups; near ones are below the cut. */
struct between {
    uint32_t pairs, near;
    double sum, near_sum, last_near, first_far;
};

struct work {
    const struct nuioa_latency *latency;
    struct nuioa_link_graph *graph;
    uint32_t n;
    double *mean;            /* n * n, of both directions */
    double *path;            /* n * n, shortest over the links, in ns */
    bool *linked;            /* n * n */
    uint32_t *group;         /* n: equal for nodes that are connected so far */
    uint32_t *before;        /* n: the same before the last links */
    double *sorted;          /* n * (n - 1) / 2 means of different groups, ascending */
    struct between *between; /* n * n */
    double cut_ns;
    double link_ns; /* mean of the links, of the first kind if there are groups */
};

static size_t at(const struct work *w, uint32_t i, uint32_t j)
{
    return (size_t)i * w->n + j;
}

/* Refuses the matrix. Only the first reason is kept. */
static void refuse(struct work *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void refuse(struct work *w, const char *fmt, ...)
{
    va_list args;
    if (*w->graph->reason)
        return;
    va_start(args, fmt);
    vsnprintf(w->graph->reason, sizeof(w->graph->reason), fmt, args);
    va_end(args);
}

/* --- the diagonal ----------------------------------------------------------------------------- */

static void check_diagonal(struct work *w)
{
    double least =
        fmax(NOISE_TIMES * w->latency->noise_ns, NUIOA_LINK_GRAPH_LEAST * w->latency->local_ns);
    for (uint32_t i = 0; i < w->n; i++)
        for (uint32_t j = 0; j < w->n; j++) {
            double over = nuioa_latency_at(w->latency, i, j);
            if (i != j && over <= 0)
                refuse(w,
                       "the diagonal is not the least of its row: from %u the memory of %u "
                       "is as near as its own (%+.1f ns)",
                       i, j, over);
            else if (i != j && over < least)
                refuse(w,
                       "from %u the memory of %u is only %.1f ns farther than its own: not more "
                       "than noise (%.1f ns)",
                       i, j, over, least);
        }
}

/* Refuses numbers that are not finite or far too large: the code below adds and compares them. */
static bool are_times(struct work *w)
{
    for (uint32_t i = 0; i < w->n; i++)
        for (uint32_t j = 0; j < w->n; j++) {
            double over = nuioa_latency_at(w->latency, i, j);
            if (fabs(over) <= LONGEST_NS)
                continue;
            refuse(w, "from %u to %u: %g is not a latency of memory", i, j, over);
            return false;
        }
    return true;
}

/* --- links ------------------------------------------------------------------------------------ */

/* Sorts the pairs of different groups by their means. Returns their number. */
static size_t sort_pairs(struct work *w)
{
    size_t pairs = 0;
    for (uint32_t i = 0; i < w->n; i++)
        for (uint32_t j = i + 1; j < w->n; j++)
            if (w->group[i] != w->group[j])
                w->sorted[pairs++] = w->mean[at(w, i, j)];
    nuioa_latency_sort(w->sorted, pairs);
    return pairs;
}

/* Returns the mean of the sorted pairs below the cut; NAN if there is none. */
static double mean_below(const struct work *w, size_t pairs, double cut_ns)
{
    double sum = 0;
    size_t below = 0;
    while (below < pairs && w->sorted[below] < cut_ns)
        sum += w->sorted[below++];
    return below ? sum / (double)below : NAN;
}

static void prepare(struct work *w)
{
    for (uint32_t i = 0; i < w->n; i++) {
        w->group[i] = i;
        for (uint32_t j = 0; j < w->n; j++)
            w->mean[at(w, i, j)] =
                (nuioa_latency_at(w->latency, i, j) + nuioa_latency_at(w->latency, j, i)) / 2;
    }
}

/* Computes the mean of the links by iteration: the mean gives the cut, and the pairs below the cut
 * give the mean. A few rounds suffice. */
static void find_link_ns(struct work *w, size_t pairs)
{
    double mean = w->sorted[(w->n - 1) / 2]; /* median of the n-1 smallest */
    for (int round = 0; round < 17 && !isnan(mean); round++) {
        w->link_ns = mean;
        mean = mean_below(w, pairs, CUT * w->link_ns);
    }
}

/* Finds the widest gap around CUT links. If no pair is near, as when all are linked, the cut is at
 * CUT links. */
static void find_cut(struct work *w, size_t pairs)
{
    double low = (CUT - REACH) * w->link_ns, high = (CUT + REACH) * w->link_ns;
    double widest = 0, second = 0, below = low;
    for (size_t p = 0; p <= pairs; p++) {
        double above = p < pairs ? fmin(fmax(w->sorted[p], low), high) : high;
        double gap = above - below;
        if (gap > widest) {
            second = widest;
            widest = gap;
            w->cut_ns = (above + below) / 2;
        } else if (gap > second) {
            second = gap;
        }
        below = above;
    }
    if (widest < GAP * w->link_ns || second > RIVAL * widest)
        refuse(w,
               "no clear gap between one link (%.1f ns) and more: the widest two are %.1f and "
               "%.1f ns",
               w->link_ns, widest, second);
}

static void join(struct work *w, uint32_t a, uint32_t b)
{
    uint32_t from = w->group[b], to = w->group[a];
    for (uint32_t i = 0; i < w->n && from != to; i++)
        if (w->group[i] == from)
            w->group[i] = to;
}

/* Returns true if a path crosses from one to the other at once. */
static bool is_step(const struct work *w, uint32_t i, uint32_t j)
{
    return w->linked[at(w, i, j)] || w->graph->alike_ns[at(w, i, j)] > 0;
}

/* Returns true if the last links have joined a pair: it is in one group now and was not before. */
static bool joined(const struct work *w, uint32_t i, uint32_t j)
{
    return w->group[i] == w->group[j] && w->before[i] != w->before[j];
}

/* Refuses links that differ although their two directions agree. Noise differs between the
 * directions, a longer route does not: the far pairs then have routes over several links, as on a
 * machine where leaving a NUMA node takes 60 ns and each link 10 ns more. */
static void check_alike(struct work *w)
{
    double sum = 0, squares = 0, noise = 0;
    uint32_t pairs = 0, links = 0;
    for (uint32_t i = 0; i < w->n; i++)
        for (uint32_t j = 0; j < i; j++) {
            double mean = w->mean[at(w, i, j)], half = nuioa_latency_at(w->latency, i, j) - mean;
            pairs += joined(w, i, j);
            if (!joined(w, i, j) || !is_step(w, i, j))
                continue;
            sum += mean;
            squares += mean * mean;
            noise += half * half;
            links++;
        }
    if (links < 2)
        return;
    double mean = sum / links, least = (links == pairs ? EQUAL : ALIKE) * mean;
    double spread = (squares - sum * mean) / (links - 1);
    if (spread > CHANCE(links) * noise / links + least * least)
        refuse(w,
               "no clear gap between one link and more: pairs of NUMA nodes that seem one link "
               "apart (%.1f ns) differ by %.1f ns, the same in both directions",
               mean, sqrt(spread));
}

/* --- groups ----------------------------------------------------------------------------------- */

static struct between *find_between(const struct work *w, uint32_t i, uint32_t j)
{
    uint32_t a = w->before[i], b = w->before[j];
    return &w->between[a < b ? at(w, a, b) : at(w, b, a)];
}

static void count(struct between *b, double mean, double cut_ns)
{
    if (mean < cut_ns) {
        b->last_near = fmax(b->last_near, mean);
        b->near_sum += mean;
        b->near++;
    } else {
        b->first_far = b->near < b->pairs ? fmin(b->first_far, mean) : mean;
    }
    b->sum += mean;
    b->pairs++;
}

/* Returns true if the pairs of two groups that have a near one are not of two kinds. What they
 * differ by is noise then. A single pair is not called alike. */
static bool are_alike(const struct between *b, double link_ns)
{
    uint32_t far = b->pairs - b->near;
    if (!b->near || b->pairs < 2)
        return false;
    double more = far ? (b->sum - b->near_sum) / far - b->near_sum / b->near : 0;
    return more < FARTHER * link_ns || b->first_far - b->last_near < APART * link_ns;
}

/* Joins groups that have a pair below the cut. Such pairs are links, if not all are alike. */
static void link_below(struct work *w, double cut_ns)
{
    memcpy(w->before, w->group, w->n * sizeof(*w->before));
    memset(w->between, 0, (size_t)w->n * w->n * sizeof(*w->between));
    for (uint32_t i = 0; i < w->n; i++)
        for (uint32_t j = i + 1; j < w->n; j++)
            if (w->before[i] != w->before[j])
                count(find_between(w, i, j), w->mean[at(w, i, j)], cut_ns);
    for (uint32_t i = 0; i < w->n; i++)
        for (uint32_t j = i + 1; j < w->n; j++) {
            const struct between *b = find_between(w, i, j);
            if (w->before[i] == w->before[j])
                continue;
            if (are_alike(b, w->link_ns)) {
                double *alike_ns = w->graph->alike_ns;
                alike_ns[at(w, i, j)] = alike_ns[at(w, j, i)] = b->sum / b->pairs;
                join(w, i, j);
            } else if (w->mean[at(w, i, j)] < cut_ns) {
                w->linked[at(w, i, j)] = w->linked[at(w, j, i)] = true;
                join(w, i, j);
            }
        }
    check_alike(w);
}

/* Links groups until all nodes are connected. A pair of different groups without a direct link must
 * cross at least one link inside a group more than the nearest pairs: so half a link more than
 * their mean is the cut. */
static void link_groups(struct work *w)
{
    for (size_t pairs; (pairs = sort_pairs(w)) > 0; w->graph->grouped = true) {
        double nearest = w->sorted[0], cut = nearest + w->link_ns / 2;
        for (int round = 0; round < 4; round++)
            cut = mean_below(w, pairs, cut) + w->link_ns / 2;
        if (!(nearest < cut)) {
            refuse(w, "links of %g ns are too short beside the next ones of %g ns", w->link_ns,
                   nearest);
            return;
        }
        link_below(w, cut);
    }
}

static void list_links(struct work *w)
{
    for (uint32_t i = 0; i < w->n; i++)
        for (uint32_t j = i + 1; j < w->n; j++)
            if (w->linked[at(w, i, j)])
                w->graph->links[w->graph->link_count++] = (struct nuioa_link){ i, j };
}

/* --- quantum ---------------------------------------------------------------------------------- */

/* Fits the quantum again to the entries of up to `most` quanta, counted with the present value. */
static double refit(const struct work *w, double quantum_ns, double most)
{
    double above = 0, below = 0;
    for (uint32_t i = 0; i < w->n; i++)
        for (uint32_t j = 0; j < w->n; j++) {
            double over = nuioa_latency_at(w->latency, i, j);
            double k = fmax(1, round(2 * over / quantum_ns) / 2); /* halves of a quantum */
            if (i == j || k > most)
                continue;
            above += k * over;
            below += k * k;
        }
    return below > 0 ? above / below : quantum_ns;
}

/* Fits near entries first: their multiples are certain, and the quantum they give decides those of
 * farther entries. */
static void fit_quantum(struct work *w)
{
    double quantum = w->link_ns;
    for (double most = 1; most <= 2 * w->n && !w->graph->grouped; most *= 2)
        quantum = refit(w, refit(w, quantum, most), most);
    /* If further links cost much less or more than the first one, the mean of the links is used. */
    double off = fabs(quantum - w->link_ns);
    w->graph->quantum_ns = off < 0.2 * w->link_ns ? quantum : w->link_ns;
}

static void check_spread(struct work *w)
{
    double squares = 0;
    uint32_t entries = 0;
    for (uint32_t i = 0; i < w->n; i++)
        for (uint32_t j = 0; j < w->n; j++)
            if (i != j && w->mean[at(w, i, j)] < w->cut_ns) {
                double off = nuioa_latency_at(w->latency, i, j) - w->link_ns;
                squares += off * off;
                entries++;
            }
    /* The least of all pairs is below the cut: there are two entries or more. */
    double spread = sqrt(squares / (entries - 1));
    if (spread > SPREAD * (1 + 1 / sqrt(entries)) * w->link_ns)
        refuse(w, "noise: what one link takes, %.1f ns, differs by %.1f ns from link to link",
               w->link_ns, spread);
}

/* --- paths ------------------------------------------------------------------------------------ */

/* Returns the time of a link: the quantum, which has less noise than the single pair, or the value
 * of the pair if it links two groups. */
static double step_ns(const struct work *w, uint32_t i, uint32_t j)
{
    double mean = w->mean[at(w, i, j)], alike_ns = w->graph->alike_ns[at(w, i, j)];
    return alike_ns > 0 ? alike_ns : mean < w->cut_ns ? w->graph->quantum_ns : mean;
}

static void shortest_paths(struct work *w)
{
    uint32_t *hops = w->graph->hops;
    for (uint32_t i = 0; i < w->n; i++)
        for (uint32_t j = 0; j < w->n; j++) {
            bool step = is_step(w, i, j);
            hops[at(w, i, j)] = i == j ? 0 : step ? 1 : w->n;
            w->path[at(w, i, j)] = i == j ? 0 : step ? step_ns(w, i, j) : INFINITY;
        }
    for (uint32_t k = 0; k < w->n; k++)
        for (uint32_t i = 0; i < w->n; i++)
            for (uint32_t j = 0; j < w->n; j++) {
                uint32_t via = hops[at(w, i, k)] + hops[at(w, k, j)];
                if (via < hops[at(w, i, j)])
                    hops[at(w, i, j)] = via;
                w->path[at(w, i, j)] =
                    fmin(w->path[at(w, i, j)], w->path[at(w, i, k)] + w->path[at(w, k, j)]);
            }
}

/* Refuses a pair that is nearer than the links allow: a link was not found, or the numbers do not
 * come from links at all. */
static void check_paths(struct work *w)
{
    for (uint32_t i = 0; i < w->n && !w->graph->grouped; i++)
        for (uint32_t j = i + 1; j < w->n; j++)
            if (w->mean[at(w, i, j)] < w->path[at(w, i, j)] - SHORTCUT * w->link_ns)
                refuse(w, "contradiction: %u and %u are %.1f ns apart, but %.1f ns over the links",
                       i, j, w->mean[at(w, i, j)], w->path[at(w, i, j)]);
}

static void count_routes(struct work *w)
{
    struct nuioa_link_graph *graph = w->graph;
    for (uint32_t i = 0; i < w->n; i++)
        for (uint32_t j = 0; j < w->n; j++) {
            double quanta = round(nuioa_latency_at(w->latency, i, j) / graph->quantum_ns);
            bool by_time = i != j && !graph->grouped;
            graph->routed[at(w, i, j)] =
                by_time ? (uint32_t)fmin(fmax(1, quanta), UINT16_MAX) : graph->hops[at(w, i, j)];
        }
}

/* --- all of it -------------------------------------------------------------------------------- */

static void infer(struct work *w)
{
    if (!are_times(w))
        return;
    check_diagonal(w);
    prepare(w);
    size_t pairs = sort_pairs(w);
    find_link_ns(w, pairs);
    find_cut(w, pairs);
    if (!(w->link_ns >= DBL_MIN)) { /* of less, the cut cannot be computed */
        refuse(w, "remote memory is not farther than local memory");
        return;
    }
    link_below(w, w->cut_ns);
    memcpy(w->graph->group, w->group, w->n * sizeof(*w->group));
    link_groups(w);
    list_links(w);
    check_spread(w);
    fit_quantum(w);
    shortest_paths(w);
    check_paths(w);
    count_routes(w);
}

int nuioa_link_graph_infer(struct nuioa_link_graph *graph, const struct nuioa_latency *latency,
                           struct nuioa_error *err)
{
    uint32_t n = latency->count;
    size_t cells = (size_t)n * n;
    struct nuioa_arena *arena = &graph->arena;
    *graph = (struct nuioa_link_graph){ .count = n };
    graph->links = nuioa_arena_take(arena, cells, sizeof(*graph->links));
    graph->hops = nuioa_arena_take(arena, cells, sizeof(*graph->hops));
    graph->routed = nuioa_arena_take(arena, cells, sizeof(*graph->routed));
    graph->group = nuioa_arena_take(arena, n, sizeof(*graph->group));
    graph->alike_ns = nuioa_arena_take(arena, cells, sizeof(*graph->alike_ns));
    struct work w = {
        .latency = latency,
        .graph = graph,
        .n = n,
        .mean = nuioa_arena_take(arena, cells, sizeof(*w.mean)),
        .path = nuioa_arena_take(arena, cells, sizeof(*w.path)),
        .linked = nuioa_arena_take(arena, cells, sizeof(*w.linked)),
        .group = nuioa_arena_take(arena, n, sizeof(*w.group)),
        .before = nuioa_arena_take(arena, n, sizeof(*w.before)),
        .sorted = nuioa_arena_take(arena, cells, sizeof(*w.sorted)),
        .between = nuioa_arena_take(arena, cells, sizeof(*w.between)),
    };
    if (arena->failed) {
        nuioa_arena_free(arena);
        return nuioa_fail(err, -ENOMEM, "out of memory for the links of %u NUMA nodes", n);
    }
    if (n > 1)
        infer(&w);
    graph->accepted = !*graph->reason;
    return 0;
}

uint32_t nuioa_link_graph_degree(const struct nuioa_link_graph *graph, uint32_t node)
{
    uint32_t degree = 0;
    for (uint32_t k = 0; k < graph->link_count; k++)
        degree += graph->links[k].a == node || graph->links[k].b == node;
    return degree;
}

void nuioa_link_graph_distances(const struct nuioa_link_graph *graph,
                                const struct nuioa_latency *latency, uint32_t *matrix)
{
    for (uint32_t i = 0; i < graph->count; i++)
        for (uint32_t j = 0; j < graph->count; j++) {
            size_t cell = (size_t)i * graph->count + j;
            double over = graph->routed[cell] * graph->quantum_ns;
            if (graph->alike_ns[cell] > 0)
                over = graph->alike_ns[cell];
            else if (graph->grouped)
                over = (nuioa_latency_at(latency, i, j) + nuioa_latency_at(latency, j, i)) / 2;
            matrix[cell] =
                (uint32_t)(10 + (i == j ? 0 : fmin(10 * over / latency->local_ns, 1e6 - 10)) + 0.5);
        }
}
