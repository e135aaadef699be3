/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_COMPARE_COMPARE_H
#define NUIOA_TOOL_COMPARE_COMPARE_H

/* nuioa compare: runs a program several times without and with nuioa, and says whether it is
 * faster. Returns the exit status. */
int tool_compare(int argc, char **argv);

#endif
