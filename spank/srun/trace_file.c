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
#include "util/subprocess.h"

enum { LOOK_MS = 2000 };

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
    char *typed = slurm_compat_chdir();
    const char *directory = typed ? typed : getenv("SLURM_WORKING_DIR");
    bool found = *file == '/' ||
                 (getcwd(here, sizeof(here)) && (!directory || join(there, here, directory)));
    found = found && join(path, directory ? there : here, file);
    free(typed);
    return found;
}

/* The recorder makes a new file beside the old one. NFS asks the server for a directory that is
 * opened; else srun may see for a minute which files were there before. The child has srun's user,
 * and its end closes the descriptor. */
static void look_in_child(int fd, void *arg)
{
    const char *path = arg;
    char directory[PATH_MAX];
    struct trace_look look = { .there = false };
    snprintf(directory, sizeof(directory), "%.*s", (int)(strrchr(path, '/') - path) + 1, path);
    open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    look.writable = !access(directory, W_OK | X_OK);
    look.there = !stat(path, &look.file);
    nuioa_subprocess_write(fd, &look, sizeof(look));
}

/* Looks at the file, in a child, because a file system whose server is gone may hang. Returns false
 * if it does not answer. */
static bool look(const char *path, struct trace_look *found)
{
    void *bytes = NULL;
    size_t length = 0;
    bool answered = !nuioa_subprocess_run(look_in_child, (void *)path, LOOK_MS, sizeof(*found),
                                          &bytes, &length) &&
                    length == sizeof(*found);
    if (answered)
        memcpy(found, bytes, sizeof(*found));
    free(bytes);
    return answered;
}

void trace_file_before(struct trace_file *trace, const char *file, spank_t spank)
{
    if (*trace->path || !*file)
        return;
    if (step_is_launcher(spank))
        log_line(
            "trace: not recorded: this step runs a launcher. Start the program with srun itself");
    else if (!find_path(trace->path, file) || !look(trace->path, &trace->before))
        *trace->path = '\0';
}

static bool is_same(const struct trace_look *before, const struct trace_look *after)
{
    const struct stat *a = &before->file, *b = &after->file;
    if (!before->there || !after->there)
        return before->there == after->there;
    return S_ISREG(b->st_mode) && a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
           a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* The sentence is also right where srun sees another file than the ranks, or sees it late. */
void trace_file_after(const struct trace_file *trace)
{
    struct trace_look after;
    if (!*trace->path || !look(trace->path, &after) || !after.writable ||
        !is_same(&trace->before, &after))
        return;
    log_line("trace: srun sees %.200s as it was before the launch. Unless a line above says more, "
             "the program may not use MPI, be static, replace LD_PRELOAD, crash or call _exit. "
             "Link MPI dynamically, append to LD_PRELOAD, end with MPI_Finalize",
             trace->path);
}
