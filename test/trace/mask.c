/* SPDX-License-Identifier: BSD-3-Clause */

/* A program with a umask of 027, whose umask() says so if a library of nuioa calls it: the umask is
 * that of all threads of the program, so that even to read it in this way is to change it. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

mode_t umask(mode_t mask)
{
    Dl_info caller;
    if (dladdr(__builtin_return_address(0), &caller) && strstr(caller.dli_fname, "libnuioa"))
        printf("%s calls umask(%03o)\n", caller.dli_fname, (unsigned)mask);
    return (mode_t)syscall(SYS_umask, mask);
}

int main(int argc, char **argv)
{
    umask(027);
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return 0;
}
