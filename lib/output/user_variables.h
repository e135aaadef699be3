/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_OUTPUT_USER_VARIABLES_H
#define NUIOA_OUTPUT_USER_VARIABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* These functions read what a rank's environment says already, and the blocks of
 * output/environment.h that are added to it. `environment` has the form of util/variable.h. */

/* Returns the number of OpenMP threads that the user set (OMP_NUM_THREADS). Of "4,3", for nested
 * parallel regions, the outermost counts. 0: not set, or no such number. */
uint32_t nuioa_omp_threads(char *const *environment);

/* Returns true if the user places threads himself, by one of the variables of OpenMP runtimes. */
bool nuioa_threads_are_placed(char *const *environment);

/* Returns true if another variable of the user makes the variable `name` superfluous or wrong: it
 * is another name of the same variable, or says how many progress threads a rank has. */
bool nuioa_is_set_otherwise(char *const *environment, const char *name);

/* Reads the next setting of a block and advances *block: copies its name to name[size], and returns
 * its value, a part of the block. Returns NULL at the end. Settings without a name that fits are
 * passed over. */
const char *nuioa_block_next(const char **block, char *name, size_t size);

#endif
