/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_UTIL_VARIABLE_H
#define NUIOA_UTIL_VARIABLE_H

#include <stdint.h>

/* Returns the value of the environment variable `name` in `environment`, an array of "NAME=value"
 * that ends with NULL and may itself be NULL. Returns NULL if it is not set. The value belongs to
 * the environment. getenv does the same for the environment of the calling process. */
const char *nuioa_variable(char *const *environment, const char *name);

/* Returns the variable's value if it is a number up to `max` (util/number.h), or `otherwise`. */
uint32_t nuioa_variable_number(char *const *environment, const char *name, uint32_t max,
                               uint32_t otherwise);

#endif
