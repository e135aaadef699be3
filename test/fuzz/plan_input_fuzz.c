/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "input.h"
#include "tools/plan_input.h"

/* `nuioa plan` reads its command line and the file of --binding. The input is four lines
 * with the values of --tasks, --cpus-per-task, --ranks and --allowed, an empty one for an option
 * that is not given, and files (files.h), of which "b" is that of --binding. */

/* Messages are for the user, and many. */
int tool_usage(const char *command, const char *format, ...)
{
    (void)command, (void)format;
    return 2;
}

int tool_fail(const char *format, ...)
{
    (void)format;
    return 1;
}

static const char *given(const char *value)
{
    return *value ? value : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    struct plan_input plan;
    char *values[4];
    for (unsigned i = 0; i < 4; i++)
        values[i] = input_line(&in);
    /* The fourth line is a list of CPUs, or the GPUs of the tasks. */
    const char *gpus = strchr(values[3], ';') ? values[3] : NULL;
    files_open(in.data, in.size);
    int rc =
        plan_input_arguments(&plan, "plan", given(values[0]), given(values[1]), given(values[2]),
                             gpus ? NULL : given(values[3]), in.size ? "b" : NULL, gpus);
    files_close();
    INPUT_CHECK(rc || plan.task_count > 0);
    INPUT_CHECK(rc || !in.size || plan.line_count == plan.task_count);
    if (!rc)
        plan_input_interrupts(&plan, values[3]);
    plan_input_free(&plan);
    for (unsigned i = 0; i < 4; i++)
        free(values[i]);
    return 0;
}
