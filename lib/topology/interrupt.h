/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_INTERRUPT_H
#define NUIOA_TOPOLOGY_INTERRUPT_H

#include "topology/node.h"

/* Finds the CPUs that handle the interrupts of plain Ethernet NICs: a core that does this computes
 * less. NICs whose traffic bypasses the kernel hardly interrupt a CPU, so they do not count.
 * Interrupts that have never come do not count either.
 *
 * Sets `cpus`, the caller's set of OS indexes, to the CPUs that the kernel has chosen for the
 * interrupts of those Ethernet ports of `node` that are not down. It reads
 * sys/class/net/NAME/device/msi_irqs (else device/irq), proc/irq/N/effective_affinity_list (else
 * smp_affinity_list) and sys/kernel/irq/N/per_cpu_count below `root` ("" for this machine). The
 * daemon irqbalance changes them, so they must be read when they are needed. Returns for how many
 * interrupts a CPU was found (0: nothing is known); or -ENOMEM, and `cpus` is empty. */
int nuioa_interrupt_cpus(const struct nuioa_node *node, const char *root, hwloc_bitmap_t cpus);

#endif
