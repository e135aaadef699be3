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

/* What the user preloads comes first and stays. */
void preload_enter(const struct context *c, spank_t spank)
{
    char path[PATH_MAX], list[2 * PATH_MAX];
    if (!*c->options.trace || step_is_launcher(spank))
        return;
    if (!find_shim(path, sizeof(path))) {
        if (first_task(spank))
            say("trace: not recorded: %s is not installed", SHIM);
        return;
    }
    const char *theirs = doors_variable(step_environment(spank), "LD_PRELOAD");
    bool some = theirs && *theirs;
    int n = snprintf(list, sizeof(list), "%s%s%s", some ? theirs : "", some ? ":" : "", path);
    if (n < 0 || (size_t)n >= sizeof(list)) {
        if (first_task(spank))
            say("trace: not recorded: LD_PRELOAD is too long");
        return;
    }
    spank_setenv(spank, "LD_PRELOAD", list, 1);
    spank_setenv(spank, "NUIOA_TRACE_FILE", c->options.trace, 1);
}
