/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_MPI_KNOWN_H
#define NUIOA_MPI_KNOWN_H

/* Says on stderr which variables in NUIOA_COMPARE_SET, names with commas between them, the MPI
 * library does not have: one line for each, "nuioa: compare: NAME is not in this library, VERSION",
 * and then "nuioa: compare: asked". Only names that begin with MPIR_CVAR_ or OMPI_MCA_ can be asked
 * for, by MPI's tool interface (MPI 4.0, 15.3.6), which MPI allows before MPI_Init. `build` is
 * "openmpi" or "mpich"; `find` returns a function of the MPI library, or NULL. Where the library
 * does not answer, nothing is said. */
void known_say(const char *build, void *(*find)(const char *name));

#endif
