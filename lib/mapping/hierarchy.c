/* SPDX-License-Identifier: BSD-3-Clause */
#include "mapping/hierarchy.h"

#include <errno.h>
#include <string.h>

/* --- binary tree from the leaves up: average linkage --- */

struct joining {
    uint32_t count;    /* class_count */
    double *mean;      /* [count * count]: mean distance between the clusters in two rows */
    double *slots;     /* [count]; 0: the row has no cluster */
    uint32_t *node;    /* [count]: node of the tree for the cluster in this row */
    uint32_t *nearest; /* [count]: the row of the nearest cluster among higher rows */
};

/* Returns true if clusters a and b are nearer to each other than c and d. */
static bool nearer(const struct joining *j, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    double x = j->mean[(size_t)a * j->count + b], y = j->mean[(size_t)c * j->count + d];
    double same = 1e-9 * (x + y);
    if (x < y - same || x > y + same)
        return x < y;
    /* Small clusters go first among equals, so that a flat machine becomes a balanced tree. */
    return j->slots[a] + j->slots[b] < j->slots[c] + j->slots[d];
}

static void find_nearest(struct joining *j, uint32_t a)
{
    j->nearest[a] = UINT32_MAX;
    for (uint32_t b = a + 1; b < j->count; b++)
        if (j->slots[b] > 0 && (j->nearest[a] == UINT32_MAX || nearer(j, a, b, a, j->nearest[a])))
            j->nearest[a] = b;
}

/* Joins the cluster of row b to that of row a. */
static void join(struct joining *j, uint32_t a, uint32_t b)
{
    double wa = j->slots[a] / (j->slots[a] + j->slots[b]), wb = 1 - wa;
    for (uint32_t c = 0; c < j->count; c++) {
        double mean =
            wa * j->mean[(size_t)a * j->count + c] + wb * j->mean[(size_t)b * j->count + c];
        j->mean[(size_t)a * j->count + c] = j->mean[(size_t)c * j->count + a] = mean;
    }
    j->slots[a] += j->slots[b];
    j->slots[b] = 0;
    /* Only rows whose nearest cluster may have changed are searched again. */
    for (uint32_t c = 0; c <= a; c++)
        if (j->slots[c] > 0)
            find_nearest(j, c);
    for (uint32_t c = a + 1; c < b; c++)
        if (j->slots[c] > 0 && j->nearest[c] == b)
            find_nearest(j, c);
}

static void join_all(struct joining *j, struct nuioa_binary_tree *h)
{
    for (uint32_t a = 0; a < j->count; a++)
        find_nearest(j, a);
    for (uint32_t node = j->count; node < 2 * j->count - 1; node++) {
        uint32_t best = UINT32_MAX;
        for (uint32_t a = 0; a < j->count; a++)
            if (j->slots[a] > 0 && j->nearest[a] != UINT32_MAX &&
                (best == UINT32_MAX || nearer(j, a, j->nearest[a], best, j->nearest[best])))
                best = a;
        uint32_t partner = j->nearest[best];
        h->left[node] = j->node[best];
        h->right[node] = j->node[partner];
        join(j, best, partner);
        j->node[best] = node;
    }
}

/* Computes first, last and order. Children have lower numbers than their parents, so one walk from
 * the highest number down is enough. */
