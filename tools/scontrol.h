/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_SCONTROL_H
#define NUIOA_TOOL_SCONTROL_H

/* Runs `scontrol show topology`, and sets *text to what it prints, which the caller frees. Returns
 * NULL; or why there is no answer, a constant text, and *text is NULL: scontrol is not there, has
 * failed, or takes more than two seconds. */
const char *scontrol_show_topology(char **text);

#endif
