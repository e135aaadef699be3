/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_OUTPUT_VARIABLE_BLOCK_H
#define NUIOA_OUTPUT_VARIABLE_BLOCK_H

#include <stddef.h>

/* Writes a block of "NAME=value" strings, as output/environment.h describes it. */

/* The limit for one "NAME=value", in bytes with its NUL. */
#define NUIOA_BLOCK_ENTRY_MAX 4096

/* A block that is being written. nuioa_block_begin makes it. */
struct nuioa_block {
    char *text;        /* the caller's */
    size_t size, used; /* bytes; `used` is without the NUL that ends the block */
    int rc;            /* -ENOSPC once an entry did not fit, else 0 */
};

/* Returns an empty block in the caller's text[size]. Without room for its end it has failed. */
struct nuioa_block nuioa_block_begin(char *text, size_t size);

/* Adds one entry. An entry of NUIOA_BLOCK_ENTRY_MAX bytes or more is left out. An entry that does
 * not fit into the block makes the block fail: this one and all later ones are left out. */
__attribute__((format(printf, 2, 3))) void nuioa_block_put(struct nuioa_block *block,
                                                           const char *fmt, ...);

/* Returns the number of bytes used, with the empty string that ends the block; or -ENOSPC if an
 * entry did not fit. */
int nuioa_block_end(const struct nuioa_block *block);

#endif
