/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology/node_load.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "topology/gpu_discover.h"
#include "topology/hwloc_open.h"
#include "topology/nic_discover.h"
#include "topology/nic_port.h"
#include "topology/pci_path.h"
#include "util/sysfs.h"

void nuioa_node_refresh(struct nuioa_node *node)
{
    struct nuioa_sysfs sysfs;
    if (node->emulated)
        return;
    nuioa_sysfs_open(&sysfs, "");
    for (uint32_t i = 0; i < node->nic_count; i++)
        if (!nuioa_nic_read_port(&sysfs, &node->nics[i]))
            node->nics[i].state = NUIOA_NIC_DOWN; /* the device is gone */
    nuioa_sysfs_close(&sysfs);
    nuioa_nic_judge(node);
}

/* --- processors and memory -------------------------------------------------------------------- */

static hwloc_obj_t next_of(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_obj_t previous)
{
    return hwloc_get_next_obj_by_type(topology, type, previous);
}

static int32_t package_of(hwloc_topology_t topology, hwloc_obj_t numa)
{
    hwloc_obj_t at = hwloc_get_obj_covering_cpuset(topology, numa->cpuset);
    if (!at) /* it has no CPUs */
        at = numa->parent;
    while (at && at->type != HWLOC_OBJ_PACKAGE)
        at = at->parent;
    return at ? (int32_t)at->os_index : -1;
}

/* Returns true if this NUMA node is memory without CPUs. hwloc gives such memory the CPUs that it
 * is local to, all of which other NUMA nodes have. Of several with the same CPUs one has them: the
 * first one that has memory, which is the ordinary kind in hwloc. */
static bool is_memory_only(const struct nuioa_node *node, uint32_t numa)
{
    const struct nuioa_numa *own = &node->numas[numa];
    hwloc_bitmap_t rest = hwloc_bitmap_dup(own->cpus);
    bool only = false;
    for (uint32_t i = 0; rest && i < node->numa_count; i++) {
        const struct nuioa_numa *other = &node->numas[i];
        if (i == numa || hwloc_bitmap_iszero(other->cpus) ||
            !hwloc_bitmap_isincluded(other->cpus, own->cpus))
            continue;
        if (!hwloc_bitmap_isequal(other->cpus, own->cpus))
            hwloc_bitmap_andnot(rest, rest, other->cpus);
        else if (!own->memory_bytes == !other->memory_bytes ? i < numa : !own->memory_bytes)
            only = true;
    }
    only |= rest && !hwloc_bitmap_iszero(own->cpus) && hwloc_bitmap_iszero(rest);
    hwloc_bitmap_free(rest);
    return only;
}

/* Reads the CPUs of a NUMA node as the kernel says them, into `cpus`. Returns false if it does not
 * know this NUMA node. */
static bool read_cpus(int sysfs_numa, unsigned os_index, hwloc_bitmap_t cpus)
{
    char text[4096]; /* a page, which is the longest */
    return nuioa_sysfs_text(sysfs_numa, text, sizeof(text), "node%u/cpumap", os_index) > 0 &&
           !hwloc_bitmap_sscanf(cpus, text);
}

/* Returns true if the kernel has all NUMA nodes and CPUs of the topology, which may come from a
 * file. */
static bool is_of(hwloc_topology_t topology, int sysfs_numa)
{
    hwloc_bitmap_t cpus = hwloc_bitmap_alloc(), all = hwloc_bitmap_alloc();
    bool same = cpus && all;
    for (hwloc_obj_t obj = NULL; same && (obj = next_of(topology, HWLOC_OBJ_NUMANODE, obj));)
        same = read_cpus(sysfs_numa, obj->os_index, cpus) && !hwloc_bitmap_or(all, all, cpus);
    same = same && hwloc_bitmap_isincluded(hwloc_topology_get_topology_cpuset(topology), all);
    hwloc_bitmap_free(cpus);
    hwloc_bitmap_free(all);
    return same;
}

