/* SPDX-License-Identifier: BSD-3-Clause */
#include "mapping/refine.h"

#include "mapping/descend.h"
#include "mapping/local_search.h"

void nuioa_refine(const struct nuioa_problem *p, uint32_t *slot_of, struct nuioa_budget *budget)
{
    struct nuioa_graph own;
    struct nuioa_class_assignment assignment = { 0 };
    const struct nuioa_graph *graph = nuioa_graph_of(p, &own);
    if (graph && !nuioa_class_assignment_open(&assignment, graph)) {
        nuioa_classes_of(graph, slot_of, assignment.at);
        nuioa_assign_all(&assignment, assignment.at);
        if (!nuioa_swap_classes(&assignment, nuioa_cheap_kicks(graph), budget) &&
            !nuioa_descend(&assignment, budget))
            nuioa_take_slots(p, graph, assignment.at, slot_of);
    }
    nuioa_class_assignment_close(&assignment);
    nuioa_graph_free(&own);
}
