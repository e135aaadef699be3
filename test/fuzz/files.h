/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_FUZZ_FILES_H
#define TEST_FUZZ_FILES_H

#include <stddef.h>
#include <stdint.h>

/* The files of an input, for decoders that open them by fixed paths. The input is a text: a line
 * "== PATH" begins each file. A path has no final newline, and bytes before the first such line are
 * not used.
 *
 * A target that uses these is linked with --wrap for the calls of its decoder: fopen, openat,
 * fstatat, glob and globfree. Between files_open() and files_close() they see these files and no
 * others; before and after they are the real ones, which libFuzzer calls too. What is opened as a
 * directory has one entry, "24". */
void files_open(const uint8_t *data, size_t size);
void files_close(void);

#endif