/* Returns true if some package or core is in part in `cpus`, which is not a part of it. */
static bool cuts(hwloc_topology_t topology, hwloc_const_bitmap_t cpus)
{
    static const hwloc_obj_type_t types[] = { HWLOC_OBJ_PACKAGE, HWLOC_OBJ_CORE };
    for (unsigned t = 0; t < 2; t++)
        for (hwloc_obj_t obj = NULL; (obj = next_of(topology, types[t], obj));)
            if (hwloc_bitmap_intersects(obj->cpuset, cpus) &&
                !hwloc_bitmap_isincluded(obj->cpuset, cpus) &&
                !hwloc_bitmap_isincluded(cpus, obj->cpuset))
                return true;
    return false;
}

/* Leaves the NUMA node the CPUs that the kernel says are its own. hwloc says more of those that do
 * not fit into its tree of packages, caches and cores. */
static int keep_own_cpus(struct nuioa_node *node, struct nuioa_numa *numa,
                         hwloc_topology_t topology, int sysfs_numa)
{
    hwloc_bitmap_t own = hwloc_bitmap_alloc();
    int rc = own ? 0 : -ENOMEM;
    if (own && read_cpus(sysfs_numa, numa->os_index, own)) {
        node->cut |= !hwloc_bitmap_isincluded(numa->cpus, own) && cuts(topology, own);
        rc = hwloc_bitmap_and(numa->cpus, numa->cpus, own) ? -ENOMEM : 0;
    }
    hwloc_bitmap_free(own);
    return rc;
}

/* `sysfs_numa` is -1 if the topology is not that of this sysfs. */
static int load_numas(struct nuioa_node *node, hwloc_topology_t topology, int sysfs_numa)
{
    int count = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE), rc = 0;
    const bool known = is_of(topology, sysfs_numa);
    node->numas = calloc((size_t)(count > 0 ? count : 1), sizeof(*node->numas));
    if (!node->numas || count <= 0)
        return node->numas ? -ENODATA : -ENOMEM;
    for (hwloc_obj_t obj = NULL; !rc && (obj = next_of(topology, HWLOC_OBJ_NUMANODE, obj));) {
        struct nuioa_numa *numa = &node->numas[node->numa_count++];
        numa->os_index = obj->os_index;
        numa->package = package_of(topology, obj);
        numa->memory_bytes = obj->attr->numanode.local_memory;
        numa->cpus = hwloc_bitmap_dup(obj->cpuset);
        rc = numa->cpus ? 0 : -ENOMEM;
        if (!rc && known)
            rc = keep_own_cpus(node, numa, topology, sysfs_numa);
    }
    for (uint32_t i = 0; !rc && i < node->numa_count; i++)
        if (is_memory_only(node, i))
            hwloc_bitmap_zero(node->numas[i].cpus);
    if (node->cut)
        nuioa_warn(
            &node->warnings,
            "NUMA nodes cut through cores or packages: no rank is moved, and the place of NICs is "
            "unknown. Correct them in the hypervisor or the BIOS");
    return rc;
}

/* Returns the local NUMA node of a PU. */
static int32_t numa_of_pu(const struct nuioa_node *node, unsigned os_index)
{
    for (uint32_t i = 0; i < node->numa_count; i++)
        if (hwloc_bitmap_isset(node->numas[i].cpus, os_index))
            return (int32_t)i;
    return -1;
}

/* Returns the object of this type that the PU is in, or `other` if there is none. */
static hwloc_obj_t above(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_obj_t pu,
                         hwloc_obj_t other)
{
    hwloc_obj_t obj = hwloc_get_ancestor_obj_by_type(topology, type, pu);
    return obj ? obj : other;
}

