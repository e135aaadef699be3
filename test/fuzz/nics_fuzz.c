/* SPDX-License-Identifier: BSD-3-Clause */

/* A pattern that a user chooses NICs by, and a list of their roles. The bytes before it are the
 * kind, state, rate and fabric of each NIC of a node, and the policy. */

#include <stdlib.h>

#include "input.h"
#include "topology/nic_role.h"
#include "unit/machine.h"

enum { NICS = 4 };

static void vary(struct nuioa_node *node, struct input *input)
{
    static const uint32_t rates[] = { 0, 1000, 25000, 100000, 104000, 200000 };
    for (uint32_t i = 0; i < NICS; i++) {
        struct nuioa_nic *nic = &node->nics[i];
        nic->kind = input_below(input, NUIOA_NIC_KINDS);
        nic->state = input_below(input, NUIOA_NIC_ACTIVE + 1);
        nic->rate_mbps = rates[input_below(input, sizeof(rates) / sizeof(*rates))];
        unsigned more = input_byte(input);
        nic->is_virtual = more & 1;
        nuioa_copy(nic->fabric, sizeof(nic->fabric),
                   more & 2   ? "fe80:1"
                   : more & 4 ? "fe80:2"
                              : "");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = { data, size };
    struct nuioa_node node;
    struct nuioa_error err;
    struct nuioa_warnings warnings = { .count = 0 };
    bool taken[NICS];
    int taken_count = 0;
    fault_pause();
    machine_quad(&node);
    machine_nic(&node, "hsn0", 0)->port = 0;
    nuioa_copy(machine_nic(&node, "efa_0", 2)->netdev, sizeof(node.nics->netdev), "eth1");
    fault_resume();
    vary(&node, &input);
    enum nuioa_policy policy = input_below(&input, 3);
    char *pattern = input_text(&input);
    int right = nuioa_nic_roles_check(pattern, &err);
    nuioa_nic_roles_set(&node, pattern);
    for (unsigned i = 0; i < NICS; i++)
        INPUT_CHECK(right == 0 || node.nics[i].role_source != NUIOA_ROLE_BY_SITE);
    int checked = nuioa_nic_check(pattern, &err);
    int rc = nuioa_nic_select(&node, pattern, policy, taken, &warnings, &err);
    INPUT_CHECK((checked < 0) == (rc < 0));
    for (unsigned i = 0; i < NICS; i++)
        taken_count += taken[i];
    INPUT_CHECK(rc < 0 || taken_count == rc);
    if (rc > 0)
        nuioa_nic_is_guessed(&node, pattern, policy, taken);
    free(pattern);
    nuioa_node_free(&node);
    return 0;
}
