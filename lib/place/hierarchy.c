#include "hierarchy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- halves: average linkage --- */

struct joining {
    uint32_t count;    /* class_count */
    double *mean;      /* [count * count]: between the clusters that live in these rows */
    double *seats;     /* [count]; 0: the row is free */
    uint32_t *node;    /* [count]: of the cluster in this row */
    uint32_t *nearest; /* [count]: the best partner among higher rows */
};

static bool nearer(const struct joining *j, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    double x = j->mean[(size_t)a * j->count + b], y = j->mean[(size_t)c * j->count + d];
    double same = 1e-9 * (x + y);
    if (x < y - same || x > y + same)
        return x < y;
    /* Among equals the small ones, so that a flat machine becomes a balanced tree. */
    return j->seats[a] + j->seats[b] < j->seats[c] + j->seats[d];
}

static void find_nearest(struct joining *j, uint32_t a)
{
    j->nearest[a] = UINT32_MAX;
    for (uint32_t b = a + 1; b < j->count; b++)
        if (j->seats[b] > 0 && (j->nearest[a] == UINT32_MAX || nearer(j, a, b, a, j->nearest[a])))
            j->nearest[a] = b;
}

/* Row b goes into row a. */
static void join(struct joining *j, uint32_t a, uint32_t b)
{
    double wa = j->seats[a] / (j->seats[a] + j->seats[b]), wb = 1 - wa;
    for (uint32_t c = 0; c < j->count; c++) {
        double mean = wa * j->mean[(size_t)a * j->count + c] + wb * j->mean[(size_t)b * j->count + c];
        j->mean[(size_t)a * j->count + c] = j->mean[(size_t)c * j->count + a] = mean;
    }
    j->seats[a] += j->seats[b];
    j->seats[b] = 0;
    /* Joining may lengthen the way to a, and shorten none that was not looked at. */
    for (uint32_t c = 0; c <= a; c++)
        if (j->seats[c] > 0)
            find_nearest(j, c);
    for (uint32_t c = a + 1; c < b; c++)
        if (j->seats[c] > 0 && j->nearest[c] == b)
            find_nearest(j, c);
}

static void join_all(struct joining *j, struct nuioa_halves *h)
{
    for (uint32_t a = 0; a < j->count; a++)
        find_nearest(j, a);
    for (uint32_t node = j->count; node < 2 * j->count - 1; node++) {
        uint32_t best = UINT32_MAX;
        for (uint32_t a = 0; a < j->count; a++)
            if (j->seats[a] > 0 && j->nearest[a] != UINT32_MAX &&
                (best == UINT32_MAX || nearer(j, a, j->nearest[a], best, j->nearest[best])))
                best = a;
        uint32_t partner = j->nearest[best];
        h->left[node] = j->node[best];
        h->right[node] = j->node[partner];
        join(j, best, partner);
        j->node[best] = node;
    }
}

/* Children have lower numbers than their parents: one walk down the numbers places everybody. */
static void number_halves(struct nuioa_halves *h, uint32_t classes)
{
    uint32_t nodes = 2 * classes - 1;
    for (uint32_t x = 0; x < nodes; x++) /* last[] holds the number of classes for now */
        h->last[x] = x < classes ? 1 : h->last[h->left[x]] + h->last[h->right[x]];
    h->first[nodes - 1] = 0;
    for (uint32_t x = nodes; x-- > classes;) {
        h->first[h->left[x]] = h->first[x];
        h->first[h->right[x]] = h->first[x] + h->last[h->left[x]];
    }
    for (uint32_t x = 0; x < nodes; x++)
        h->last[x] += h->first[x];
    for (uint32_t c = 0; c < classes; c++)
        h->order[h->first[c]] = c;
}

int nuioa_halves_make(const struct nuioa_graph *g, struct nuioa_arena *arena,
                      struct nuioa_halves *h)
{
    uint32_t n = g->class_count, nodes = 2 * n - 1;
    struct nuioa_arena scratch = {0};
    struct joining j = {n, nuioa_arena_take(&scratch, (size_t)n * n, sizeof(double)),
                        nuioa_arena_take(&scratch, n, sizeof(double)),
                        nuioa_arena_take(&scratch, n, sizeof(uint32_t)),
                        nuioa_arena_take(&scratch, n, sizeof(uint32_t))};
    h->left = nuioa_arena_take(arena, nodes, sizeof(uint32_t));
    h->right = nuioa_arena_take(arena, nodes, sizeof(uint32_t));
    h->first = nuioa_arena_take(arena, nodes, sizeof(uint32_t));
    h->last = nuioa_arena_take(arena, nodes, sizeof(uint32_t));
    h->order = nuioa_arena_take(arena, n, sizeof(uint32_t));
    int rc = scratch.failed || arena->failed ? -ENOMEM : 0;
    if (!rc) {
        memcpy(j.mean, g->distance, (size_t)n * n * sizeof(double));
        for (uint32_t c = 0; c < n; c++) {
            j.seats[c] = g->classes[c].seats;
            j.node[c] = h->left[c] = h->right[c] = c;
        }
        join_all(&j, h);
        number_halves(h, n);
    }
    nuioa_arena_free(&scratch);
    return rc;
}

