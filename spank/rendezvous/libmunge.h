/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_LIBMUNGE_H
#define SPANK_RENDEZVOUS_LIBMUNGE_H

#include <munge.h>

#include "util/error.h"

/* The functions of libmunge that are used, from a library that is opened when MUNGE is needed and
 * not before: sites whose Slurm has an authentication of its own may not have it. */
struct libmunge {
    munge_ctx_t (*ctx_create)(void);
    void (*ctx_destroy)(munge_ctx_t context);
    const char *(*ctx_strerror)(munge_ctx_t context);
    munge_err_t (*ctx_get)(munge_ctx_t context, int option, ...);
    munge_err_t (*ctx_set)(munge_ctx_t context, int option, ...);
    munge_err_t (*encode)(char **credential, munge_ctx_t context, const void *bytes, int length);
    munge_err_t (*decode)(const char *credential, munge_ctx_t context, void **bytes, int *length,
                          uid_t *uid, gid_t *gid);
    const char *(*strerror)(munge_err_t code);
};

/* The linker's own search finds the library, by a fixed name; it stays open. In slurmstepd nothing
 * of that search is the user's: the linker keeps the environment of the program's start, which is
 * slurmd's. 0, or -EIO with *err, which says what to do: the library is missing, or lacks a
 * function. */
int libmunge_open(struct libmunge *munge, struct nuioa_error *err);

#endif
