/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_BENCH_LIBRARY_H
#define NUIOA_MPI_BENCH_LIBRARY_H

#include <stdbool.h>

/* The functions of libnuioa-coll for this program. All are NULL if the library is not loaded, or if
 * libnuioa-preload loads it: then its names are not global. */
struct bench_library {
    const char *version;
    bool overrides; /* MPI_Bcast is not the MPI library's function */
    const char *(*algorithms)(const char *collective);
    int (*choose)(const char *collective, const char *algorithm);
};

/* Fills *library. */
void bench_library_find(struct bench_library *library);

#endif
