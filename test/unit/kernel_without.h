/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TEST_KERNEL_WITHOUT_H
#define NUIOA_TEST_KERNEL_WITHOUT_H

/* From here on the calling process, and its children, have a kernel without this system call: it
 * fails with ENOSYS. No process gets rid of that. Returns 0, or -1 if the kernel has no filters of
 * system calls. */
int kernel_without(unsigned number);

#endif
