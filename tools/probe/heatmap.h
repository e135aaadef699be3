/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_HEATMAP_H
#define NUIOA_TOOL_HEATMAP_H

/* The picture of what was measured: the script probe-heatmap.py draws it with matplotlib, in the
 * format that the end of the file's name says. Both functions return the exit status (tool.h),
 * after a message unless it is TOOL_DONE. */

/* Checks, before anything is measured, that `path` can be drawn and written. */
int probe_heatmap_check(const char *path);

/* Draws `json`, what `nuioa probe --json` prints, to `path`. An older file stays if that fails. */
int probe_heatmap(const char *json, const char *path);

#endif
