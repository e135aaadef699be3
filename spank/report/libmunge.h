/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_REPORT_LIBMUNGE_H
#define SPANK_REPORT_LIBMUNGE_H

#include <munge.h>

#include "util/error.h"

/* The functions of libmunge, as munge(3) describes them. The library is loaded only when MUNGE is
 * needed, because sites whose Slurm authenticates in another way may not have it. */
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

/* Returns the functions of libmunge, which the first call of the process loads by its fixed name;
 * children that are forked after that have them, too. The library is never unloaded, and nothing is
 * to be freed. In slurmstepd the user cannot influence where the dynamic linker finds it: that uses
 * the environment in which the program began, which is slurmd's. Returns NULL with *err, which says
 * what to do, if the library or one of the functions is missing; the next call tries again. Not two
 * threads at once may call it. */
const struct libmunge *libmunge_open(struct nuioa_error *err);

#endif
