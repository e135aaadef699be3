/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/task/trace_preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spank/common/log.h"
#include "util/variable.h"

#define SHIM "libnuioa-preload.so"

/* Finds the library in the directory that the plugin was built for, or, if the whole installation
 * was moved, relative to the plugin: LIB/slurm/nuioa.so and LIB/nuioa/. No environment variable is
 * used, because the user could set it. malloc'd, caller frees; NULL: it is not there. */
static char *find_shim(void)
{
    static const char built_for[] = NUIOA_PKGLIBDIR "/" SHIM;
    Dl_info info;
    char *path;
    if (!access(built_for, R_OK))
        return strdup(built_for);
    const char *end = dladdr((const void *)&find_shim, &info) && info.dli_fname
                          ? strrchr(info.dli_fname, '/')
                          : NULL;
    if (!end ||
        asprintf(&path, "%.*s/../nuioa/%s", (int)(end - info.dli_fname), info.dli_fname, SHIM) < 0)
        return NULL;
    if (!access(path, R_OK))
        return path;
    free(path);
    return NULL;
}

static bool first_task(spank_t spank)
{
    uint32_t rank = 0;
    return spank_get_item(spank, S_TASK_GLOBAL_ID, &rank) == ESPANK_SUCCESS && rank == 0;
}

/* The first rank alone prints why no trace is recorded, so that the line comes once. */
static void warn_once(spank_t spank, const char *what, const char *why)
{
    if (first_task(spank))
        log_line("%s: %s", what, why);
}

/* Appends the library to the user's LD_PRELOAD. NULL, or a text that says what failed. */
static const char *add_shim(spank_t spank)
{
    const char *theirs = nuioa_variable(step_environment(spank), "LD_PRELOAD");
    char *path = find_shim(), *list = NULL;
    if (!path)
        return SHIM " is not installed";
    bool some = theirs && *theirs;
    if (asprintf(&list, "%s%s%s", some ? theirs : "", some ? ":" : "", path) < 0)
        list = NULL;
    bool done = list && spank_setenv(spank, "LD_PRELOAD", list, 1) == ESPANK_SUCCESS;
    free(path);
    free(list);
    return done ? NULL : "LD_PRELOAD cannot be set";
}

/* Rank 0 writes the profile when the program ends, which may be hours from now: says before it
 * begins that the directory cannot be written. The program may still make the directory. It asks as
 * the user, in rank 0's own process. */
static void warn_of_directory(spank_t spank, const char *file)
{
    const char *slash = strrchr(file, '/');
    char directory[NUIOA_VALUE_MAX + 1], what[NUIOA_VALUE_MAX + 64];
    snprintf(directory, sizeof(directory), "%.*s", slash ? (int)(slash - file) + 1 : 1,
             slash ? file : ".");
    if (!first_task(spank) || !access(directory, W_OK | X_OK))
        return;
    snprintf(what, sizeof(what), "trace: %s: its directory cannot be written", file);
    warn_once(spank, what, strerror(errno));
}

void preload_enter(const struct step_run *c, spank_t spank)
{
    if (!*c->facts->options.trace || step_is_launcher(spank))
        return;
    const char *why = add_shim(spank);
    if (why) {
        warn_once(spank, "trace: not recorded", why);
        return;
    }
    warn_of_directory(spank, c->facts->options.trace);
    spank_setenv(spank, "NUIOA_TRACE_FILE", c->facts->options.trace, 1);
}
