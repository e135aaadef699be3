/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PROBE_NIC_PROBE_H
#define NUIOA_TOOL_PROBE_NIC_PROBE_H

#include <stdbool.h>
#include <stddef.h>

struct probe;
struct nuioa_node;
struct nuioa_numa;

/* Checks the options of `nuioa probe --nic` as they were typed, and reads their numbers. Returns 0,
 * or TOOL_USAGE after a message. */
int probe_nic_check(struct probe *probe);

/* Runs `nuioa probe --nic`: finds the NICs, has the script probe-nic.py measure, writes the files
 * and prints the answer. Returns the exit status (tool.h), after a message unless it is
 * TOOL_DONE. */
int probe_nic(struct probe *probe);

/* Returns whether a NUMA node has memory and CPUs that may be used: a benchmark can be bound to
 * it. */
bool probe_nic_is_usable(const struct nuioa_node *node, const struct nuioa_numa *numa);

/* Reads what the script has printed, `length` bytes and a NUL that need not be trusted; writes the
 * files and prints the answer. The medians are in probe->node then. Returns the exit status
 * (tool.h), after a message unless it is TOOL_DONE. */
int probe_nic_tell(struct probe *probe, const char *printed, size_t length);

#endif
