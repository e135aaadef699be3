/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PROBE_NIC_PROBE_H
#define NUIOA_TOOL_PROBE_NIC_PROBE_H

struct probe;

/* Checks the options of `nuioa probe --nic` as they were typed, and reads their numbers. Returns 0,
 * or TOOL_USAGE after a message. */
int probe_nic_check(struct probe *probe);

/* Runs `nuioa probe --nic`: finds the NICs, has the script probe-nic.py measure, writes the files
 * and prints the answer. Returns the exit status (tool.h), after a message unless it is
 * TOOL_DONE. */
int probe_nic(struct probe *probe);

#endif
