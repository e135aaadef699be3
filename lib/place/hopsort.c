#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "place.h"

struct seat {
    uint32_t index; /* of the task, or of the slot */
    uint32_t kind;
    double weight; /* tasks: descending first */
    double cost;   /* of the slot, or of the slot where the task starts */
    uint32_t tie;
};

/* Kind by kind, heavy before light, near before far. Tasks of equal weight go by where they start, so that
 * those already near stay. */
static int by_rank(const void *a, const void *b)
{
    const struct seat *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    if (x->cost != y->cost)
        return x->cost < y->cost ? -1 : 1;
    if (x->tie != y->tie)
        return x->tie < y->tie ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

static uint32_t list_tasks(const struct nuioa_problem *p, struct seat *tasks)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->task_count; i++) {
        uint32_t s = p->start[i];
        if (!p->pinned || !p->pinned[i])
            tasks[count++] =
                (struct seat){i, p->task_kind[i], p->weight[i], p->nic_cost[s], p->tie[s]};
    }
    qsort(tasks, count, sizeof(*tasks), by_rank);
    return count;
}

static uint32_t list_slots(const struct nuioa_problem *p, const bool *taken, struct seat *slots)
{
    uint32_t count = 0;
    for (uint32_t s = 0; s < p->slot_count; s++)
        if (!taken[s])
            slots[count++] = (struct seat){s, p->kind[s], 0, p->nic_cost[s], p->tie[s]};
    qsort(slots, count, sizeof(*slots), by_rank);
    return count;
}

static bool alike(const struct seat *a, const struct seat *b)
{
    return a->kind == b->kind && a->cost == b->cost && a->tie == b->tie;
}

/* Tasks first..first+count-1 were dealt slots that all cost the same: who starts in one of them keeps
 * his own, the others share the rest in order. */
static void settle(const struct nuioa_problem *p, const struct seat *tasks, const struct seat *slots,
                   uint32_t count, bool *taken, uint32_t *slot_of)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t t = tasks[i].index, s = p->start[t];
        struct seat own = {s, p->kind[s], 0, p->nic_cost[s], p->tie[s]};
        bool dealt = false;
        for (uint32_t k = 0; alike(&own, &slots[0]) && k < count && !dealt; k++)
            dealt = slots[k].index == s;
        slot_of[t] = dealt ? s : UINT32_MAX;
        taken[s] |= dealt;
    }
    uint32_t next = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (slot_of[tasks[i].index] != UINT32_MAX)
            continue;
        while (taken[slots[next].index])
            next++;
        slot_of[tasks[i].index] = slots[next].index;
        taken[slots[next].index] = true;
    }
}

/* Deals slots to tasks kind by kind; false if a kind has more tasks than slots. `dealt` receives, for each
 * task in order, its slot. */
static bool deal(const struct seat *tasks, uint32_t task_count, const struct seat *slots,
                 uint32_t slot_count, struct seat *dealt)
{
    uint32_t s = 0;
    for (uint32_t t = 0; t < task_count; t++) {
        while (s < slot_count && slots[s].kind < tasks[t].kind)
            s++;
        if (s == slot_count || slots[s].kind != tasks[t].kind)
            return false;
        dealt[t] = slots[s++];
    }
    return true;
}

static int hopsort(const struct nuioa_problem *p, uint32_t *slot_of, struct nuioa_budget *budget)
{
    bool *taken = calloc(p->slot_count, sizeof(*taken));
    struct seat *tasks = malloc(p->task_count * sizeof(*tasks));
    struct seat *slots = malloc(p->slot_count * sizeof(*slots));
    struct seat *dealt = malloc(p->task_count * sizeof(*dealt));
    int rc = -ENOMEM;
    if (!taken || !tasks || !slots || !dealt)
        goto out;

    for (uint32_t i = 0; i < p->task_count; i++)
        if (p->pinned && p->pinned[i]) {
            slot_of[i] = p->start[i];
            taken[p->start[i]] = true;
        }
    uint32_t task_count = list_tasks(p, tasks);
    uint32_t slot_count = list_slots(p, taken, slots);
    rc = -EINVAL;
    if (!deal(tasks, task_count, slots, slot_count, dealt))
        goto out;
    for (uint32_t first = 0, end; first < task_count; first = end) {
        for (end = first + 1; end < task_count && alike(&dealt[first], &dealt[end]); end++)
            ;
        settle(p, tasks + first, dealt + first, end - first, taken, slot_of);
    }
    budget->evaluations += task_count;
    rc = 0;
out:
    free(taken);
    free(tasks);
    free(slots);
    free(dealt);
    return rc;
}

const struct nuioa_mapper nuioa_hopsort = {"hopsort", hopsort};
