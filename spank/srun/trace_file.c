/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/srun/trace_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spank/common/log.h"
#include "spank/common/slurm_compat.h"
#include "spank/common/step.h"

/* A relative path is one in the ranks' directory, which srun --chdir can change. */
static bool is_found_here(const char *file)
{
    return *file == '/' || !(slurm_compat_has_argument("--chdir") ||
                             slurm_compat_has_argument("-D") || getenv("SLURM_WORKING_DIR"));
}

void trace_file_before(struct trace_file *trace, const char *file, spank_t spank)
{
    char here[PATH_MAX] = "";
    if (*trace->path || !*file)
        return;
    if (step_is_launcher(spank)) {
        log_line("trace: not recorded: this step runs a launcher. Start the program by srun "
                 "itself");
        return;
    }
    if (!is_found_here(file) || (*file != '/' && !getcwd(here, sizeof(here))))
        return;
    int n = snprintf(trace->path, sizeof(trace->path), *file == '/' ? "%s%s" : "%s/%s", here, file);
    if (n <= 0 || (size_t)n >= sizeof(trace->path))
        *trace->path = '\0';
    else
        trace->there = !stat(trace->path, &trace->before);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* The recorder makes a new file beside the old one. */
static bool can_be_written(const char *path)
{
    char directory[PATH_MAX];
    snprintf(directory, sizeof(directory), "%.*s", (int)(strrchr(path, '/') - path) + 1, path);
    return !access(directory, W_OK | X_OK);
}

/* The sentence is also right where srun sees another file than the ranks, or sees it late. */
void trace_file_after(const struct trace_file *trace)
{
    struct stat after;
    bool there = *trace->path && !stat(trace->path, &after);
    if (!*trace->path || there != trace->there || (there && !is_same(&trace->before, &after)) ||
        (there && !S_ISREG(after.st_mode)) || !can_be_written(trace->path))
        return;
    log_line("trace: srun sees %.200s as it was before the launch. Unless a line above says more, "
             "the program may not use MPI, be static, replace LD_PRELOAD, crash or call _exit. "
             "Link MPI dynamically, append to LD_PRELOAD, end with MPI_Finalize",
             trace->path);
}
