/* SPDX-License-Identifier: BSD-3-Clause */

/* Checks processors, kernel and firmware. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/doctor/doctor.h"
#include "tools/doctor/finding.h"
#include "tools/doctor/system.h"
#include "util/sysfs.h"

void doctor_check_discovery(struct doctor *d)
{
    if (!d->node_known)
        doctor_report(d, "discovery-failed", "", "%s.", d->node_error.text);
}

/* Without cpufreq the kernel does not scale the clock, as in virtual machines. */
void doctor_check_governor(struct doctor *d)
{
    char text[32], other[32] = "";
    unsigned slow = 0, all = 0;
    for (uint32_t i = 0; i < d->node.pu_count; i++) {
        if (nuioa_sysfs_text(d->top, text, sizeof(text),
                             "sys/devices/system/cpu/cpu%u/cpufreq/scaling_governor",
                             d->node.pus[i].os_index) <= 0)
            continue;
        all++;
        if (!strcmp(text, "performance"))
            continue;
        slow++;
        nuioa_copy(other, sizeof(other), text);
    }
    if (slow)
        doctor_report(d, "governor", "", "The frequency governor of %u of %u CPUs is \"%s\".", slow,
                      all, other);
}

void doctor_check_balancing(struct doctor *d)
{
    long mode = 0;
    if (d->node.numa_count > 1 &&
        !nuioa_sysfs_number(d->top, &mode, "proc/sys/kernel/numa_balancing") && (mode & 1))
        doctor_report(d, "numa-balancing", "", "Automatic NUMA balancing is on.");
}

/* --- what the firmware hides ------------------------------------------------------------------ */

struct shape {
    unsigned l3s, numas; /* that have CPUs */
};

/* Counts different ids, which begin at 0. `of` returns the id of a PU. */
static unsigned distinct(const struct nuioa_node *node, long (*of)(const struct nuioa_pu *pu))
{
    bool *seen = calloc((size_t)node->pu_count + node->numa_count + 1, sizeof(*seen));
    unsigned count = 0;
    for (uint32_t i = 0; seen && i < node->pu_count; i++) {
        long id = of(&node->pus[i]);
        if (id < 0 || (size_t)id > (size_t)node->pu_count + node->numa_count || seen[id])
            continue;
        seen[id] = true;
        count++;
    }
    free(seen);
    return count;
}

static long l3_of(const struct nuioa_pu *pu)
{
    return (long)pu->l3;
}

static long numa_of(const struct nuioa_pu *pu)
{
    return pu->numa;
}

/* Returns true if it is a Xeon that can be split. Old E3 and E5 cannot, or have another name for
 * it. */
static bool may_have_snc(const struct nuioa_node *node)
{
    static const char *const names[] = { "Platinum", "Gold", "Max" };
    if (!strstr(node->model, "Xeon") || node->core_count < 16 * node->package_count)
        return false;
    for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strstr(node->model, names[i]))
            return true;
    return false;
}

void doctor_check_firmware(struct doctor *d)
{
    const struct nuioa_node *node = &d->node;
    unsigned packages = node->package_count;
    unsigned numas = distinct(node, numa_of), l3s = distinct(node, l3_of);
    if (packages > 1 && node->numa_count == 1) {
        doctor_report(d, "numa-hidden", "", "%u processor packages, but one NUMA node.", packages);
        return;
    }
    if (!packages || numas != packages)
        return;
    if ((strstr(node->model, "EPYC") || strstr(node->model, "Hygon")) && l3s >= 2 * packages)
        doctor_report(d, "nps", "", "%s: %u level 3 caches a package, one NUMA node (NPS1).",
                      node->model, l3s / packages);
    else if (may_have_snc(node))
        doctor_report(d, "snc", "", "%s: %u cores a package, one NUMA node.", node->model,
                      node->core_count / packages);
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
