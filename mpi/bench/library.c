/* SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <string.h>

#include "mpi/bench/bench.h"

static void find(const char *name, void *function)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    memcpy(function, &found, sizeof(found));
}

/* MPI and PMPI names are one function, or at least of one file, where nobody is in between. */
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
