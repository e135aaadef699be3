/* SPDX-License-Identifier: BSD-3-Clause */
#include "mapping/group.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/arena.h"

enum {
    MOST_GROUPS = 4096,  /* at most so many are listed */
    MOST_VISITS = 16384, /* groups examined in all starts together */
};

/* A possible group. Its members begin at members[index * arity]. */
struct choice {
    double weight;
    uint32_t index;
};

struct listing {
    const double *matrix;
    uint32_t count, arity;
    double *row_sum;   /* [count] */
    uint32_t *members; /* [choice_count * arity], in lexicographic order */
    struct choice *choices;
    uint32_t choice_count;
    bool *used; /* [count] */
};

static uint32_t combinations(uint32_t count, uint32_t arity)
{
    uint64_t c = 1;
    for (uint32_t k = 0; k < arity; k++) {
        c = c * (count - k) / (k + 1);
        if (c > MOST_GROUPS)
            return MOST_GROUPS + 1;
    }
    return (uint32_t)c;
}

bool nuioa_group_listable(uint32_t count, uint32_t arity)
{
    return arity <= count && combinations(count, arity) <= MOST_GROUPS;
}

double nuioa_group_weight(const double *matrix, uint32_t count, const uint32_t *members,
                          uint32_t arity)
{
    double weight = 0;
    for (uint32_t k = 0; k < arity; k++)
        for (uint32_t j = 0; j < count; j++)
            weight += matrix[(size_t)members[k] * count + j];
    for (uint32_t k = 0; k < arity; k++)
        for (uint32_t l = k + 1; l < arity; l++)
            weight -= matrix[(size_t)members[k] * count + members[l]] +
                      matrix[(size_t)members[l] * count + members[k]];
    return weight;
}

static int lighter(const void *a, const void *b)
{
    const struct choice *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

/* Changes members to the next combination in lexicographic order; returns false after the last. */
static bool next_combination(uint32_t *members, uint32_t arity, uint32_t count)
{
    uint32_t k = arity;
    while (k-- > 0) {
        if (members[k] < count - arity + k) {
            members[k]++;
            while (++k < arity)
                members[k] = members[k - 1] + 1;
            return true;
        }
    }
    return false;
}

static void list_choices(struct listing *l)
{
    uint32_t *first = l->members;
    for (uint32_t k = 0; k < l->arity; k++)
        first[k] = k;
    for (uint32_t c = 0;; c++) {
        uint32_t *members = l->members + (size_t)c * l->arity;
        double weight = 0;
        for (uint32_t k = 0; k < l->arity; k++) {
            weight += l->row_sum[members[k]];
            for (uint32_t m = k + 1; m < l->arity; m++)
                weight -= l->matrix[(size_t)members[k] * l->count + members[m]] +
                          l->matrix[(size_t)members[m] * l->count + members[k]];
        }
        l->choices[c] = (struct choice){ weight, c };
        if (c + 1 == l->choice_count)
            break;
        memcpy(members + l->arity, members, l->arity * sizeof(*members));
        next_combination(members + l->arity, l->arity, l->count);
    }
    qsort(l->choices, l->choice_count, sizeof(*l->choices), lighter);
}

/* Takes a group if none of its members is in another one. */
static bool take(struct listing *l, const struct choice *choice)
{
    const uint32_t *members = l->members + (size_t)choice->index * l->arity;
    for (uint32_t k = 0; k < l->arity; k++)
        if (l->used[members[k]])
            return false;
    for (uint32_t k = 0; k < l->arity; k++)
        l->used[members[k]] = true;
    return true;
}

/* Finds an independent set: the group `start`, then the lightest groups that fit. Fills
 * chosen[count / arity] with their indexes and returns their total weight. */
static double independent_set(struct listing *l, uint32_t start, uint32_t *chosen)
{
    uint32_t groups = l->count / l->arity, found = 0;
    memset(l->used, 0, l->count * sizeof(*l->used));
    take(l, &l->choices[start]);
    chosen[found++] = l->choices[start].index;
    double weight = l->choices[start].weight;
    for (uint32_t c = 0; c < l->choice_count && found < groups; c++)
        if (take(l, &l->choices[c])) {
            chosen[found++] = l->choices[c].index;
            weight += l->choices[c].weight;
        }
    return weight;
}

/* Numbers groups in the order of their lowest members. number[count] is scratch. */
static void number_groups(uint32_t *group_of, uint32_t count, uint32_t *number)
{
    uint32_t next = 0;
    memset(number, 0xff, count * sizeof(*number));
    for (uint32_t i = 0; i < count; i++) {
        if (number[group_of[i]] == UINT32_MAX)
            number[group_of[i]] = next++;
        group_of[i] = number[group_of[i]];
    }
}

static void search_listed(struct listing *l, uint32_t *chosen, uint32_t *best, uint32_t *group_of)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.DivideZero): arity, and so the choices, are at least 1. */
    uint32_t groups = l->count / l->arity, starts = MOST_VISITS / l->choice_count;
    double best_weight = 0;
    list_choices(l);
    if (starts > l->choice_count)
        starts = l->choice_count;
    for (uint32_t start = 0; start < starts || !start; start++) {
        double weight = independent_set(l, start, chosen);
        if (!start || weight < best_weight) {
            best_weight = weight;
            memcpy(best, chosen, groups * sizeof(*best));
        }
    }
    for (uint32_t q = 0; q < groups; q++)
        for (uint32_t k = 0; k < l->arity; k++)
            group_of[l->members[(size_t)best[q] * l->arity + k]] = q;
}

