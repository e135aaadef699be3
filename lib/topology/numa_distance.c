/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology/numa_distance.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "topology/distance_site.h"
#include "topology/node.h"

enum { LOCAL = 10, SAME_PACKAGE = 12, SAME_GROUP = 16, OTHER = 21, UNGRADED = 20 };

const char *nuioa_distance_source_name(enum nuioa_distance_source source)
{
    static const char names[][12] = { "none", "site", "slit", "structure" };
    return names[source];
}

/* --- levels ----------------------------------------------------------------------------------- */

static bool has_cpus(const struct nuioa_node *node, unsigned numa)
{
    return !node || !hwloc_bitmap_iszero(node->numas[numa].cpus);
}

static void row_levels(const struct nuioa_distance *d, const struct nuioa_node *node, unsigned row)
{
    const uint32_t *value = &d->matrix[(size_t)row * d->count];
    uint8_t *level = &d->level[(size_t)row * d->count];
    double limit = -1; /* the largest value of the class before */
    memset(level, 1, d->count);
    level[row] = 0;
    for (unsigned class_id = 1; class_id <= UINT8_MAX; class_id++) {
        double smallest = -1;
        for (unsigned j = 0; j < d->count; j++)
            if (j != row && has_cpus(node, j) && value[j] > limit &&
                (smallest < 0 || value[j] < smallest))
                smallest = value[j];
        if (smallest < 0)
            return;
        /* Those that are farther get the level of a later class, if there is one. */
        for (unsigned j = 0; j < d->count; j++)
            if (j != row && value[j] >= smallest)
                level[j] = (uint8_t)class_id;
        limit = smallest * NUIOA_LEVEL_SPREAD;
    }
}

void nuioa_distance_levels(struct nuioa_distance *d, const struct nuioa_node *node)
{
    for (unsigned i = 0; i < d->count; i++)
        row_levels(d, node, i);
}

void nuioa_levels_from(const struct nuioa_distance *d, const struct nuioa_node *node,
                       hwloc_const_bitmap_t numas, uint8_t *level)
{
    bool any = false; /* of them has CPUs */
    memset(level, UINT8_MAX, d->count);
    for (unsigned i = 0; i < d->count; i++)
        any |= has_cpus(node, i) && hwloc_bitmap_isset(numas, node->numas[i].os_index);
    for (unsigned i = 0; i < d->count; i++)
        for (unsigned j = 0; hwloc_bitmap_isset(numas, node->numas[i].os_index) && j < d->count;
             j++)
            if ((j == i || !any || has_cpus(node, i)) && nuioa_level_at(d, i, j) < level[j])
                level[j] = (uint8_t)nuioa_level_at(d, i, j);
}

/* --- structure -------------------------------------------------------------------------------- */

static bool is_below(hwloc_obj_t obj, hwloc_obj_t above)
{
    while (obj && obj != above)
        obj = obj->parent;
    return obj != NULL;
}

static uint32_t grade(hwloc_topology_t topology, unsigned i, unsigned j)
{
    hwloc_obj_t a = hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, i);
    hwloc_obj_t b = hwloc_get_obj_by_type(topology, HWLOC_OBJ_NUMANODE, j);
    if (i == j)
        return LOCAL;
    /* -Wanalyzer-null-dereference: the topology has as many NUMA nodes. */
    if (!hwloc_bitmap_iszero(a->cpuset) && hwloc_bitmap_isequal(a->cpuset, b->cpuset))
        return SAME_PACKAGE; /* two kinds of memory of the same cores */
    hwloc_obj_t common = a->parent;
    while (!is_below(b, common))
        common = common->parent;
    if (common->type == HWLOC_OBJ_PACKAGE ||
        hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, common))
        return SAME_PACKAGE;
    return common->parent ? SAME_GROUP : OTHER;
}

static bool one_value(const uint32_t *matrix, unsigned count)
{
    for (size_t i = 0; i < (size_t)count * count; i++)
        if (i % (count + 1) && matrix[i] != matrix[1])
            return false;
    return true;
}

/* Returns true if by the structure of the topology some pairs are nearer than others. */
static bool is_graded(hwloc_topology_t topology, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        for (unsigned j = 0; j < count; j++)
            if (i != j && grade(topology, i, j) != grade(topology, 0, 1))
                return true;
    return false;
}

/* --- firmware --------------------------------------------------------------------------------- */

/* Fills `matrix` in the order of the logical indexes. Returns false if the table is incomplete or
 * cannot be true. */
