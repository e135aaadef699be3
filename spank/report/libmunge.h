/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_REPORT_LIBMUNGE_H
#define SPANK_REPORT_LIBMUNGE_H

#include <munge.h>

#include "util/error.h"

/* The functions of libmunge, as munge(3) describes them. The library is loaded only when MUNGE is
 * needed, because sites whose Slurm authenticates in another way may not have it. */
struct libmunge {
    __typeof__(munge_ctx_create) *ctx_create;
    __typeof__(munge_ctx_destroy) *ctx_destroy;
    __typeof__(munge_ctx_strerror) *ctx_strerror;
    __typeof__(munge_ctx_get) *ctx_get;
    __typeof__(munge_ctx_set) *ctx_set;
    __typeof__(munge_encode) *encode;
    __typeof__(munge_decode) *decode;
    __typeof__(munge_strerror) *strerror;
};

/* Returns the functions of libmunge, which the first call of the process loads by its fixed name;
 * children that are forked after that have them, too. The library is never unloaded, and nothing is
 * to be freed. In slurmstepd the user cannot influence where the dynamic linker finds it: that uses
 * the environment in which the program began, which is slurmd's. Returns NULL with *err, which says
 * what to do, if the library or one of the functions is missing; the next call tries again. Not two
 * threads at once may call it. */
const struct libmunge *libmunge_open(struct nuioa_error *err);

#endif
