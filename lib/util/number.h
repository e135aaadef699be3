/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_UTIL_NUMBER_H
#define NUIOA_UTIL_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/* Numbers in text, whole string or nothing: no blanks, no sign, no trailing characters. Always as
 * in the C locale, whatever locale srun or an application has set. 0 or -EINVAL (*value
 * untouched). */

/* Decimal digits, at most `max`. */
int nuioa_parse_u32(const char *text, uint32_t max, uint32_t *value);
int nuioa_parse_u64(const char *text, uint64_t max, uint64_t *value);

/* "12.5", "10", "1e6"; finite and >= 0. No hexadecimal, "inf" or "nan". */
int nuioa_parse_decimal(const char *text, double *value);

/* "12.5", "10": the fewest digits that say it to 15 significant ones. nuioa_parse_decimal reads it
 * back. `text` is of the given size (32 always suffices); returns it. */
const char *nuioa_print_decimal(double value, char *text, size_t size);

#endif
