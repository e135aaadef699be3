/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PMIX_TIMED_CALL_H
#define NUIOA_PMIX_TIMED_CALL_H

#include <stdatomic.h>

/* This header is private to pmix. It declares a call with a limit of time, for libpmix can hang for
 * ever. It uses no lock that a child of fork() could inherit. */

/* Calls work(data) in a thread of its own, with all signals blocked, and waits until it returns, at
 * most `ms` milliseconds, which begin anew while work() changes *progress. `progress` is NULL or
 * points into *data. Returns 0 if it has returned. An error is -EAGAIN or -ENOMEM, when no thread
 * can be started; or -ETIMEDOUT. After an error `data` is not the caller's any more: drop(data)
 * frees it, at once, or in that thread when work(data) does return. If it never returns, the thread
 * and `data` stay; so link a library that contains this code with -z nodelete. */
int timed_call(void (*work)(void *data), void (*drop)(void *data), void *data,
               const atomic_uint *progress, unsigned ms);

#endif