static void number_nodes(struct nuioa_binary_tree *h, uint32_t classes)
{
    uint32_t nodes = 2 * classes - 1;
    for (uint32_t x = 0; x < nodes; x++) /* last[] is the number of classes below the node first */
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

static bool take_tree(struct nuioa_arena *arena, uint32_t classes, struct nuioa_binary_tree *h)
{
    uint32_t nodes = 2 * classes - 1;
    h->left = nuioa_arena_take(arena, nodes, sizeof(uint32_t));
    h->right = nuioa_arena_take(arena, nodes, sizeof(uint32_t));
    h->first = nuioa_arena_take(arena, nodes, sizeof(uint32_t));
    h->last = nuioa_arena_take(arena, nodes, sizeof(uint32_t));
    h->order = nuioa_arena_take(arena, classes, sizeof(uint32_t));
    for (uint32_t c = 0; !arena->failed && c < classes; c++)
        h->left[c] = h->right[c] = c;
    return !arena->failed;
}

int nuioa_binary_tree_join(const struct nuioa_graph *g, struct nuioa_arena *arena,
                           struct nuioa_binary_tree *h)
{
    uint32_t n = g->class_count;
    struct nuioa_arena scratch = { 0 };
    struct joining j = { n, nuioa_arena_take(&scratch, (size_t)n * n, sizeof(double)),
                         nuioa_arena_take(&scratch, n, sizeof(double)),
                         nuioa_arena_take(&scratch, n, sizeof(uint32_t)),
                         nuioa_arena_take(&scratch, n, sizeof(uint32_t)) };
    int rc = scratch.failed || !take_tree(arena, n, h) ? -ENOMEM : 0;
    if (!rc) {
        memcpy(j.mean, g->distance, (size_t)n * n * sizeof(double));
        for (uint32_t c = 0; c < n; c++) {
            j.slots[c] = g->classes[c].slots;
            j.node[c] = c;
        }
        join_all(&j, h);
        number_nodes(h, n);
    }
    nuioa_arena_free(&scratch);
    return rc;
}

/* --- binary tree from the root down --- */

struct splitting {
    const struct nuioa_graph *graph;
    uint32_t *member; /* [count] */
    uint32_t count;
    uint8_t *side;  /* [count] */
    double *sum[2]; /* [count]: slots times distance, over all others on that side */
};

static double distance(const struct splitting *s, uint32_t a, uint32_t b)
{
    return nuioa_distances(s->graph, s->member[a])[s->member[b]];
}

static double slots(const struct splitting *s, uint32_t a)
{
    return s->graph->classes[s->member[a]].slots;
}

static void change_side(struct splitting *s, uint32_t a)
{
    for (uint32_t b = 0; b < s->count; b++) {
        double weight = slots(s, a) * distance(s, b, a);
        if (b != a) {
            s->sum[s->side[a]][b] -= weight;
            s->sum[!s->side[a]][b] += weight;
        }
    }
    s->side[a] = !s->side[a];
}

static double change_gain(const struct splitting *s, uint32_t a)
{
    return slots(s, a) * (s->sum[s->side[a]][a] - s->sum[!s->side[a]][a]);
}

/* Divides the members: begins with the first half against the second, then moves or swaps members
 * while that lowers the sum of distances within the sides. */
static void split(struct splitting *s)
{
    double worth = 0;
    for (uint32_t a = 0; a < s->count; a++) {
        s->side[a] = a >= s->count / 2;
        s->sum[0][a] = s->sum[1][a] = 0;
        for (uint32_t b = 0; b < s->count; b++)
            if (b != a)
                s->sum[b >= s->count / 2][a] += slots(s, b) * distance(s, a, b);
        worth += 1e-9 * slots(s, a) * (s->sum[0][a] + s->sum[1][a]);
    }
    for (bool better = true; better && s->count > 2;) {
        better = false;
        for (uint32_t a = 0; a < s->count; a++) {
            if (change_gain(s, a) > worth) {
                change_side(s, a);
                better = true;
            }
            for (uint32_t b = 0; b < a; b++) {
                double apart = 2 * slots(s, a) * slots(s, b) * distance(s, a, b);
                if (s->side[a] == s->side[b] ||
                    change_gain(s, a) + change_gain(s, b) + apart <= worth)
                    continue;
                change_side(s, a);
                change_side(s, b);
                better = true;
            }
        }
    }
}

/* Reorders order[first .. last): side 0 first, each side in its old order. Returns where side 1
 * begins. */
static uint32_t part_order(struct nuioa_binary_tree *h, uint32_t first, uint32_t last,
                           struct splitting *s)
{
    s->count = last - first;
    memcpy(s->member, h->order + first, s->count * sizeof(*s->member));
    split(s);
    uint32_t next = first, middle = first;
    for (uint8_t side = 0; side < 2; side++) {
        for (uint32_t a = 0; a < s->count; a++)
            if (s->side[a] == side)
                h->order[next++] = s->member[a];
        middle = side ? middle : next;
    }
    /* If all distances are 0, one side is empty; then the halves are the sides. */
    return middle == first || middle == last ? first + s->count / 2 : middle;
}

static void split_all(struct nuioa_binary_tree *h, uint32_t classes, struct splitting *s)
{
    uint32_t free_node = 2 * classes - 2;
    h->first[free_node] = 0;
    h->last[free_node] = classes;
    for (uint32_t x = 2 * classes - 1; x-- > classes;) {
        uint32_t middle = part_order(h, h->first[x], h->last[x], s);
        uint32_t from[2] = { h->first[x], middle }, to[2] = { middle, h->last[x] };
        uint32_t child[2];
        for (int side = 0; side < 2; side++) {
            child[side] = to[side] - from[side] == 1 ? h->order[from[side]] : --free_node;
            h->first[child[side]] = from[side];
            h->last[child[side]] = to[side];
        }
        h->left[x] = child[0];
        h->right[x] = child[1];
    }
}

int nuioa_binary_tree_split(const struct nuioa_graph *g, const struct nuioa_binary_tree *joined,
                            struct nuioa_arena *arena, struct nuioa_binary_tree *h)
{
    uint32_t n = g->class_count;
    struct nuioa_arena scratch = { 0 };
    struct splitting s = { g,
                           nuioa_arena_take(&scratch, n, sizeof(uint32_t)),
                           0,
                           nuioa_arena_take(&scratch, n, sizeof(uint8_t)),
                           { nuioa_arena_take(&scratch, n, sizeof(double)),
                             nuioa_arena_take(&scratch, n, sizeof(double)) } };
    int rc = scratch.failed || !take_tree(arena, n, h) ? -ENOMEM : 0;
    if (!rc) {
        memcpy(h->order, joined->order, n * sizeof(*h->order));
        h->first[0] = 0;
        h->last[0] = 1;
        if (n > 1)
            split_all(h, n, &s);
    }
    nuioa_arena_free(&scratch);
    return rc;
}
