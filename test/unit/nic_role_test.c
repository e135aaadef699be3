/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine.h"
#include "topology/nic_role.h"
#include "unit.h"

/* mlx5_0 to mlx5_2, a netdev eth3 alone; the second is also ib1, at 0000:41:00.0. */
static struct nuioa_node *build(struct nuioa_node *node)
{
    machine_plain(node, 2, 2);
    machine_nic(node, "mlx5_0", 0);
    struct nuioa_nic *second = machine_nic(node, "mlx5_1", 1);
    nuioa_copy(second->netdev, sizeof(second->netdev), "ib1");
    nuioa_copy(second->pci, sizeof(second->pci), "0000:41:00.0");
    machine_nic(node, "mlx5_2", 1);
    struct nuioa_nic *last = machine_nic(node, "eth3", 0);
    last->kind = NUIOA_NIC_ETHERNET;
    last->port = 0;
    return node;
}

TEST(test_lists)
{
    /* A letter for each NIC: compute, storage, management, or - where nobody says anything. */
    static const struct {
        const char *list, *roles;
    } cases[] = {
        { "mlx5_0:storage", "s---" },
        { "mlx5_0:1:storage", "s---" },
        { "mlx5_0:2:storage", "----" },
        { "ib1:management", "-m--" },
        { "0000:41:00.0:storage", "-s--" },
        { "mlx5_*:storage,mlx5_2:compute", "ssc-" },
        { "mlx5_2:compute,mlx5_*:storage", "sss-" }, /* the last one counts */
        { "mlx5_?:compute,ethernet:management", "cccm" },
        { "*:management", "mmmm" },
        { "mlx5_9:storage", "----" },
        { "", "----" },
    };
    for (size_t t = 0; t < sizeof(cases) / sizeof(*cases); t++) {
        char roles[8] = "";
        struct nuioa_node *node = build(machine_new());
        nuioa_nic_roles_set(node, "mlx5_1:compute"); /* an earlier list is forgotten */
        nuioa_nic_roles_set(node, cases[t].list);
        for (uint32_t i = 0; i < node->nic_count; i++) {
            const char *name = nuioa_nic_role_name(node->nics[i].role);
            const char *source = nuioa_role_source_name(node->nics[i].role_source);
            assert_true(i + 1 < sizeof(roles));
            roles[i] = name ? *name : '-';
            assert_string_equal(source ? source : "", name ? "site" : "");
        }
        if (strcmp(roles, cases[t].roles) != 0)
            print_error("%s:\n", cases[t].list);
        assert_string_equal(roles, cases[t].roles);
    }
}

TEST(test_malformed)
{
    static const struct {
        const char *list, *text;
    } bad[] = {
        { "", "names no NIC and role" },
        { "mlx5_0", "names no NIC and role" },
        { ":storage", "names no NIC and role" },
        { "mlx5_0:storage,", "names no NIC and role" },
        { "mlx5_0:", "does not end in one of compute, storage, management" },
        { "mlx5_0:1", "does not end in one of" },
        { "mlx5_0:disk", "'mlx5_0:disk' does not end in one of" },
        { "mlx5_0:storages", "does not end in one of" },
        { "mlx5_[0-3]:storage", "'[' in 'mlx5_[0-3]:storage' is in no device name; * and ? are" },
        { "mlx5_0:storage,a b:storage", "' ' in 'a b:storage'" },
        { "a\\b:storage", "is in no device name" },
        { "^mlx5_0:storage", "is in no device name" },
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct nuioa_error err = { "" };
        assert_int_equal(nuioa_nic_roles_check(bad[i].list, &err), -EINVAL);
        if (!strstr(err.text, bad[i].text))
            print_error("\"%s\": %s\n", bad[i].list, err.text);
        assert_non_null(strstr(err.text, bad[i].text));
    }
    char text[100];
    memset(text, 'a', sizeof(text));
    snprintf(text + 64, sizeof(text) - 64, ":storage");
    assert_int_equal(nuioa_nic_roles_check(text, NULL), -EINVAL);
    assert_int_equal(nuioa_nic_roles_check(text + 1, NULL), 0);
}

/* Who is said to be for something else is used by nobody unless it is named. */
TEST(test_used_by_name_only)
{
    static const struct {
        const char *pattern, *taken;
    } cases[] = {
        { "auto", "mlx5_0 mlx5_2 " },
        { "mlx5_*", "mlx5_0 mlx5_2 " },
        { "infiniband", "mlx5_0 mlx5_2 " },
        { "mlx5_1", "mlx5_1 " },
        { "auto,mlx5_1:1", "mlx5_0 mlx5_1 mlx5_2 " },
        { "^mlx5_0", "mlx5_2 " },
    };
    struct nuioa_node *node = build(machine_new());
    nuioa_nic_roles_set(node, "mlx5_1:storage,eth3:management");
    assert_false(node->nics[1].usable);
    assert_string_equal(node->nics[1].why, "reserved for storage (nic-role)");
    assert_string_equal(node->nics[3].why, "reserved for management (nic-role)");
    for (size_t t = 0; t < sizeof(cases) / sizeof(*cases); t++) {
        bool taken[4];
        char names[64] = "";
        nuioa_nic_select(node, cases[t].pattern, NUIOA_POLICY_BANDWIDTH, taken, NULL, NULL);
        for (unsigned i = 0; i < 4; i++)
            if (taken[i])
                snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s ",
                         node->nics[i].name);
        assert_string_equal(names, cases[t].taken);
    }
    nuioa_nic_judge(node); /* what is said stays */
    assert_int_equal(node->nics[1].role, NUIOA_ROLE_STORAGE);
}
