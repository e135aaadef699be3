/* SPDX-License-Identifier: BSD-3-Clause */

/* The distance file of a site. A section for the node is added to what is accepted, and read
 * back. */

#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "topology/distance_site.h"
#include "tools/probe/distance_write.h"
#include "unit/machine.h"

enum { NUMAS = 3, CELLS = NUMAS * NUMAS };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t written[CELLS] = { 10, 21, 32, 21, 10, 43, 32, 43, 10 };
    struct nuioa_node node;
    struct nuioa_error err;
    uint32_t matrix[CELLS] = { 0 };
    fault_pause();
    machine_build(&node, &(struct shape){ NUMAS, 2, 1, 1, NULL });
    fault_resume();
    nuioa_copy(node.model, sizeof(node.model), "CPU #1");
    const char *path = input_file("distances", data, size);
    int rc = nuioa_distance_read_site(path, &node, matrix, NULL, &err);
    for (unsigned i = 0; i < CELLS; i++)
        INPUT_CHECK(rc ? !matrix[i] : matrix[i] >= matrix[i / NUMAS * (NUMAS + 1)]);
    struct nuioa_nic nic = { .name = "mlx5_0", .port = 1 }, *own = node.nics;
    node.nics = &nic;
    node.nic_count = 1;
    nuioa_distance_read_site(path, &node, NULL, node.nics, &err);
    for (unsigned i = 0; nic.measured && i < NUMAS; i++)
        INPUT_CHECK(nic.measured[i].write_mb_s >= 0 && nic.measured[i].mad >= 0);
    if (!nuioa_distance_write_site(path, &node, written, "measured", &err)) {
        if (INPUT_HOLDS(!nuioa_distance_read_site(path, &node, matrix, NULL, &err)))
            INPUT_CHECK(!memcmp(matrix, written, sizeof(matrix)));
    }
    free(nic.measured);
    node.nics = own;
    node.nic_count = 0;
    nuioa_node_free(&node);
    return 0;
}
