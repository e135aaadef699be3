/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* The simulation gives libnuioa-coll the facts of a machine that it needs: library.c takes the
 * place of mpi/coll/memory.c and of libnuioa-client. NUIOA_SIM_LEADERS: "near", or "rank0", as
 * MPI libraries elect without advice. */

/* Called by all ranks, which are in blocks of `per_node`, before the first collective. */
void library_start(int per_node);
