/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_DISCOVER_H
#define NUIOA_TOPOLOGY_DISCOVER_H

#include <hwloc.h>

#include "topology/node.h"
#include "util/sysfs.h"

/* Private: the steps of nuioa_node_load, each on a loaded topology. 0 or negative with *err. */

/* node->distance, from the site's file (may be NULL), the firmware's table or the structure. */
int nuioa_discover_distance(struct nuioa_node *node, hwloc_topology_t topology, const char *site,
                            struct nuioa_error *err);

/* node->nics but for `level`, `usable` and `why`. `native`: hwloc looked at the devices itself, so
 * that HWLOC_PCI_LOCALITY took effect. */
int nuioa_discover_nics(struct nuioa_node *node, hwloc_topology_t topology,
                        const struct nuioa_sysfs *sysfs, bool native, struct nuioa_error *err);

/* node->gpus */
int nuioa_discover_gpus(struct nuioa_node *node, hwloc_topology_t topology,
                        struct nuioa_error *err);

/* A device's NUMA nodes and CPUs: those of the closest object that is no device. 1: known; 0: that
 * tells nothing (the whole machine, where it has several NUMA nodes), both are empty; -ENOMEM. Both
 * are the caller's to free, in each case. */
int nuioa_discover_locality(const struct nuioa_node *node, hwloc_topology_t topology,
                            hwloc_obj_t device, hwloc_bitmap_t *numas, hwloc_bitmap_t *cpus);

/* "0000:41:00.0" */
void nuioa_discover_pci_name(hwloc_obj_t pci, char *text, size_t size);

/* Opens what a nuioa_source names as its topology; NULL: this machine. `drawing`: objects will be
 * added to it. *directory is `path` where that is a dump, else NULL. Caller:
 * hwloc_topology_destroy, unless negative. */
int nuioa_discover_open(hwloc_topology_t *topology, const char *path, bool drawing,
                        const char **directory, struct nuioa_error *err);

#endif
