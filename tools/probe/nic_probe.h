/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PROBE_NIC_PROBE_H
#define NUIOA_TOOL_PROBE_NIC_PROBE_H

struct probe;

/* Checks the options of `nuioa probe --nic` as they were typed, and reads their numbers. Returns 0,
 * or TOOL_USAGE after a message. */
int probe_nic_check(struct probe *probe);

/* Runs `nuioa probe --nic`: finds the NICs and opens the directories of the files, and becomes the
 * script probe-nic.py, which measures. Returns only if that fails: the exit status (tool.h), after
 * a message. */
int probe_nic(struct probe *probe);

#endif
