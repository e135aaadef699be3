/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/topo_load.h"

#include <errno.h>
#include <jansson.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>

#include "output/text_table.h"
#include "tools/tool.h"
#include "steps/step_load.h"

static int print_text(const struct nuioa_step_load *loads, uint32_t count)
{
    struct nuioa_text_table table;
    nuioa_text_table_init(&table, "lrll");
    if (!count)
        puts("No step that you may see uses a NIC.");
    static const char *const headings[] = { "NIC", "ranks", "step", "user" };
    for (unsigned i = 0; count && i < sizeof(headings) / sizeof(*headings); i++)
        nuioa_text_table_add(&table, "%s", headings[i]);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < loads[i].nic_count; k++) {
            const struct passwd *user = getpwuid(loads[i].uid);
            nuioa_text_table_add(&table, "%s", loads[i].nics[k].nic);
            nuioa_text_table_add(&table, "%.2f", loads[i].nics[k].ranks);
            nuioa_text_table_add(&table, "%u.%u", loads[i].job, loads[i].step);
            if (user)
                nuioa_text_table_add(&table, "%s", user->pw_name);
            else
                nuioa_text_table_add(&table, "%u", loads[i].uid);
        }
    nuioa_text_table_print(&table, stdout, 0);
    return TOOL_DONE;
}

static int print_json(const struct nuioa_step_load *loads, uint32_t count, const char *warning)
{
    json_t *entries = json_array(), *warnings = json_array();
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < loads[i].nic_count; k++)
            json_array_append_new(
                entries,
                json_pack("{s:s, s:f, s:I, s:I, s:I}", "nic", loads[i].nics[k].nic, "ranks",
                          loads[i].nics[k].ranks, "job", (json_int_t)loads[i].job, "step",
                          (json_int_t)loads[i].step, "uid", (json_int_t)loads[i].uid));
    if (*warning)
        json_array_append_new(warnings, json_string(warning));
    json_t *all = json_pack("{s:i, s:o, s:o}", "nuioa", 1, "load", entries, "warnings", warnings);
    char *text =
        all ? json_dumps(all, JSON_ENSURE_ASCII | JSON_INDENT(1) | JSON_REAL_PRECISION(15)) : NULL;
    json_decref(all);
    if (!text)
        return tool_fail("out of memory");
    puts(text);
    free(text);
    return TOOL_DONE;
}

int topo_load(const char *path, bool json)
{
    struct nuioa_step_directory directory;
    struct nuioa_step_load *loads = NULL;
    struct nuioa_error err = { "" };
    uint32_t count = 0;
    int rc = nuioa_step_directory_open(&directory, path ? path : NUIOA_STEP_LOAD_DIR, false, &err);
    if (!rc) {
        rc = nuioa_step_loads_read(&directory, &loads, &count, &err);
        nuioa_step_directory_close(&directory);
    } else if (rc == -ENOENT && !path) {
        rc = 0;
        err.text[0] = '\0';
    }
    if (rc)
        return tool_fail("%s", err.text);
    if (*err.text && !json)
        fprintf(stderr, "nuioa: warning: %s\n", err.text);
    int status = json ? print_json(loads, count, err.text) : print_text(loads, count);
    free(loads);
    return status;
}
