/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/probe/gap.h"

#include <math.h>

enum { LEVELS = 8 }; /* farther ones are not looked at */

/* The rates of one level over those beside the NIC. */
struct level {
    double sum;
    uint32_t count;
};

static double mean(const struct level *level)
{
    return level->sum / level->count;
}

/* Returns the rate beside a NIC, the mean; 0 if there is none. */
static double rate_beside(const struct probe_nics *nics, uint32_t nic)
{
    const struct nuioa_node *node = nics->plan.node;
    struct level beside = { 0 };
    for (uint32_t i = 0; i < node->numa_count; i++) {
        const struct probe_cell *cell = probe_cell_at(nics, nic, PROBE_WRITE, i);
        if (cell && node->nics[nic].level && node->nics[nic].level[i] == 0) {
            beside.sum += cell->median;
            beside.count++;
        }
    }
    return beside.count ? mean(&beside) : 0;
}

static void add_nic(const struct probe_nics *nics, uint32_t nic, struct level *levels)
{
    const struct nuioa_node *node = nics->plan.node;
    double beside = rate_beside(nics, nic);
    for (uint32_t i = 0; beside > 0 && i < node->numa_count; i++) {
        const struct probe_cell *cell = probe_cell_at(nics, nic, PROBE_WRITE, i);
        uint8_t level = node->nics[nic].level[i];
        if (cell && level < LEVELS) {
            levels[level].sum += cell->median / beside;
            levels[level].count++;
        }
    }
}

/* Returns the least difference of two levels that is believed. */
static double doubt(const struct probe_nics *nics, const struct level *a, const struct level *b)
{
    return NUIOA_MEASURED_ERRORS * nuioa_measured_error(nics->mad[PROBE_WRITE], nics->plan.rounds) *
           sqrt(1.0 / a->count + 1.0 / b->count);
}

static double more(const struct probe_nics *nics, const struct level *near, const struct level *far)
{
    double difference = mean(near) - mean(far);
    return difference < doubt(nics, near, far) || !(difference > 0) ? 0
                                                                    : mean(near) / mean(far) - 1;
}

double probe_gap(const struct probe_nics *nics, struct probe_cost *cost)
{
    struct level levels[LEVELS] = { 0 };
    double sum = 0;
    uint32_t hops = 0;
    *cost = (struct probe_cost){ 0 };
    for (uint32_t i = 0; i < nics->plan.node->nic_count; i++)
        if (nics->plan.taken[i])
            add_nic(nics, i, levels);
    if (!levels[0].count || !levels[1].count || nics->plan.rounds < 2)
        return 0;
    cost->has_remote = true;
    cost->remote = more(nics, &levels[0], &levels[1]);
    for (uint32_t k = 2; k < LEVELS; k++)
        if (levels[k].count) {
            bool differs = more(nics, &levels[1], &levels[k]) > 0;
            sum +=
                differs ? fmax(0, more(nics, &levels[0], &levels[k]) - cost->remote) / (k - 1) : 0;
            hops++;
        }
    cost->has_hop = hops > 0;
    cost->hop = hops ? sum / hops : 0;
    return doubt(nics, &levels[0], &levels[1]);
}
