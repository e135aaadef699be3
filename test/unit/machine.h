/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_MACHINE_H
#define TEST_MACHINE_H

#include "topology/node.h"
#include "topology/pci_path.h"

/* Nodes for unit tests: one that hwloc loads, and others built by hand, so that the placement code
 * is tested without hwloc's loaders. */

/* With cmocka alone: loads test/topologies/NAME.xml, or the file or dump of an absolute path, with
 * the site's file of distances or NULL. An error ends the test, whose end frees the node. */
struct nuioa_node *machine_load(const char *name, const char *distances);

/* An empty node, which is freed when the test has ended. */
struct nuioa_node *machine_new(void);

struct shape {
    unsigned numas, cores, threads; /* cores per NUMA node, hardware threads per core */
    unsigned numas_per_package;
    const uint32_t *matrix; /* numas * numas; NULL: 10 and 20 */
};

void machine_build(struct nuioa_node *node, const struct shape *shape);

/* NUMA nodes of so many cores, with one hardware thread each: packages with distances 10 and 20. */
void machine_plain(struct nuioa_node *node, unsigned numas, unsigned cores);

/* A usable NIC at the NUMA node (index), on a card of its own; returns it for changes. */
struct nuioa_nic *machine_nic(struct nuioa_node *node, const char *name, unsigned numa);

/* A GPU at the NUMA node (index); returns it for changes. machine_path sets the path from a GPU to
 * a NIC, when all GPUs and NICs are there; paths that are not set are unknown. */
struct nuioa_gpu *machine_gpu(struct nuioa_node *node, unsigned numa);
void machine_path(struct nuioa_node *node, unsigned gpu, unsigned nic, enum nuioa_path path);

/* 8 NUMA nodes of 2 cores, distances of the 8-socket Opteron of the master thesis, table 3.1. */
void machine_hagrid(struct nuioa_node *node, unsigned nic_numa);

/* A ring of 4 NUMA nodes of 2 cores with two hardware threads, NICs on 1 and 3. */
void machine_quad(struct nuioa_node *node);

#endif
