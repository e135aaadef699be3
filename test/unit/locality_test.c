/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan_case.h"
#include "pmix/server/locality.h"
#include "unit.h"

/* The values of PMIX_DEVICE_DISTANCES. Two NUMA nodes have a GPU each; mlx5_0 is on the first one,
 * mlx5_1 and a card with two ports, which are one verbs device, on the second one. */

#define DEVICES 4

static struct locality_device devices[DEVICES];

/* Makes a plan for ranks with these GPUs, as for plan_case_gpus, on the CPUs of the first NUMA
 * node, and lists the devices as locality_devices_find does: a verbs device is there once. */
static struct plan_case *case_of(unsigned tasks, const char *gpus)
{
    static const char *const names[] = { "mlx5_0", "mlx5_1", "mlx4_0", "mlx4_0" };
    struct plan_case *s = plan_case_new();
    machine_plain(&s->node, 2, 4);
    for (unsigned n = 0; n < DEVICES; n++) {
        struct nuioa_nic *nic = machine_nic(&s->node, names[n], n > 0);
        devices[n] = (struct locality_device){ .nic = nic, .type = PMIX_DEVTYPE_OPENFABRICS };
        strcpy(devices[n].name, nic->name);
    }
    s->node.nics[3].port = 2;
    s->node.nics[3].card = s->node.nics[2].card;
    devices[3] = (struct locality_device){ &s->node.nics[3], PMIX_DEVTYPE_NETWORK, "ib3", "" };
    for (unsigned g = 0; g < 2; g++)
        machine_gpu(&s->node, g);
    plan_case_on(s, tasks, 1);
    if (gpus)
        plan_case_gpus(s, gpus);
    plan_case_option(s, "rails", "1");
    plan_case_option(s, "gpus", "keep");
    return s;
}

/* Returns the least distance of each device: "10 20 20 20"; the text is static. */
static const char *distances_of(const struct plan_case *s, unsigned local)
{
    static char text[64];
    pmix_device_distance_t row[DEVICES];
    struct locality_devices list = { DEVICES, devices };
    assert_int_equal(locality_distances(&s->node, &s->plan.assignments[local], &list, row),
                     DEVICES);
    snprintf(text, sizeof(text), "%u %u %u %u", row[0].mindist, row[1].mindist, row[2].mindist,
             row[3].mindist);
    for (unsigned d = 0; d < DEVICES; d++)
        assert_true(row[d].maxdist >= row[d].mindist);
    return text;
}

TEST(test_by_cpus)
{
    struct plan_case *s = case_of(1, NULL);
    plan_case_make(s);
    assert_string_equal(distances_of(s, 0), "10 20 20 20");
    plan_case_gpus(s, "?");
    plan_case_make(s);
    assert_string_equal(distances_of(s, 0), "10 20 20 20");
}

/* Where a rank sees GPUs with others, NICs that are near to none of them are left out, and of the
 * others none is called nearer than it is to the CPUs. */
TEST(test_by_gpus_that_others_see)
{
    struct plan_case *s = case_of(2, "?1;?1");
    pmix_device_distance_t row[DEVICES];
    struct locality_devices list = { DEVICES, devices };
    machine_path(&s->node, 1, 1, NUIOA_PATH_PIX);
    plan_case_make(s);
    assert_int_equal(locality_distances(&s->node, &s->plan.assignments[0], &list, row), 1);
    assert_string_equal(row[0].osname, "mlx5_1");
    assert_int_equal(row[0].mindist, 20);
    plan_case_gpus(s, "?0,1;?0,1");
    plan_case_make(s);
    assert_int_equal(locality_distances(&s->node, &s->plan.assignments[0], &list, row), 2);
    assert_int_equal(row[0].mindist, 10);
    assert_int_equal(row[1].mindist, 20);
}

/* The rank's own NIC is the nearest, wherever its CPUs are. */
TEST(test_by_gpu)
{
    struct plan_case *s = case_of(1, "1");
    machine_path(&s->node, 1, 1, NUIOA_PATH_PIX);
    plan_case_make(s);
    assert_string_equal(distances_of(s, 0), "11 10 20 20");
}

/* Two ranks have a port each of a card whose ports are one verbs device: it is near to both, and
 * the netdev of a port to the rank that has it. */
TEST(test_ports_of_a_device)
{
    struct plan_case *s = case_of(2, "1;1");
    machine_path(&s->node, 1, 2, NUIOA_PATH_PIX);
    machine_path(&s->node, 1, 3, NUIOA_PATH_PIX);
    plan_case_make(s);
    assert_string_equal(plan_case_all_nics(s), "2;3");
    assert_string_equal(distances_of(s, 0), "11 20 10 20");
    assert_string_equal(distances_of(s, 1), "11 20 10 10");
}