static int group_listed(const double *matrix, uint32_t count, uint32_t arity, uint32_t *group_of)
{
    struct nuioa_arena scratch = { 0 };
    struct listing l = { .matrix = matrix, .count = count, .arity = arity };
    l.choice_count = combinations(count, arity);
    l.row_sum = nuioa_arena_take(&scratch, count, sizeof(*l.row_sum));
    l.members = nuioa_arena_take(&scratch, (size_t)l.choice_count * arity, sizeof(*l.members));
    l.choices = nuioa_arena_take(&scratch, l.choice_count, sizeof(*l.choices));
    l.used = nuioa_arena_take(&scratch, count, sizeof(*l.used));
    uint32_t *chosen = nuioa_arena_take(&scratch, count, sizeof(*chosen));
    uint32_t *best = nuioa_arena_take(&scratch, count, sizeof(*best));
    int rc = scratch.failed ? -ENOMEM : 0;
    if (!rc) {
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < count; j++)
                l.row_sum[i] += matrix[i * count + j];
        search_listed(&l, chosen, best, group_of);
        number_groups(group_of, count, chosen);
    }
    nuioa_arena_free(&scratch);
    return rc;
}

/* --- groups that are too many to list --- */

struct edge {
    double bytes;
    uint32_t a, b;
};

static int heavier(const void *x, const void *y)
{
    const struct edge *p = x, *q = y;
    if (p->bytes != q->bytes)
        return p->bytes > q->bytes ? -1 : 1;
    if (p->a != q->a)
        return p->a < q->a ? -1 : 1;
    return p->b < q->b ? -1 : p->b > q->b;
}

struct growth {
    const double *matrix;
    uint32_t count;
    double *traffic; /* [count]: with the group that grows */
    uint32_t *group_of;
};

static void join_group(struct growth *g, uint32_t i, uint32_t group)
{
    g->group_of[i] = group;
    for (uint32_t j = 0; j < g->count; j++)
        g->traffic[j] += g->matrix[(size_t)i * g->count + j];
}

static void grow_group(struct growth *g, const struct edge *seed, uint32_t group, uint32_t arity)
{
    memset(g->traffic, 0, g->count * sizeof(*g->traffic));
    join_group(g, seed->a, group);
    join_group(g, seed->b, group);
    for (uint32_t k = 2; k < arity; k++) {
        uint32_t best = UINT32_MAX;
        for (uint32_t j = 0; j < g->count; j++)
            if (g->group_of[j] == UINT32_MAX &&
                (best == UINT32_MAX || g->traffic[j] > g->traffic[best]))
                best = j;
        join_group(g, best, group);
    }
}

static int group_grown(const double *matrix, uint32_t count, uint32_t arity, uint32_t *group_of)
{
    struct nuioa_arena scratch = { 0 };
    uint32_t edges = 0, group = 0, filled = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = i + 1; j < count; j++)
            edges += matrix[(size_t)i * count + j] > 0;
    struct edge *edge = nuioa_arena_take(&scratch, edges, sizeof(*edge));
    struct growth g = { matrix, count, nuioa_arena_take(&scratch, count, sizeof(double)),
                        group_of };
    uint32_t *number = nuioa_arena_take(&scratch, count, sizeof(*number));
    if (scratch.failed) {
        nuioa_arena_free(&scratch);
        return -ENOMEM;
    }
    memset(group_of, 0xff, count * sizeof(*group_of));
    edges = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = i + 1; j < count; j++)
            if (matrix[(size_t)i * count + j] > 0)
                edge[edges++] = (struct edge){ matrix[(size_t)i * count + j], i, j };
    qsort(edge, edges, sizeof(*edge), heavier);
    for (uint32_t k = 0; k < edges && arity > 1; k++)
        if (group_of[edge[k].a] == UINT32_MAX && group_of[edge[k].b] == UINT32_MAX)
            grow_group(&g, &edge[k], group++, arity);
    /* The others have no traffic with any that is left. */
    for (uint32_t i = 0; i < count; i++)
        if (group_of[i] == UINT32_MAX)
            group_of[i] = group + filled++ / arity;
    number_groups(group_of, count, number);
    nuioa_arena_free(&scratch);
    return 0;
}

int nuioa_group(const double *matrix, uint32_t count, uint32_t arity, uint32_t *group_of)
{
    return nuioa_group_listable(count, arity) ? group_listed(matrix, count, arity, group_of)
                                              : group_grown(matrix, count, arity, group_of);
}

void nuioa_aggregate(const double *matrix, uint32_t count, const uint32_t *group_of,
                     uint32_t groups, double *aggregate)
{
    memset(aggregate, 0, (size_t)groups * groups * sizeof(*aggregate));
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < count; j++)
            if (group_of[i] != group_of[j])
                aggregate[(size_t)group_of[i] * groups + group_of[j]] +=
                    matrix[(size_t)i * count + j];
}
