/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_UTIL_NUMBER_H
#define NUIOA_UTIL_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/* These functions read and write numbers as the C locale has them, whatever locale srun or an
 * application has set. The whole text must be the number: blanks, a sign or further characters are
 * errors. Those that read return 0, or -EINVAL and leave *value as it is. */

/* Read a whole number from 0 to `max`, in decimal digits, and store it in *value. */
int nuioa_parse_u32(const char *text, uint32_t max, uint32_t *value);
int nuioa_parse_u64(const char *text, uint64_t max, uint64_t *value);

/* Reads a number such as "12.5", "10" or "1e6", and stores it in *value, which is never negative.
 * Hexadecimal numbers, "inf" and "nan" are errors, and so is a number too large for a double. */
int nuioa_parse_decimal(const char *text, double *value);

/* Writes the number to `text`, an array of `size` bytes (32 are always enough; what does not fit is
 * cut), with at most 15 significant digits and no needless zeros: "12.5", "10". nuioa_parse_decimal
 * can read it if it is finite and not negative. Returns `text`. */
const char *nuioa_print_decimal(double value, char *text, size_t size);

#endif
