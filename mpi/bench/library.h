/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_BENCH_LIBRARY_H
#define NUIOA_MPI_BENCH_LIBRARY_H

#include <stdbool.h>

/* The functions of libnuioa-coll for this program. All pointers are NULL if the library is not
 * loaded, or if libnuioa-preload loads it: then its names are not global. The library owns the
 * strings. */
struct bench_library {
    const char *version; /* such as "1.0.0" */
    bool overrides;      /* MPI_Bcast is not the MPI library's function */
    /* Returns the names of the algorithms of a collective, separated by spaces; NULL if there is no
     * such collective. */
    const char *(*algorithms)(const char *collective);
    /* Sets the algorithm of a collective on this rank; NULL gives the choice back to the table.
     * Returns 0, or -1 if a name is wrong. */
    int (*choose)(const char *collective, const char *algorithm);
};

/* Fills *library with what is found in this process. It cannot fail. */
void bench_library_find(struct bench_library *library);

#endif
