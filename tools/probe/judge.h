/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PROBE_JUDGE_H
#define NUIOA_TOOL_PROBE_JUDGE_H

struct probe_accept;
struct probe_nics;

/* Prints the pairs that this node has measured, as a table or as JSON (doc/formats.md), and on
 * stderr a line for each that falls short of its share of the port's rate. Returns the exit status
 * (tool.h): TOOL_DONE if none does. */
int probe_judge(const struct probe_accept *accept, const struct probe_nics *nics);

#endif