/* --- levels: equal costs --- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Labels each class with the lowest class of its component when distances up to `reach` connect; returns the
 * number of components. */
static uint32_t components(const struct nuioa_graph *g, double reach, uint32_t *label,
                           uint32_t *queue)
{
    uint32_t n = g->class_count, count = 0;
    for (uint32_t c = 0; c < n; c++)
        label[c] = UINT32_MAX;
    for (uint32_t c = 0; c < n; c++) {
        if (label[c] != UINT32_MAX)
            continue;
        uint32_t head = 0, tail = 0;
        queue[tail++] = c;
        label[c] = c;
        count++;
        while (head < tail) {
            uint32_t x = queue[head++];
            for (uint32_t y = 0; y < n; y++)
                if (label[y] == UINT32_MAX && nuioa_distances(g, x)[y] <= reach) {
                    label[y] = c;
                    queue[tail++] = y;
                }
        }
    }
    return count;
}

/* The most members, in components `inner`, of any component in `outer`. */
static uint32_t widest(const uint32_t *outer, const uint32_t *inner, uint32_t n, uint32_t *seen)
{
    uint32_t most = 0;
    memset(seen, 0, n * sizeof(*seen));
    for (uint32_t c = 0; c < n; c++)
        if (inner[c] == c && ++seen[outer[c]] > most)
            most = seen[outer[c]];
    return most;
}

/* Distinct distances between different classes, ascending. */
static uint32_t distinct(const struct nuioa_graph *g, double *reach)
{
    uint32_t n = g->class_count, count = 0, kept = 0;
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = a + 1; b < n; b++)
            reach[count++] = nuioa_distances(g, a)[b];
    qsort(reach, count, sizeof(*reach), by_value);
    for (uint32_t k = 0; k < count; k++)
        if (!kept || reach[k] > reach[kept - 1] * (1 + 1e-9))
            reach[kept++] = reach[k];
    return kept;
}

/* Stable: sorts `order` by label, so that earlier (deeper) sorts survive within a component. */
static void gather(uint32_t *order, const uint32_t *label, uint32_t n, uint32_t *copy)
{
    uint32_t next = 0;
    memcpy(copy, order, n * sizeof(*order));
    for (uint32_t c = 0; c < n; c++) {
        if (label[c] != c)
            continue;
        for (uint32_t k = 0; k < n; k++)
            if (label[copy[k]] == c)
                order[next++] = copy[k];
    }
}

int nuioa_levels_make(const struct nuioa_graph *g, struct nuioa_arena *arena,
                      struct nuioa_levels *levels)
{
    uint32_t n = g->class_count;
    struct nuioa_arena scratch = {0};
    double *reach = nuioa_arena_take(&scratch, (size_t)n * n, sizeof(*reach));
    uint32_t *inner = nuioa_arena_take(&scratch, n, sizeof(*inner));
    uint32_t *outer = nuioa_arena_take(&scratch, n, sizeof(*outer));
    uint32_t *queue = nuioa_arena_take(&scratch, n, sizeof(*queue));
    levels->arity = nuioa_arena_take(arena, (size_t)n + 1, sizeof(*levels->arity));
    levels->order = nuioa_arena_take(arena, n, sizeof(*levels->order));
    if (scratch.failed || arena->failed) {
        nuioa_arena_free(&scratch);
        return -ENOMEM;
    }
    levels->count = 0;
    uint32_t seats = 1;
    for (uint32_t c = 0; c < n; c++) {
        inner[c] = levels->order[c] = c;
        seats = g->classes[c].seats > seats ? g->classes[c].seats : seats;
    }
    levels->arity[levels->count++] = seats;
    uint32_t reaches = distinct(g, reach), before = n;
    for (uint32_t k = 0; k < reaches && before > 1; k++) {
        uint32_t now = components(g, reach[k], outer, queue);
        if (now == before)
            continue;
        levels->arity[levels->count++] = widest(outer, inner, n, queue);
        gather(levels->order, outer, n, queue);
        memcpy(inner, outer, n * sizeof(*inner));
        before = now;
    }
    for (uint32_t k = 0; k < levels->count / 2; k++) {
        uint32_t arity = levels->arity[k];
        levels->arity[k] = levels->arity[levels->count - 1 - k];
        levels->arity[levels->count - 1 - k] = arity;
    }
    nuioa_arena_free(&scratch);
    return 0;
}
