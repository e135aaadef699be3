/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_TOPO_LOAD_H
#define NUIOA_TOOL_TOPO_LOAD_H

#include <stdbool.h>

/* Prints what the steps on this node tell of their NICs (steps/step_load.h), as a table or as
 * JSON: `nuioa topo --load`. Users see their own steps, root sees all. `directory` is where the
 * steps tell it; NULL: NUIOA_STEP_LOAD_DIR, and if that does not exist, no step has told anything.
 * Returns the exit status of nuioa. */
int topo_load(const char *directory, bool json);

#endif