static int load_pus(struct nuioa_node *node, hwloc_topology_t topology)
{
    int count = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    hwloc_obj_t core = NULL, l2 = NULL, l3 = NULL, package = NULL;
    if (count <= 0)
        return -ENODATA;
    node->pus = calloc((size_t)count, sizeof(*node->pus));
    if (!node->pus)
        return -ENOMEM;
    for (hwloc_obj_t obj = NULL; (obj = next_of(topology, HWLOC_OBJ_PU, obj));) {
        /* In logical order the PUs that share an object are neighbours. */
        struct nuioa_pu *pu = &node->pus[node->pu_count];
        hwloc_obj_t before[] = { core, l2, l3, package };
        core = above(topology, HWLOC_OBJ_CORE, obj, obj);
        package = above(topology, HWLOC_OBJ_PACKAGE, obj, hwloc_get_root_obj(topology));
        l2 = above(topology, HWLOC_OBJ_L2CACHE, obj, core);
        l3 = above(topology, HWLOC_OBJ_L3CACHE, obj, package);
        if (node->pu_count++) {
            *pu = pu[-1];
            pu->core += core != before[0];
            pu->l2 += l2 != before[1];
            pu->l3 += l3 != before[2];
            pu->package += package != before[3];
        }
        pu->os_index = obj->os_index;
        pu->numa = numa_of_pu(node, obj->os_index);
    }
    node->core_count = node->pus[node->pu_count - 1].core + 1;
    node->package_count = node->pus[node->pu_count - 1].package + 1;
    return 0;
}

static void load_names(struct nuioa_node *node, hwloc_topology_t topology)
{
    hwloc_obj_t root = hwloc_get_root_obj(topology);
    hwloc_obj_t package = next_of(topology, HWLOC_OBJ_PACKAGE, NULL);
    const char *host = hwloc_obj_get_info_by_name(root, "HostName");
    const char *model = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : NULL;
    if (!model)
        model = hwloc_obj_get_info_by_name(root, "CPUModel");
    nuioa_copy(node->model, sizeof(node->model), model ? model : "");
    if (node->emulated)
        nuioa_copy(node->host, sizeof(node->host), host ? host : "");
    else if (gethostname(node->host, sizeof(node->host)))
        node->host[sizeof(node->host) - 1] = '\0';
}

static int load_allowed(struct nuioa_node *node, hwloc_topology_t topology)
{
    node->allowed_cpus = hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology));
    node->allowed_numas = hwloc_bitmap_dup(hwloc_topology_get_allowed_nodeset(topology));
    return node->allowed_cpus && node->allowed_numas ? 0 : -ENOMEM;
}

/* --- loading ---------------------------------------------------------------------------------- */

static int fill(struct nuioa_node *node, hwloc_topology_t topology,
                const struct nuioa_source *source, const char *directory, struct nuioa_error *err)
{
    const bool native = !source->topology || directory;
    struct nuioa_sysfs sysfs;
    node->emulated = !hwloc_topology_is_thissystem(topology);
    load_names(node, topology);
    nuioa_sysfs_open(&sysfs, directory ? directory : node->emulated ? NULL : "");
    int rc = load_numas(node, topology, native ? sysfs.numa : -1);
    if (!rc)
        rc = load_pus(node, topology);
    if (!rc)
        rc = load_allowed(node, topology);
    if (rc)
        nuioa_fail(err, rc,
                   rc == -ENOMEM ? "out of memory for the description of the node"
                                 : "the topology has no processors or no memory");
    else
        rc = nuioa_discover_nics(node, topology, &sysfs, native, err);
    if (!rc)
        rc = nuioa_discover_gpus(node, topology, &sysfs, err);
    nuioa_sysfs_close(&sysfs);
    if (!rc)
        rc = nuioa_discover_paths(node, topology, err);
    if (!rc)
        rc = nuioa_discover_distance(node, topology, source->distances, err);
    if (!rc)
        nuioa_nic_judge(node);
    return rc;
}

int nuioa_node_load(struct nuioa_node *node, const struct nuioa_source *source,
                    struct nuioa_error *err)
{
    static const struct nuioa_source this_machine;
    const char *directory;
    hwloc_topology_t topology;
    memset(node, 0, sizeof(*node));
    if (!source)
        source = &this_machine;
    int rc = nuioa_hwloc_open(&topology, source->topology, false, &directory, err);
    if (rc)
        return rc;
    rc = fill(node, topology, source, directory, err);
    hwloc_topology_destroy(topology);
    if (rc)
        nuioa_node_free(node);
    return rc;
}
