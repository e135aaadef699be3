/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_UTIL_DESCRIPTORS_H
#define NUIOA_UTIL_DESCRIPTORS_H

/* Closes all descriptors above stderr but these two; -1: none. A child may call it after fork,
 * because it is async-signal-safe. Linux before 5.9 has no close_range(2): there descriptors of
 * 65536 and above stay open. */
void nuioa_close_all_but(int one, int other);

/* Writes the text to a descriptor that other processes share, so that it cannot be set to
 * O_NONBLOCK, such as stderr of slurmstepd. The rest is left out if nobody reads for half a second,
 * if there is no reader (after SIGPIPE, which the caller may ignore), or after an error. */
void nuioa_write_text(int fd, const char *text);

#endif
