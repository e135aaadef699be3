/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_DOCTOR_CHECKS_H
#define NUIOA_DOCTOR_CHECKS_H

#include "tools/doctor/doctor.h"

/* All checks, which doctor.c has in a table. doctor.h says what holds for each. */

/* --- slurm.c: the plugin's line in plugstack.conf, and Slurm's settings. They report: */

/* files that cannot be read, and a line that is missing, twice there, wrong or "required" */
void doctor_check_plugin(struct doctor *d);
/* arguments of the plugin that it refuses or that went, a file of hints that cannot be read, and
 * `topology`, with which nothing is bound */
void doctor_check_arguments(struct doctor *d);
/* no task plugin that binds ranks, or, where jobs share nodes, none that confines them */
void doctor_check_task_plugin(struct doctor *d);
/* with default=on, that Slurm binds no ranks by default, on all nodes or on some */
void doctor_check_cpu_bind(struct doctor *d);

/* --- service.c: what the plugin needs. They report: */

/* a plugin that Slurm cannot load */
void doctor_check_loading(struct doctor *d);
/* where Slurm uses MUNGE, a library or a munged that cannot sign and check */
void doctor_check_munge(struct doctor *d);
/* no PMIx plugin, a PMIx that is missing, cannot publish or has errors, and an mpi.conf with which
 * Slurm gives the topology to every rank; sets d->pmix */
void doctor_check_pmix(struct doctor *d);
/* a cache that is missing, out of date or refused (topology/cache.h); NICs of it that are gone */
void doctor_check_cache(struct doctor *d);
/* a distance file of the site that is refused, or does not describe this node */
void doctor_check_distances(struct doctor *d);

/* --- nic_findings.c: where NICs are, what they are connected with, and how far they are from NUMA
 * nodes. They report: */

/* a machine that hwloc could not describe */
void doctor_check_discovery(struct doctor *d);
/* a node without NICs, cards of a fabric that have no port, and a nic= that takes no NIC or has
 * names of which there is none */
void doctor_check_missing(struct doctor *d);
/* NUMA nodes that cut through cores, NICs whose NUMA node is unknown, or told in two ways */
void doctor_check_locality(struct doctor *d);
/* NICs that may be for something else than MPI, in one finding, where it matters */
void doctor_check_roles(struct doctor *d);
/* InfiniBand ports, more than two or beside GPUs, of which nobody says whether they are one
 * network, so that export=auto sets nothing; unless the site's export= has no auto */
void doctor_check_exports(struct doctor *d);
/* ports that are down; of Ethernet only those that somebody has set up, that nic= names, or whose
 * like are of the fabric, unless no port of a compute node is up */
void doctor_check_ports(struct doctor *d);
/* ports with fewer lanes than four, or a lower rate than others of the same model */
void doctor_check_rates(struct doctor *d);
/* a firmware's distance table (SLIT) that is unsound, or, with more than two NUMA nodes, is missing
 * or says the same for all */
void doctor_check_slit(struct doctor *d);
/* rates in the site's file that contradict the distances: a NIC is faster, beyond noise, with a
 * NUMA node that is said to be farther */
void doctor_check_measured(struct doctor *d);

/* --- nic_findings.c: what other files ask about NICs */

/* Returns true if the NIC is a device and not virtual, and of a kind that MPI uses. */
bool doctor_is_port(const struct nuioa_nic *nic);

/* Returns true if MPI libraries have something better than TCP for NICs of that kind. */
bool doctor_is_fast(enum nuioa_nic_kind kind);

/* Returns true if the PCI device is an adapter of InfiniBand or Omni-Path. */
bool doctor_is_fabric_card(const struct doctor *d, const char *pci);

/* Writes the usual name of the NIC, such as "mlx5_0", "mlx5_1:2" or "eth0", to `text`, an array of
 * `size` bytes (48 are enough; a longer text is cut). Returns `text`. */
const char *doctor_nic_name(const struct nuioa_nic *nic, char *text, size_t size);

#endif
