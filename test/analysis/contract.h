/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TEST_ANALYSIS_CONTRACT_H
#define NUIOA_TEST_ANALYSIS_CONTRACT_H

/* The analysers look at one file at a time. They read this before each file: what functions that
 * are defined elsewhere promise. */

#include <errno.h>
#include <stdio.h>

#include "util/error.h"

/* A call that the program never comes back from: what would lead here does not happen. */
_Noreturn void contract_never(void);

/* Code that asks for errno does so after a call has failed. */
static inline int *contract_errno(void)
{
    int *location = __errno_location();
    if (*location <= 0)
        contract_never();
    return location;
}
#undef errno
#define errno (*contract_errno())

/* nuioa_fail returns its code, and a code is negative. */
static inline int contract_negative(int code)
{
    if (code >= 0)
        contract_never();
    return code;
}
#define nuioa_fail(err, code, ...) ((nuioa_fail)(err, code, __VA_ARGS__), contract_negative(code))

/* getdelim has allocated the text unless it fails. */
static inline ssize_t contract_getdelim(char **text, size_t *size, int end, FILE *file)
{
    ssize_t length = getdelim(text, size, end, file);
    if (length >= 0 && !*text)
        contract_never();
    return length;
}
#define getdelim contract_getdelim

#endif
