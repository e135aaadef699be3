#include <string.h>

#include "mapping/search.h"

void nuioa_refine(const struct nuioa_problem *p, uint32_t *slot_of, struct nuioa_budget *budget)
{
    struct nuioa_graph own;
    struct nuioa_seating seating = {0};
    const struct nuioa_graph *graph = nuioa_graph_of(p, &own);
    if (graph && !nuioa_seating_open(&seating, graph)) {
        nuioa_classes_of(graph, slot_of, seating.at);
        nuioa_seat_all(&seating, seating.at);
        if (!nuioa_swap_classes(&seating, nuioa_cheap_kicks(graph), budget) &&
            !nuioa_descend(&seating, budget))
            nuioa_take_slots(p, graph, seating.at, slot_of);
    }
    nuioa_seating_close(&seating);
    nuioa_graph_free(&own);
}
