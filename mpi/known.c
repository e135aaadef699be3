/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/known.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* MPI's functions have the same arguments in all MPI libraries: none of them is a handle. They are
 * called by their PMPI names, so that no tool counts these calls. */
struct interface {
    int (*init_thread)(int required, int *provided);
    int (*get_num)(int *count);
    int (*get_index)(const char *name, int *index);
    int (*version)(char *text, int *length);
};

static bool find_all(struct interface *mpi, void *(*find)(const char *name))
{
    static const char *const names[] = { "PMPI_T_init_thread", "PMPI_T_cvar_get_num",
                                         "PMPI_T_cvar_get_index", "PMPI_Get_library_version" };
    void *found[sizeof(names) / sizeof(*names)];
    _Static_assert(sizeof(found) == sizeof(*mpi), "a function for each name");
    for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (!(found[i] = find(names[i])))
            return false;
    memcpy(mpi, found, sizeof(found));
    return true;
}

/* Returns the library's name of a variable: MPICH's is that of the environment, Open MPI's what
 * follows OMPI_MCA_. NULL: it is no variable of this library. */
static const char *own_name(const char *build, const char *name)
{
    if (!strcmp(build, "mpich"))
        return strncmp(name, "MPIR_CVAR_", strlen("MPIR_CVAR_")) ? NULL : name;
    return strncmp(name, "OMPI_MCA_", strlen("OMPI_MCA_")) ? NULL : name + strlen("OMPI_MCA_");
}

static bool can_be_asked_for(const char *name)
{
    return own_name("mpich", name) || own_name("openmpi", name);
}

static void say(const struct interface *mpi, const char *name)
{
    char version[16384] = ""; /* MPICH needs 8192 at most, Open MPI 256 */
    int length = 0;
    mpi->version(version, &length);
    version[strcspn(version, ",\n")] = '\0';
    for (char *blank = version; (blank = strpbrk(blank, "\t"));)
        *blank = ' ';
    fprintf(stderr, "nuioa: compare: %s is not in this library, %s\n", name, version);
}

/* MPI_T_finalize is not called: MPICH 4.0.2 dies in MPI_Init after it. */
void known_say(const char *build, void *(*find)(const char *name))
{
    const char *list = getenv("NUIOA_COMPARE_SET");
    char *copy = list ? strdup(list) : NULL, *rest = copy, *name;
    struct interface mpi;
    int level, count = 0, index;
    if (copy && find_all(&mpi, find) && !mpi.init_thread(0, &level)) {
        mpi.get_num(&count);
        while (count > 0 && (name = strsep(&rest, ","))) {
            const char *own = own_name(build, name);
            if (can_be_asked_for(name) && (!own || mpi.get_index(own, &index)))
                say(&mpi, name);
        }
        fputs("nuioa: compare: asked\n", stderr);
    }
    free(copy);
}
