/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/srun/trace_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spank/common/log.h"
#include "spank/common/slurm_compat.h"
#include "spank/common/step.h"

/* Joins a path with the directory that it is relative to, if it is. Returns false if there is no
 * room. */
static bool join(char path[PATH_MAX], const char *directory, const char *file)
{
    int n = snprintf(path, PATH_MAX, "%s%s%s", *file == '/' ? "" : directory,
                     *file == '/' ? "" : "/", file);
    return n > 0 && n < PATH_MAX;
}

/* Makes the path absolute: the ranks' directory is srun's, unless srun --chdir says another one. */
static bool find_path(char path[PATH_MAX], const char *file)
{
    char here[PATH_MAX], there[PATH_MAX];
    char *typed = slurm_compat_value("chdir", 'D');
    const char *directory = typed ? typed : getenv("SLURM_WORKING_DIR");
    bool found = *file == '/' ||
                 (getcwd(here, sizeof(here)) && (!directory || join(there, here, directory)));
    found = found && join(path, directory ? there : here, file);
    free(typed);
    return found;
}

void trace_file_before(struct trace_file *trace, const char *file, spank_t spank)
{
    if (*trace->path || !*file)
        return;
    if (step_is_launcher(spank))
        log_line("trace: not recorded: this step runs a launcher. Start the program by srun "
                 "itself");
    else if (find_path(trace->path, file))
        trace->there = !stat(trace->path, &trace->before);
    else
        *trace->path = '\0';
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* The recorder makes a new file beside the old one. NFS asks the server for a directory that is
 * opened; else srun may see for a minute which files were there before. */
static bool can_be_written(const char *path)
{
    char directory[PATH_MAX];
    snprintf(directory, sizeof(directory), "%.*s", (int)(strrchr(path, '/') - path) + 1, path);
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    return !access(directory, W_OK | X_OK);
}

/* The sentence is also right where srun sees another file than the ranks, or sees it late. */
void trace_file_after(const struct trace_file *trace)
{
    struct stat after;
    if (!*trace->path || !can_be_written(trace->path))
        return;
    bool there = !stat(trace->path, &after);
    if (there != trace->there || (there && !is_same(&trace->before, &after)) ||
        (there && !S_ISREG(after.st_mode)))
        return;
    log_line("trace: srun sees %.200s as it was before the launch. Unless a line above says more, "
             "the program may not use MPI, be static, replace LD_PRELOAD, crash or call _exit. "
             "Link MPI dynamically, append to LD_PRELOAD, end with MPI_Finalize",
             trace->path);
}
