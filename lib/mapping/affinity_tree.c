/* SPDX-License-Identifier: BSD-3-Clause */
#include "mapping/affinity_tree.h"

#include <errno.h>
#include <string.h>

#include "mapping/class_assignment.h"
#include "mapping/group.h"
#include "mapping/hierarchy.h"

enum { MOST_TASKS = 1024 }; /* the matrix takes 8 MB then */

/* Tasks, or groups of the step before, are divided into groups of `arity`. */
struct step {
    uint32_t arity;
    uint32_t count;     /* members of all groups, padding included; a multiple of arity */
    uint32_t *group_of; /* [count] */
};

struct tree {
    struct nuioa_arena arena;
    struct nuioa_levels levels;
    struct step *steps;
    uint32_t step_count;
    uint32_t *order; /* [count]: tasks, from the first leaf to the last */
};

/* Returns the smallest prime factor. The slots of a class form no tree, so small groups are grouped
 * again. */
static uint32_t divisor(uint32_t arity)
{
    for (uint32_t d = 2; d * d <= arity; d++)
        if (arity % d == 0)
            return d;
    return arity;
}

/* Divides *count members into groups; *matrix and *count become those of the groups. */
static int group_level(struct tree *t, double **matrix, uint32_t *count, uint32_t arity)
{
    uint32_t padded = (*count + arity - 1) / arity * arity, groups = padded / arity;
    struct step *step = &t->steps[t->step_count++];
    double *wide = *matrix;
    if (padded != *count) {
        wide = nuioa_arena_take(&t->arena, (size_t)padded * padded, sizeof(*wide));
        for (uint32_t i = 0; wide && i < *count; i++)
            memcpy(wide + (size_t)i * padded, *matrix + (size_t)i * *count, *count * sizeof(*wide));
    }
    double *next = nuioa_arena_take(&t->arena, (size_t)groups * groups, sizeof(*next));
    *step = (struct step){ arity, padded, nuioa_arena_take(&t->arena, padded, sizeof(uint32_t)) };
    if (t->arena.failed)
        return -ENOMEM;
    int rc = nuioa_group(wide, padded, arity, step->group_of);
    if (rc)
        return rc;
    nuioa_aggregate(wide, padded, step->group_of, groups, next);
    *matrix = next;
    *count = groups;
    return 0;
}

static double *dense_matrix(const struct nuioa_graph *g, struct nuioa_arena *arena)
{
    double *matrix = nuioa_arena_take(arena, (size_t)g->count * g->count, sizeof(*matrix));
    for (uint32_t i = 0; matrix && i < g->count; i++)
        for (uint32_t e = g->row[i]; e < g->row[i + 1]; e++)
            matrix[(size_t)i * g->count + g->peer[e]] += g->bytes[e];
    return matrix;
}

static int group_all_levels(struct tree *t, const struct nuioa_graph *g)
{
    uint32_t count = g->count;
    double *matrix = dense_matrix(g, &t->arena);
    /* An arity is a product of at most 32 prime factors. */
    t->steps = nuioa_arena_take(&t->arena, (size_t)t->levels.count * 32, sizeof(*t->steps));
    if (t->arena.failed)
        return -ENOMEM;
    for (uint32_t level = t->levels.count; level-- > 0;) {
        bool within_class = level + 1 == t->levels.count;
        for (uint32_t left = t->levels.arity[level]; left > 1 && count > 1;) {
            uint32_t padded = (count + left - 1) / left * left;
            bool whole = !within_class && nuioa_group_listable(padded, left);
            uint32_t arity = whole ? left : divisor(left);
            int rc = group_level(t, &matrix, &count, arity);
            if (rc)
                return rc;
            left /= arity;
        }
    }
    return 0;
}

