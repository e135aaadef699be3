/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_UTIL_DESCRIPTORS_H
#define NUIOA_UTIL_DESCRIPTORS_H

#include <stddef.h>

/* Closes all descriptors above stderr but these two; -1: none. A child may call it after fork,
 * because it is async-signal-safe. Linux before 5.9 has no close_range(2): there descriptors of
 * 65536 and above stay open. */
void nuioa_close_all_but(int one, int other);

/* Writes the text to a descriptor that other processes share, so that it cannot be set to
 * O_NONBLOCK, such as stderr of slurmstepd. The rest is left out if nobody reads for half a second,
 * if there is no reader (after SIGPIPE, which the caller may ignore), or after an error. */
void nuioa_write_text(int fd, const char *text);

/* Reads up to `max` bytes into `bytes`, with as many calls as it takes. Returns their number, which
 * is less at the end of the file and after an error; errno is 0 unless there was one. */
size_t nuioa_read_all(int fd, void *bytes, size_t max);

#endif
