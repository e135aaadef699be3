/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* The broadcasts that MPI libraries choose today for messages of 12 KB and more on several nodes,
 * as their sources say: MPICH 5.0.1 (maint/tuning/coll, ch4_coll_impl.h,
 * posix_coll_release_gather.h) and Open MPI 5.0.10 (coll/han, coll/libnbc, coll/tuned). Their
 * copies through shared memory, flags and messages cost what memory.hpp and SMPI charge. */
#include <stddef.h>

#include "published.h"

/* MPICH. how: "alpha" (the root sends to local rank 0 of its node, these to each other, and each
 * copies through shared memory to its node), "beta" (the root's node first), "gamma" (all ranks by
 * scatter and ring, whatever node they are on) or "auto" (its default). */
void today_mpich(const struct published *p, const char *how, char *buffer, size_t bytes, int root);

/* Open MPI's HAN: ranks with the root's local rank send segments to each other by libnbc, and at
 * the same time the one before to their node by tuned. */
void today_han(const struct published *p, size_t segment, char *buffer, size_t bytes, int root);
