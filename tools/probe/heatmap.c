/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE

#include "tools/probe/heatmap.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/python.h"
#include "tools/tool.h"
#include "util/new_file.h"
#include "util/subprocess.h"

/* Runs the script with standard input and output in place of `in` and `out`. Returns true if it has
 * done what it should; else it has said why not. */
static bool run(const char *option, const char *path, int in, int out)
{
    const char *words[] = { "probe", path, option };
    int status;
    pid_t child = fork();
    if (!child) {
        if (in >= 0 && (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0))
            _exit(tool_fail("%s: %s", path, strerror(errno)));
        _exit(tool_python_exec("probe-heatmap.py", option ? 3 : 2, (char **)words));
    }
    if (child < 0 || waitpid(child, &status, 0) < 0)
        return tool_fail("%s: %s", path, strerror(errno)) == TOOL_DONE;
    return WIFEXITED(status) && WEXITSTATUS(status) == TOOL_DONE;
}

int probe_heatmap_check(const char *path)
{
    struct nuioa_new_file file;
    struct nuioa_error err;
    if (nuioa_new_file_open(&file, path, &err) || nuioa_new_file_close(&file, false, path, &err))
        return tool_fail("%s", err.text);
    return run("--check", path, -1, -1) ? TOOL_DONE : TOOL_UNANSWERED;
}

/* Puts what the descriptor has into its place. */
static int keep(int picture, const char *path)
{
    struct nuioa_new_file file;
    struct nuioa_error err;
    off_t size = lseek(picture, 0, SEEK_END), at = 0;
    if (nuioa_new_file_open(&file, path, &err))
        return tool_fail("%s", err.text);
    while (at < size && sendfile(fileno(file.stream), picture, &at, (size_t)(size - at)) > 0)
        ;
    int error = errno;
    if (at < size)
        tool_fail("%s: %s", path, strerror(error));
    if (nuioa_new_file_close(&file, at == size, path, &err))
        return tool_fail("%s", err.text);
    return at == size ? TOOL_DONE : TOOL_UNANSWERED;
}

int probe_heatmap(const char *json, const char *path)
{
    int rc = TOOL_UNANSWERED;
    int in = memfd_create("json", MFD_CLOEXEC), out = memfd_create("picture", MFD_CLOEXEC);
    if (in < 0 || out < 0 || nuioa_subprocess_write(in, json, strlen(json)) ||
        lseek(in, 0, SEEK_SET))
        rc = tool_fail("%s: %s", path, strerror(errno));
    else if (run(NULL, path, in, out))
        rc = keep(out, path);
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
    return rc;
}
