/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/bench/library.h"

#include <dlfcn.h>
#include <string.h>

static void find(const char *name, void *function)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    memcpy(function, &found, sizeof(found));
}

/* Returns whether a library overrides the MPI names. If none does, the MPI name and the PMPI name
 * are in the same file. */
static bool overridden(void)
{
    Dl_info ours, theirs;
    void *mpi = dlsym(RTLD_DEFAULT, "MPI_Bcast"), *pmpi = dlsym(RTLD_DEFAULT, "PMPI_Bcast");
    return mpi && pmpi && dladdr(mpi, &ours) && dladdr(pmpi, &theirs) &&
           strcmp(ours.dli_fname, theirs.dli_fname) != 0;
}

void bench_library_find(struct bench_library *l)
{
    const char *(*version)(void);
    find("nuioa_coll_version", &version);
    find("nuioa_coll_algorithms", &l->algorithms);
    find("nuioa_coll_choose", &l->choose);
    l->version = version ? version() : NULL;
    l->overrides = overridden();
}
