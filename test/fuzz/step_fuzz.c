/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "spank/common/log.h"
#include "spank/common/step.h"

/* The step as Slurm describes it, which slurmstepd reads as root: its environment, which the user
 * has made, and SPANK's items. The input is the cores of the step in a line, its command in a
 * line, the items as bytes in a line, and the environment, a variable in each line. */

enum { VARIABLES_MAX = 32, TASKS_MAX = 64 };

static struct {
    char *cores, *command, *items;
    char *environment[VARIABLES_MAX + 1], *arguments[2];
} slurm;

/* Returns one of the bytes; those that are not there are 0. */
static unsigned item_at(unsigned index)
{
    return index < strlen(slurm.items) ? (unsigned char)slurm.items[index] : 0;
}

/* Slurm's function: here the items are those of the input. The item of a bit that is set in the
 * first byte is not known. */
spank_err_t spank_get_item(spank_t spank, spank_item_t item, ...)
{
    va_list to;
    va_start(to, item);
    spank_err_t rc = ESPANK_SUCCESS;
    unsigned unknown = item_at(0);
    (void)spank;
    if (item == S_JOB_ENV) {
        *va_arg(to, char ***) = slurm.environment;
    } else if (item == S_JOB_ARGV) {
        *va_arg(to, int *) = 1;
        *va_arg(to, char ***) = slurm.arguments;
    } else if (item == S_STEP_ALLOC_CORES) {
        *va_arg(to, char **) = slurm.cores;
        rc = unknown & 1 ? ESPANK_NOT_AVAIL : rc;
    } else if (item == S_JOB_LOCAL_TO_GLOBAL_ID) {
        unsigned task = va_arg(to, uint32_t);
        *va_arg(to, uint32_t *) = item_at(1) < 128 ? task * item_at(1) : UINT32_MAX - task;
        rc = unknown & 2 ? ESPANK_NOT_AVAIL : rc;
    } else if (item == S_JOB_LOCAL_TASK_COUNT) {
        *va_arg(to, uint32_t *) = item_at(2) < 255 ? item_at(2) % TASKS_MAX : UINT32_MAX;
    } else if (item == S_JOB_NODEID) {
        *va_arg(to, uint32_t *) = item_at(3);
    } else if (item == S_JOB_TOTAL_TASK_COUNT) {
        *va_arg(to, uint32_t *) = item_at(4);
        rc = unknown & 4 ? ESPANK_NOT_AVAIL : rc;
    } else if (item == S_STEP_CPUS_PER_TASK) {
        *va_arg(to, uint32_t *) = item_at(5);
        rc = unknown & 8 ? ESPANK_NOT_AVAIL : rc;
    } else if (item == S_JOB_STEPID) {
        *va_arg(to, uint32_t *) = item_at(6) << 24;
    }
    va_end(to);
    return rc;
}

const char *log_host(char *host, size_t size)
{
    nuioa_copy(host, size, "node2");
    return host;
}

/* A machine of 8 cores with two threads each. */
static void check_cpus(const struct step *step)
{
    struct nuioa_pu pus[16];
    struct nuioa_node node = { .pu_count = 16, .core_count = 8, .pus = pus };
    hwloc_bitmap_t cpus = hwloc_bitmap_alloc();
    for (unsigned i = 0; i < 16; i++)
        pus[i] = (struct nuioa_pu){ .os_index = i % 8 * 2 + i / 8, .core = i / 2 };
    int rc = step_cpus(step, &node, cpus);
    INPUT_CHECK(rc < 0 ? hwloc_bitmap_iszero(cpus) : hwloc_bitmap_last(cpus) < 16);
    hwloc_bitmap_free(cpus);
}

/* hwloc makes a set of any size, which takes half a gigabyte for the largest one; Slurm numbers
 * the cores that a node has. */
static int is_core_list(const char *text)
{
    for (; *text; text += *text != '\0') {
        if (strspn(text, "0123456789") > 6)
            return 0;
        text += strspn(text, "0123456789");
    }
    return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    struct step step;
    struct nuioa_error err;
    slurm.cores = input_line(&in);
    slurm.command = input_line(&in);
    slurm.items = input_line(&in);
    slurm.arguments[0] = slurm.command;
    unsigned count = 0;
    while (in.size && count < VARIABLES_MAX)
        slurm.environment[count++] = input_line(&in);
    slurm.environment[count] = NULL;
    step_is_launcher(NULL);
    if (step_is_ordinary(NULL) && !step_read(NULL, &step, &err)) {
        for (uint32_t i = 0; i < step.task_count; i++)
            INPUT_CHECK(step.ranks[i] < STEP_RANKS_MAX);
        if (!step.cores || is_core_list(step.cores))
            check_cpus(&step);
    } else {
        INPUT_CHECK(!step_is_ordinary(NULL) || *err.text);
    }
    if (step_is_ordinary(NULL))
        step_free(&step);
    for (unsigned i = 0; i < count; i++)
        free(slurm.environment[i]);
    free(slurm.cores);
    free(slurm.command);
    free(slurm.items);
    return 0;
}
