/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/probe/heatmap.h"

#include <stdio.h>
#include <stdlib.h>

#include "tools/python.h"
#include "tools/tool.h"
#include "util/new_file.h"

int probe_heatmap_check(const char *path)
{
    struct nuioa_new_file file;
    struct nuioa_error err;
    const char *words[] = { "probe", path, "--check" };
    char *nothing;
    size_t length;
    if (nuioa_new_file_open(&file, path, &err) || nuioa_new_file_close(&file, false, path, &err))
        return tool_fail("%s", err.text);
    int rc = tool_python_run("probe-heatmap.py", 3, (char **)words, "", &nothing, &length);
    free(nothing);
    return rc;
}

int probe_heatmap(const char *json, const char *path)
{
    struct nuioa_new_file file;
    struct nuioa_error err;
    const char *words[] = { "probe", path };
    char *picture;
    size_t length;
    int rc = tool_python_run("probe-heatmap.py", 2, (char **)words, json, &picture, &length);
    if (!rc && nuioa_new_file_open(&file, path, &err))
        rc = tool_fail("%s", err.text);
    else if (!rc) {
        fwrite(picture, 1, length, file.stream);
        rc = nuioa_new_file_close(&file, true, path, &err) ? tool_fail("%s", err.text) : TOOL_DONE;
    }
    free(picture);
    return rc;
}
