/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_OUTPUT_EXPORTED_H
#define NUIOA_OUTPUT_EXPORTED_H

#include <stdbool.h>
#include <stddef.h>

#include "option/option_environment.h"

/* The variables by which nuioa has chosen the NICs of other libraries for a rank, and placed its
 * threads. NUIOA_EXPORTED names them, for people: NAME,NAME. A step, or `nuioa exec`, that inherits
 * them from a rank of another step takes them back first: there they would look like the user's,
 * and be wrong. NUIOA_VARIABLE_EXPORTED has the values, NAME=VALUE and blanks, so that what the
 * user has changed meanwhile is left alone. */

/* The two values while variables are set. All zeros: none yet. */
struct nuioa_exported {
    char names[2048], values[8192];
};

/* Notes one that is about to be set. Returns false if there is no room, and then it must not be
 * set; or if the value has a blank. */
bool nuioa_exported_add(struct nuioa_exported *exported, const char *name, const char *value);

/* Writes the names that an environment (util/variable.h) shall lose to `names`, an array of `size`
 * bytes, with blanks: those whose values are still nuioa's, and the two above if they are there.
 * What does not fit is left out, and so is what nuioa has not written: values longer than those
 * above, and all after the first 32. Returns `names`. */
char *nuioa_exported_outer(char *const *environment, char *names, size_t size);

/* Unsets them in the environment of this process. */
void nuioa_exported_forget(void);

#endif
