/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_COLL_DEVICE_H
#define NUIOA_MPI_COLL_DEVICE_H

#include <stdbool.h>

/* A buffer in the memory of a GPU must not be read or written with the CPU. The runtimes that the
 * program has loaded know which memory is a GPU's: CUDA, HIP and Level Zero. They are asked; none
 * of them is ever loaded or initialised by this file, except that HIP initialises itself when it is
 * asked. This file does not use MPI, and one thread at a time may call it. */

/* Looks whether the program has loaded a runtime since the last call. It costs less than 0.2
 * microseconds if no library was loaded since. */
void coll_device_look(void);

/* Returns true if this process may come to use a GPU: coll_device_look has found a runtime
 * that does not say that there is no GPU, or the environment names GPUs (util/gpus.h). */
bool coll_device_is_likely(void);

/* Returns true if `address` is, or may be, in the memory of a GPU or in memory that the CPU and a
 * GPU share (managed memory), and false if it is plain memory of the host, pinned memory included.
 * If a runtime reports an error that does not mean "not mine", the answer is true. Only runtimes
 * that coll_device_look has found are asked; it returns false, at no cost, if there are none. */
bool coll_device_holds(const void *address);

#endif