/* Fills t->order: from the root down, replaces each group by its members. */
static int order_tasks(struct tree *t, const struct nuioa_graph *g)
{
    uint32_t most = g->count;
    for (uint32_t k = 0; k < t->step_count; k++)
        most = t->steps[k].count > most ? t->steps[k].count : most;
    uint32_t *listed = nuioa_arena_take(&t->arena, most, sizeof(*listed));
    uint32_t *next = nuioa_arena_take(&t->arena, most, sizeof(*next));
    uint32_t *start = nuioa_arena_take(&t->arena, (size_t)most + 1, sizeof(*start));
    if (t->arena.failed)
        return -ENOMEM;
    const struct step *top = t->step_count ? &t->steps[t->step_count - 1] : NULL;
    uint32_t count = top ? top->count / top->arity : g->count;
    for (uint32_t q = 0; q < count; q++)
        listed[q] = q;
    for (uint32_t k = t->step_count; k-- > 0;) {
        const struct step *step = &t->steps[k];
        /* There is a step, because k is below their number.
         * NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
        uint32_t groups = step->count / step->arity, written = 0;
        /* Groups keep their order; members are in ascending order within a group. */
        memset(start, 0, ((size_t)groups + 1) * sizeof(*start));
        for (uint32_t q = 0; q < count; q++) {
            if (listed[q] >= groups)
                continue; /* padding of the step above */
            start[listed[q]] = written;
            written += step->arity;
        }
        for (uint32_t x = 0; x < step->count; x++)
            next[start[step->group_of[x]]++] = x;
        memcpy(listed, next, step->count * sizeof(*listed));
        count = step->count;
    }
    uint32_t tasks = 0;
    for (uint32_t q = 0; q < count; q++)
        if (listed[q] < g->count)
            t->order[tasks++] = listed[q];
    return tasks == g->count ? 0 : -EINVAL;
}

/* Gives the tasks, in the order of the leaves, the free slots in the order of the tree, so that
 * tasks of one subtree stay together where they fit. */
static int assign_slots(const struct tree *t, const struct nuioa_problem *p,
                        const struct nuioa_graph *g, uint32_t *slot_of)
{
    struct nuioa_arena scratch = { 0 };
    uint32_t *head = nuioa_arena_take(&scratch, g->class_count, sizeof(*head));
    uint32_t *next = nuioa_arena_take(&scratch, p->slot_count, sizeof(*next));
    int rc = scratch.failed ? -ENOMEM : 0;
    if (!rc)
        nuioa_list_free_slots(p, g, NULL, head, next);
    for (uint32_t q = 0; !rc && q < g->count; q++) {
        uint32_t i = t->order[q], c = UINT32_MAX;
        for (uint32_t k = 0; k < g->class_count && c == UINT32_MAX; k++) {
            uint32_t slot_class = t->levels.order[k];
            if (head[slot_class] != UINT32_MAX && g->classes[slot_class].kind == g->kind[i])
                c = slot_class;
        }
        if (c == UINT32_MAX) {
            rc = -EINVAL;
            break;
        }
        slot_of[g->task[i]] = head[c];
        head[c] = next[head[c]];
    }
    nuioa_arena_free(&scratch);
    return rc;
}

static int map(const struct nuioa_problem *p, uint32_t *slot_of, struct nuioa_budget *budget)
{
    struct nuioa_graph own;
    struct tree tree = { 0 };
    const struct nuioa_graph *g = nuioa_graph_of(p, &own);
    int rc = g ? 0 : -ENOMEM;
    if (!rc && (!g->count || g->count > MOST_TASKS))
        rc = -EINVAL;
    if (!rc)
        rc = nuioa_levels_make(g, &tree.arena, &tree.levels);
    if (!rc) {
        tree.order = nuioa_arena_take(&tree.arena, g->count, sizeof(*tree.order));
        rc = tree.order ? group_all_levels(&tree, g) : -ENOMEM;
    }
    rc = rc ? rc : order_tasks(&tree, g);
    memcpy(slot_of, p->start, p->task_count * sizeof(*slot_of));
    rc = rc ? rc : assign_slots(&tree, p, g, slot_of);
    if (!rc)
        budget->evaluations += (uint64_t)g->count * g->count / 4;
    nuioa_arena_free(&tree.arena);
    nuioa_graph_free(&own);
    return rc;
}

const struct nuioa_mapper nuioa_affinity_tree = { "tree", map };