static bool fill_from_table(const struct hwloc_distances_s *table, uint32_t *matrix, unsigned count)
{
    if (table->nbobjs != count)
        return false;
    for (unsigned i = 0; i < count; i++)
        for (unsigned j = 0; j < count; j++) {
            uint64_t value = table->values[(size_t)i * count + j];
            if (!table->objs[i] || !table->objs[j] || value > UINT32_MAX)
                return false;
            matrix[(size_t)table->objs[i]->logical_index * count + table->objs[j]->logical_index] =
                (uint32_t)value;
        }
    for (size_t i = 0; i < (size_t)count * count; i++)
        if (!matrix[i] || matrix[i] < matrix[i / count * (count + 1)])
            return false;
    return true;
}

/* The table has no name in XML files of hwloc 1. */
static bool is_slit(hwloc_topology_t topology, struct hwloc_distances_s *table)
{
    const char *name = hwloc_distances_get_name(topology, table);
    return (table->kind & HWLOC_DISTANCES_KIND_MEANS_LATENCY) &&
           (!name || !*name || !strcmp(name, "NUMALatency"));
}

static bool from_firmware(struct nuioa_node *node, hwloc_topology_t topology, uint32_t *matrix)
{
    struct hwloc_distances_s *tables[16];
    unsigned found = 16;
    bool sound = false, present = false;
    if (hwloc_distances_get_by_type(topology, HWLOC_OBJ_NUMANODE, &found, tables, 0, 0))
        return false;
    for (unsigned i = 0; i < found && i < 16; i++) {
        if (!sound && is_slit(topology, tables[i])) {
            present = true;
            sound = fill_from_table(tables[i], matrix, node->numa_count);
        }
        hwloc_distances_release(topology, tables[i]);
    }
    if (present && !sound)
        nuioa_warn(&node->warnings, "the firmware's distance table (SLIT) is incomplete or says "
                                    "that remote memory is nearer than local: not used");
    return sound;
}

/* --- choice ----------------------------------------------------------------------------------- */

/* A file without a section for this node is in order: the site has measured other nodes only. */
static bool from_site(struct nuioa_node *node, const char *site, uint32_t *matrix)
{
    struct nuioa_error err, refusal;
    if (!site)
        return false;
    int rc = nuioa_distance_read_site(site, node, matrix, node->nics, &err);
    if (!rc)
        return true;
    for (uint32_t i = 0; i < node->nic_count; i++) {
        free(node->nics[i].measured);
        node->nics[i].measured = NULL;
    }
    nuioa_fail(&refusal, rc, "distances not used: %s", err.text);
    if (rc == -ENOENT && !access(site, F_OK))
        nuioa_warn(&node->warnings, "%s", refusal.text);
    else
        nuioa_node_refuse(node, refusal.text);
    return false;
}

static enum nuioa_distance_source choose(struct nuioa_node *node, hwloc_topology_t topology,
                                         const char *site, uint32_t *matrix)
{
    unsigned count = node->numa_count;
    if (from_site(node, site, matrix))
        return NUIOA_DISTANCE_SITE;
    if (count == 1) {
        matrix[0] = LOCAL;
        return NUIOA_DISTANCE_NONE;
    }
    const bool graded = is_graded(topology, count);
    if (from_firmware(node, topology, matrix)) {
        bool flat = nuioa_node_numas_with_cpus(node) > 2 && one_value(matrix, count);
        if (flat && !graded)
            nuioa_warn(&node->warnings,
                       "the firmware's distance table (SLIT) is flat: distances are unknown "
                       "beyond same/other; `nuioa probe` measures them");
        if (!flat || !graded)
            return NUIOA_DISTANCE_SLIT;
    }
    for (unsigned i = 0; i < count; i++)
        for (unsigned j = 0; j < count; j++)
            matrix[(size_t)i * count + j] =
                graded || i == j ? grade(topology, i, j) : (uint32_t)UNGRADED;
    return NUIOA_DISTANCE_STRUCTURE;
}

int nuioa_discover_distance(struct nuioa_node *node, hwloc_topology_t topology, const char *site,
                            struct nuioa_error *err)
{
    struct nuioa_distance *d = &node->distance;
    size_t cells = (size_t)node->numa_count * node->numa_count;
    d->count = node->numa_count;
    d->matrix = calloc(cells, sizeof(*d->matrix));
    d->level = calloc(cells, sizeof(*d->level));
    if (!d->matrix || !d->level)
        return nuioa_fail(err, -ENOMEM, "out of memory for distances of %u NUMA nodes", d->count);
    d->source = choose(node, topology, site, d->matrix);
    nuioa_distance_levels(d, node);
    for (uint32_t n = 0; n < node->nic_count; n++) {
        struct nuioa_nic *nic = &node->nics[n];
        if (hwloc_bitmap_iszero(nic->numas))
            continue;
        nic->level = malloc(node->numa_count);
        if (!nic->level)
            return nuioa_fail(err, -ENOMEM, "out of memory for the levels of the NICs");
        nuioa_levels_from(d, node, nic->numas, nic->level);
    }
    return 0;
}
