/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <hwloc/cpukinds.h>

#include "output/report_explain.h"
#include "topology/hwloc_open.h"
#include "topology/pci_path.h"
#include "util/new_file.h"
#include "util/number.h"
#include "util/text.h"

/* Values of the attribute "lstopoStyle", which lstopo reads. */
#define LEADER_STYLE "Background=#1f4e9c;Text=#ffffff"
#define NIC_STYLE "Background=#8fd18f;Text=#000000"
#define GPU_STYLE "Background=#c9b3e6;Text=#000000"

/* Writes a colour from white (no weight) to orange (the heaviest). `share` is from 0 to 1. */
static void weight_style(double share, char *style, size_t size)
{
    unsigned green = (unsigned)(255 - share * 110 + 0.5);
    unsigned blue = (unsigned)(255 - share * 215 + 0.5);
    snprintf(style, size, "Background=#ff%02x%02x;Text=#000000", green, blue);
}

/* Inserts a rank into the drawing. Returns 0; -EINVAL with *err if the topology lacks its CPUs,
 * because the plan is then for another machine; or -ENOMEM. */
static int draw_rank(hwloc_topology_t topology, const struct nuioa_plan *plan, uint32_t local,
                     double most, struct nuioa_error *err)
{
    const struct nuioa_assignment *assignment = &plan->assignments[local];
    bool leads = plan->order_count && plan->order[0] == local;
    char name[80], weight[32] = "", style[64];
    if (most > 0)
        nuioa_print_decimal(assignment->weight, weight, sizeof(weight));
    snprintf(name, sizeof(name), "rank %u%s%s%s%s", assignment->rank, leads ? " leader" : "",
             most > 0 ? " (w=" : "", weight, most > 0 ? ")" : "");
    weight_style(most > 0 ? assignment->weight / most : 0, style, sizeof(style));

    hwloc_obj_t parent = hwloc_get_obj_covering_cpuset(topology, assignment->cpus);
    if (!parent)
        return nuioa_fail(err, -EINVAL, "rank %u has CPUs that the topology lacks",
                          assignment->rank);
    hwloc_obj_t rank = hwloc_topology_insert_misc_object(topology, parent, name);
    char why[64];
    nuioa_report_why(plan, local, why, sizeof(why));
    if (!rank || hwloc_obj_add_info(rank, "lstopoStyle", leads ? LEADER_STYLE : style) ||
        hwloc_obj_add_info(rank, "nuioaWhy", why))
        return -ENOMEM;
    return 0;
}

static bool is_used(const struct nuioa_plan *plan, const struct nuioa_node *node, const char *name)
{
    for (uint32_t i = 0; i < plan->task_count; i++)
        for (uint32_t k = 0; k < plan->assignments[i].nic_count; k++) {
            const struct nuioa_nic *nic = &node->nics[plan->assignments[i].nics[k]];
            if (!strcmp(nic->name, name) || !strcmp(nic->netdev, name))
                return true;
        }
    return false;
}

static bool draw_nics(hwloc_topology_t topology, const struct nuioa_plan *plan,
                      const struct nuioa_node *node)
{
    for (hwloc_obj_t obj = NULL; (obj = hwloc_get_next_osdev(topology, obj));)
        if (obj->name && is_used(plan, node, obj->name) &&
            hwloc_obj_add_info(obj, "lstopoStyle", NIC_STYLE))
            return false;
    return true;
}

/* Writes "GPU 3", and the NICs with the shortest path from it, ": PIX mlx5_0:1 mlx5_1:1", if a path
 * is known. */
static void name_gpu(const struct nuioa_node *node, uint32_t gpu, char *text, size_t size)
{
    struct nuioa_text t = nuioa_text_in(text, size);
    enum nuioa_path best = NUIOA_PATH_UNKNOWN;
    char label[64];
    for (uint32_t n = 0; n < node->nic_count; n++)
        if (!node->nics[n].is_virtual && nuioa_path_shorter(nuioa_path_at(node, gpu, n), best))
            best = nuioa_path_at(node, gpu, n);
    nuioa_text_add(&t, "GPU %u", gpu);
    if (best != NUIOA_PATH_UNKNOWN)
        nuioa_text_add(&t, ": %s", nuioa_path_name(best));
    for (uint32_t n = 0; best != NUIOA_PATH_UNKNOWN && n < node->nic_count; n++)
        if (!node->nics[n].is_virtual && nuioa_path_at(node, gpu, n) == best)
            nuioa_text_add(&t, " %s", nuioa_nic_label(&node->nics[n], label, sizeof(label)));
}

/* Marks the GPUs, and says beside each which NICs are nearest to it. */
static bool draw_gpus(hwloc_topology_t topology, const struct nuioa_node *node)
{
    bool done = true;
    for (uint32_t g = 0; done && g < node->gpu_count; g++) {
        char name[160];
        hwloc_obj_t pci = hwloc_get_pcidev_by_busidstring(topology, node->gpus[g].pci);
        name_gpu(node, g, name, sizeof(name));
        done = !pci || (hwloc_topology_insert_misc_object(topology, pci, name) &&
                        !hwloc_obj_add_info(pci, "lstopoStyle", GPU_STYLE));
    }
    return done;
}

/* Makes lstopo draw all cores. It draws five or more equal children as two and dots, which would
 * hide ranks, unless the CPUs are of several kinds. So every second core gets a kind; lstopo draws
 * the first kind like none. */
static bool draw_all_cores(hwloc_topology_t topology)
{
    hwloc_obj_type_t type =
        hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
    hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
    for (hwloc_obj_t obj = NULL; cpus && (obj = hwloc_get_next_obj_by_type(topology, type, obj));)
        if (obj->logical_index % 2 == 0)
            hwloc_bitmap_or(cpus, cpus, obj->cpuset);
    bool done = cpus && !hwloc_cpukinds_register(topology, cpus, -1, 0, NULL, 0);
    hwloc_bitmap_free(cpus);
    return done;
}

static int write_xml(hwloc_topology_t topology, const char *path, struct nuioa_error *err)
{
    struct nuioa_new_file file;
    char *text = NULL;
    int size = 0;
    if (hwloc_topology_export_xmlbuffer(topology, &text, &size, 0))
        return nuioa_fail(err, -ENOMEM, "out of memory for the drawing");
    int rc = nuioa_new_file_open(&file, path, err);
    if (!rc) {
        fputs(text, file.stream);
        rc = nuioa_new_file_close(&file, true, path, err);
    }
    hwloc_free_xmlbuffer(topology, text);
    return rc;
}

int nuioa_report_xml(const struct nuioa_plan *plan, const struct nuioa_node *node,
                     const struct nuioa_source *source, const char *path, struct nuioa_error *err)
{
    hwloc_topology_t topology;
    const char *directory;
    double most = 0; /* the largest weight of a rank; 0 without hints */
    int rc = nuioa_hwloc_open(&topology, source->topology, true, &directory, err);
    if (rc)
        return rc;
    for (uint32_t i = 0; i < plan->task_count; i++)
        most = fmax(most, plan->assignments[i].weight);
    for (uint32_t i = 0; !rc && i < plan->task_count; i++)
        rc = draw_rank(topology, plan, i, most, err);
    if (!rc &&
        !(draw_nics(topology, plan, node) && draw_gpus(topology, node) && draw_all_cores(topology)))
        rc = -ENOMEM;
    if (rc == -ENOMEM)
        nuioa_fail(err, rc, "out of memory for the drawing");
    if (!rc)
        rc = write_xml(topology, path, err);
    hwloc_topology_destroy(topology);
    return rc;
}
