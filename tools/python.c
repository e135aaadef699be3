/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/python.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/tool.h"

/* Finds a script beside this program; or where it is installed, also if the whole installation was
 * moved. Returns 0, or -1 if it is nowhere. */
static int find_script(const char *script, char path[PATH_MAX])
{
    static const char *const places[] = { "", "../libexec/nuioa/" };
    char here[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", here, sizeof(here) - 1);
    here[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(here, '/');
    for (size_t i = 0; slash && i < sizeof(places) / sizeof(*places); i++) {
        slash[1] = '\0';
        int size = snprintf(path, PATH_MAX, "%s%s%s", here, places[i], script);
        if (size < PATH_MAX && !access(path, R_OK))
            return 0;
    }
    snprintf(path, PATH_MAX, NUIOA_PKGLIBEXECDIR "/%s", script);
    return access(path, R_OK);
}

int tool_python_exec(const char *script, int argc, char **argv)
{
    char path[PATH_MAX], python[] = "python3", isolated[] = "-I";
    if (find_script(script, path))
        return tool_fail("%s: %s. Reinstall nuioa", path, strerror(errno));
    char **words = calloc((size_t)argc + 4, sizeof(*words));
    if (!words)
        return tool_fail("out of memory");
    words[0] = python;
    words[1] = isolated;
    words[2] = path;
    for (int i = 1; i < argc; i++)
        words[2 + i] = argv[i];
    execvp(words[0], words);
    int error = errno;
    free(words);
    return tool_fail("%s: %s. This command requires it: install Python 3.6 or later", python,
                     strerror(error));
}
