/* SPDX-License-Identifier: BSD-3-Clause */

/* Two lines, a list of nodes and one of numbers of tasks; then the text of scontrol show
 * topology. */

#include <stdlib.h>

#include "input.h"
#include "layout/figures.h"

static void check_network(const struct nuioa_host_list *hosts, const char *text)
{
    struct nuioa_network network;
    struct nuioa_error err;
    if (nuioa_network_parse(text, hosts, &network, &err))
        return;
    INPUT_CHECK(network.level_count <= NUIOA_NETWORK_LEVELS_MAX + 1);
    for (uint32_t a = 0; a < hosts->count && a < 8; a++)
        for (uint32_t b = 0; b < hosts->count && b < 8; b++) {
            uint32_t there = nuioa_network_distance(&network, a, b);
            INPUT_CHECK(there == nuioa_network_distance(&network, b, a));
            INPUT_CHECK(a == b ? !there : there >= 1 && there <= network.level_count + 1);
        }
    nuioa_network_free(&network);
}

static void check_tasks(const struct nuioa_host_list *hosts, const char *text)
{
    enum { NODES = 8 };
    uint32_t tasks[NODES], room[NODES], sum = 0,
                                        nodes = hosts->count < NODES ? hosts->count : NODES;
    struct nuioa_error err;
    if (nuioa_task_counts_parse(text, nodes, room, &err))
        return;
    if (nuioa_layout_spread(100, nodes, room, tasks)) {
        for (uint32_t k = 0; k < nodes; k++) {
            INPUT_CHECK(tasks[k] <= room[k]);
            sum += tasks[k];
        }
        INPUT_CHECK(sum == 100);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    struct nuioa_host_list hosts;
    struct nuioa_error err;
    char *nodes = input_line(&in), *tasks = input_line(&in), *network = input_text(&in);
    if (nodes && !nuioa_host_list_parse(nodes, &hosts, &err)) {
        if (tasks)
            check_tasks(&hosts, tasks);
        if (network)
            check_network(&hosts, network);
        nuioa_host_list_free(&hosts);
    }
    free(nodes);
    free(tasks);
    free(network);
    return 0;
}
