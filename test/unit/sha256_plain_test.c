/* SPDX-License-Identifier: BSD-3-Clause */

/* The same vectors where the processor has no instructions for SHA-256. */
#define SHA256_PORTABLE
#include "spank/rendezvous/sha256.c"
#include "sha256_test.c"
