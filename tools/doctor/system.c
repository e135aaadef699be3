/* SPDX-License-Identifier: BSD-3-Clause */

/* Checks whether the NUMA nodes and their distances are known. */

#include <stdlib.h>
#include <string.h>

#include "tools/doctor/doctor.h"
#include "tools/doctor/finding.h"
#include "tools/doctor/system.h"

void doctor_check_discovery(struct doctor *d)
{
    if (!d->node_known)
        doctor_report(d, "discovery-failed", "", "%s.", d->node_error.text);
}

static bool is_flat(const struct nuioa_distance *distance)
{
    for (unsigned i = 0; i < distance->count; i++)
        for (unsigned j = 0; j < distance->count; j++)
            if (i != j && nuioa_distance_at(distance, i, j) != nuioa_distance_at(distance, 0, 1))
                return false;
    return true;
}

static bool is_refused(const struct nuioa_node *node)
{
    for (unsigned i = 0; i < node->warnings.count; i++)
        if (strstr(node->warnings.text[i], "(SLIT) is incomplete"))
            return true;
    return false;
}

/* Two NUMA nodes have one distance only, and without a NIC none matters. */
void doctor_check_slit(struct doctor *d)
{
    const struct nuioa_distance *distance = &d->node.distance;
    bool any = false;
    for (uint32_t i = 0; i < d->node.nic_count; i++)
        any = any || d->node.nics[i].usable;
    if (!any)
        return;
    if (is_refused(&d->node))
        doctor_report(d, "slit-refused", "",
                      "The firmware's distance table (SLIT) says that remote memory is nearer than "
                      "local.");
    else if (nuioa_node_numas_with_cpus(&d->node) > 2 &&
             (distance->source == NUIOA_DISTANCE_STRUCTURE ||
              (distance->source == NUIOA_DISTANCE_SLIT && is_flat(distance))))
        doctor_report(d, "slit-flat", "",
                      "The firmware's distance table (SLIT) has one value for all pairs of %u NUMA "
                      "nodes, or is missing.",
                      d->node.numa_count);
}

/* Returns the NUMA node to which a NIC writes fastest. */
static uint32_t fastest(const struct nuioa_nic *nic, uint32_t count)
{
    uint32_t best = 0;
    for (uint32_t k = 1; k < count; k++)
        if (nic->measured[k].write_mb_s > nic->measured[best].write_mb_s)
            best = k;
    return best;
}

/* Returns the NUMA node that is slowest of those said to be nearer than `best`; `best` if none of
 * them is slower beyond noise. */
static uint32_t slowest_nearer(const struct nuioa_nic *nic, uint32_t count, uint32_t best)
{
    uint32_t worst = best;
    double most = 1;
    for (uint32_t k = 0; k < count; k++) {
        double price = nuioa_measured_price(nic->measured, count, k, NUIOA_POLICY_BANDWIDTH);
        if (nic->level[k] < nic->level[best] && price > most) {
            most = price;
            worst = k;
        }
    }
    return worst;
}

void doctor_check_measured(struct doctor *d)
{
    const struct nuioa_node *node = &d->node;
    char label[48];
    for (uint32_t i = 0; i < node->nic_count; i++) {
        const struct nuioa_nic *nic = &node->nics[i];
        if (!nic->measured || !nic->level)
            continue;
        uint32_t best = fastest(nic, node->numa_count);
        uint32_t worst = slowest_nearer(nic, node->numa_count, best);
        if (worst != best)
            doctor_report(
                d, "nic-contradicted", nuioa_nic_label(nic, label, sizeof(label)),
                "%s is said to be nearer to NUMA node %u than to %u, but writes %.0f MB/s "
                "to the former and %.0f MB/s to the latter.",
                label, node->numas[worst].os_index, node->numas[best].os_index,
                nic->measured[worst].write_mb_s, nic->measured[best].write_mb_s);
    }
}
