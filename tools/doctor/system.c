/* SPDX-License-Identifier: BSD-3-Clause */

/* Checks whether the NUMA nodes and their distances are known. */

#include <string.h>

#include "tools/doctor/doctor.h"
#include "tools/doctor/finding.h"
#include "tools/doctor/system.h"

void doctor_check_discovery(struct doctor *d)
{
    if (!d->node_known)
        doctor_report(d, "discovery-failed", "", "%s.", d->node_error.text);
}

void doctor_check_firmware(struct doctor *d)
{
    unsigned packages = d->node.package_count;
    if (packages > 1 && d->node.numa_count == 1)
        doctor_report(d, "numa-hidden", "", "%u processor packages, but one NUMA node.", packages);
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

/* Two NUMA nodes have one distance only. */
void doctor_check_slit(struct doctor *d)
{
    const struct nuioa_distance *distance = &d->node.distance;
    if (is_refused(&d->node))
        doctor_report(d, "slit-refused", "",
                      "The firmware's distance table (SLIT) says that remote memory is nearer than "
                      "local.");
    else if (d->node.numa_count > 2 &&
             (distance->source == NUIOA_DISTANCE_STRUCTURE ||
              (distance->source == NUIOA_DISTANCE_SLIT && is_flat(distance))))
        doctor_report(d, "slit-flat", "",
                      "The firmware's distance table (SLIT) has one value for all pairs of %u NUMA "
                      "nodes, or is missing.",
                      d->node.numa_count);
}
