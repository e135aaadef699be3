/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "spank/common/hosts.h"
#include "spank/report/wire.h"
#include "input.h"

/* Slurm's lists of nodes and of tasks per node, from the job's environment: slurmstepd reads them
 * as root. The input is three lines: the list of nodes, a host, and the list of tasks. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    char *nodes = input_line(&in), *host = input_line(&in), *tasks = input_line(&in);
    int position = nodes && host ? hosts_find(nodes, host) : 0;
    uint32_t before, there;
    INPUT_CHECK(position < WIRE_NODES_MAX);
    for (uint32_t node = 0; tasks && node < 4; node++)
        if (!hosts_tasks(tasks, node, &before, &there))
            INPUT_CHECK(there <= WIRE_TASKS_MAX);
    if (tasks && position >= 0)
        hosts_tasks(tasks, (uint32_t)position, &before, &there);
    free(nodes);
    free(host);
    free(tasks);
    return 0;
}
