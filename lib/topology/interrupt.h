/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_INTERRUPT_H
#define NUIOA_TOPOLOGY_INTERRUPT_H

#include "topology/node.h"

/* Where the kernel handles what plain Ethernet NICs receive: a core that does this computes
 * less. NICs whose traffic bypasses the kernel hardly interrupt anybody, so they do not count,
 * nor do interrupts that have never come.
 *
 * Sets `cpus` (OS indexes) to the CPUs that the kernel has chosen for the interrupts of the
 * Ethernet ports of `node` that are not down: sys/class/net/NAME/device/msi_irqs,
 * proc/irq/N/effective_affinity_list and sys/kernel/irq/N/per_cpu_count below `root` ("" for
 * this machine). They change as irqbalance pleases, so they are read when they are needed.
 * Returns for how many interrupts a CPU was found: 0 if nothing is known; or -ENOMEM. */
int nuioa_interrupt_cpus(const struct nuioa_node *node, const char *root, hwloc_bitmap_t cpus);

#endif
