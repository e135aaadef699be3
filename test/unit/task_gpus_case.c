/* SPDX-License-Identifier: BSD-3-Clause */
#include "task_gpus_case.h"

#include <signal.h>
#include <sys/wait.h>

#include "spank/stepd/gpu_access.h"
#include "spank/stepd/task_gpus.h"
#include "unit.h"

const struct task_gpus_file task_gpus_files[GPUS] = { { "/dev/null", 3 },
                                                      { "/dev/zero", 5 },
                                                      { "/dev/full", 7 } };
bool file_unknown;
char said[256];
struct step_facts facts;
struct step_run context;
pid_t pids[TASKS];

static struct nuioa_gpu gpus[GPUS];
static struct nuioa_task tasks[TASKS];
static uint32_t indexes[TASKS * GPUS];

void slurm_debug(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(said, sizeof(said), format, args);
    va_end(args);
}

uint32_t nuioa_gpu_devices_read(const struct nuioa_node *node, const char *root,
                                struct nuioa_gpu_device *devices)
{
    assert_string_equal(root, "");
    for (uint32_t i = 0; i < node->gpu_count; i++)
        snprintf(devices[i].file, sizeof(devices[i].file), "%s",
                 file_unknown && i == GPUS - 1 ? "" : task_gpus_files[i].file);
    return node->gpu_count - file_unknown;
}

void begin(void)
{
    facts = (struct step_facts){
        .step = { .task_count = TASKS, .gpus = NUIOA_GPUS_SEVERAL, .sees_gpu = true },
        .node = { .gpu_count = GPUS, .gpus = gpus },
    };
    facts.options.deadline_ms = 20000;
    context = (struct step_run){ .facts = &facts, .forked = { .pids = pids } };
    memset(tasks, 0, sizeof(tasks));
    memset(gpus, 0, sizeof(gpus));
}

const char *describe(void)
{
    static char text[256];
    size_t used = 0;
    task_gpus_list(&context, tasks, indexes);
    *text = '\0';
    for (unsigned i = 0; i < facts.step.task_count; i++) {
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s", i ? " " : "");
        const char *mark = tasks[i].gpus_shared ? "&" : "?";
        uint32_t count = tasks[i].gpus_known ? tasks[i].gpu_count : tasks[i].seen_count;
        if (!tasks[i].gpus_known || !count)
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s",
                                     tasks[i].gpus_known ? "-" : mark);
        for (uint32_t g = 0; g < count; g++)
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%u", g ? "," : "",
                                     tasks[i].gpus_known ? tasks[i].gpus[g] : tasks[i].seen[g]);
    }
    assert_int_equal(task_gpus_known(&context), !strpbrk(text, "?&"));
    free(context.gpus);
    context.gpus = NULL;
    return text;
}

void end_all(void)
{
    for (unsigned i = 0; i < TASKS; i++)
        if (pids[i] > 0) {
            kill(pids[i], SIGKILL);
            waitpid(pids[i], NULL, 0);
            pids[i] = 0;
        }
    free(context.gpus);
    context.gpus = NULL;
}
