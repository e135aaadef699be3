#include "preload.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "doors.h"
#include "say.h"

#define SHIM "libnuioa-preload.so"

/* In the directory that the plugin was built for, or, where all of it was moved, beside the
 * plugin's: LIB/slurm/nuioa.so, LIB/nuioa/. No variable has a say. */
static bool find_shim(char *path, size_t size)
{
    Dl_info info;
    int n = snprintf(path, size, "%s/%s", NUIOA_PKGLIBDIR, SHIM);
    if (n > 0 && (size_t)n < size && !access(path, R_OK))
        return true;
    const char *end = dladdr((const void *)&find_shim, &info) && info.dli_fname
                          ? strrchr(info.dli_fname, '/') : NULL;
    if (!end)
        return false;
    n = snprintf(path, size, "%.*s/../nuioa/%s", (int)(end - info.dli_fname), info.dli_fname, SHIM);
    return n > 0 && (size_t)n < size && !access(path, R_OK);
}

static bool first_task(spank_t spank)
{
    uint32_t rank = 0;
    return spank_get_item(spank, S_TASK_GLOBAL_ID, &rank) == ESPANK_SUCCESS && rank == 0;
}

/* What is wanted and cannot be had is said once for the job. */
static void refuse(spank_t spank, const char *what, const char *why)
{
    if (first_task(spank))
        say("%s: %s", what, why);
}

/* All ranks must have the library or none, for they ask each other: that the leaders of all nodes are
 * known shows that nuioa runs on all of them. Nor would it do anything without advice. */
static bool may_have_coll(const struct context *c, const struct area_task *task, spank_t spank)
{
    if (!c->options.coll || c->options.mode == NUIOA_OFF)
        return false;
    if (task && task->ready && task->job_known)
        return true;
    refuse(spank, "coll: not used", "not all nodes have said who leads them");
    return false;
}

/* What the user preloads comes first and stays. */
void preload_enter(const struct context *c, const struct area_task *task, spank_t spank)
{
    char path[PATH_MAX], list[2 * PATH_MAX];
    if (step_is_launcher(spank))
        return;
    bool coll = may_have_coll(c, task, spank);
    if (!*c->options.trace && !coll)
        return;
    const char *what = *c->options.trace ? "trace: not recorded" : "coll: not used";
    if (!find_shim(path, sizeof(path))) {
        refuse(spank, what, SHIM " is not installed");
        return;
    }
    const char *theirs = doors_variable(step_environment(spank), "LD_PRELOAD");
    bool some = theirs && *theirs;
    int n = snprintf(list, sizeof(list), "%s%s%s", some ? theirs : "", some ? ":" : "", path);
    if (n < 0 || (size_t)n >= sizeof(list)) {
        refuse(spank, what, "LD_PRELOAD is too long");
        return;
    }
    spank_setenv(spank, "LD_PRELOAD", list, 1);
    if (*c->options.trace)
        spank_setenv(spank, "NUIOA_TRACE_FILE", c->options.trace, 1);
    if (coll)
        spank_setenv(spank, "NUIOA_COLL", "on", 0); /* the user's own "off" or "force" stands */
}
