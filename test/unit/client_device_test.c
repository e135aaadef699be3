/* SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dump.h"
#include "pmix/client/device_numa.h"
#include "pmix/client/gpu_nics.h"
#include "pmix/client/nuioa-client.h"
#include "unit.h"

/* libnuioa-client reads where a device is from files of /sys and /proc: here, from a tree that is
 * made for each test. */

static int make_sysfs(void **state)
{
    (void)state;
    dump_make();
    dump_file("sys/devices/pci0000:40/0000:40:01.0/numa_node", "0"); /* the port above: not asked */
    dump_file("sys/devices/pci0000:40/0000:40:01.0/0000:41:00.0/numa_node", "3");
    dump_file("sys/devices/pci0000:40/0000:40:01.0/0000:41:00.0/infiniband/mlx5_0/node_guid", "");
    dump_file("sys/devices/pci0000:40/0000:40:01.0/0000:41:00.0/net/ib0/address", "");
    dump_file("sys/devices/pci0000:60/0000:60:00.0/numa_node", "1");
    dump_file("sys/devices/pci0000:60/0000:60:00.0/virtio0/net/eth0/address",
              ""); /* one level further up */
    dump_file("sys/devices/pci0000:80/0000:80:00.0/numa_node", "-1");
    dump_file("sys/devices/pci0000:80/0000:80:00.0/cxi/cxi0/x", "");
    dump_file("sys/devices/virtual/net/bond0/address", "");
    dump_link("sys/class/infiniband/mlx5_0",
              "../../devices/pci0000:40/0000:40:01.0/0000:41:00.0/infiniband/mlx5_0");
    dump_link("sys/class/net/ib0", "../../devices/pci0000:40/0000:40:01.0/0000:41:00.0/net/ib0");
    dump_link("sys/class/net/eth0", "../../devices/pci0000:60/0000:60:00.0/virtio0/net/eth0");
    dump_link("sys/class/net/bond0", "../../devices/virtual/net/bond0");
    dump_link("sys/class/cxi/cxi0", "../../devices/pci0000:80/0000:80:00.0/cxi/cxi0");
    dump_link("sys/bus/pci/devices/0000:41:00.0",
              "../../../devices/pci0000:40/0000:40:01.0/0000:41:00.0");
    return 0;
}

TEST_WITHIN(test_devices, make_sysfs, NULL)
{
    static const struct {
        const char *name;
        int numa;
    } devices[] = {
        { "mlx5_0", 3 },
        { "mlx5_0:1", 3 },
        { "mlx5_0-rdm", 3 },
        { "mlx5_0-xrc", 3 },
        { "ib0", 3 },
        { "0000:41:00.0", 3 },
        { "41:00.0", 3 },
        { "eth0", 1 },
        { "cxi0", -ENODATA },
        { "bond0", -ENODATA },
        { "mlx5_1", -ENOENT },
        { "mlx5_0:x", -ENOENT },
        { "mlx5_0-other", -ENOENT },
        { "42:00.0", -ENOENT },
        { "", -EINVAL },
        { "../net/eth0", -EINVAL },
        { "..", -EINVAL },
        { "net/eth0", -EINVAL },
        { "a b", -EINVAL },
        { NULL, -EINVAL },
    };
    for (size_t i = 0; i < sizeof(devices) / sizeof(*devices); i++)
        assert_int_equal(device_numa(dump_path, devices[i].name), devices[i].numa);
    assert_int_equal(nuioa_client_device_numa("lo"), -ENODATA); /* this machine */
}

TEST_WITHIN(test_uuids, make_sysfs, NULL)
{
    static const char uuid[] = "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6";
    static const char *const unknown[] = { "GPU-8932f937",
                                           "GPU-8932f937-d72c-4106-c12f-20bd9faed9f7",
                                           "GPU-0123456789abcde", "GPU-x" };
    struct gpu_nics table = { 0 };
    const char *nics = NULL;
    dump_file("proc/driver/nvidia/gpus/0000:41:00.0/information",
              "Model: \t\t NVIDIA A100\nGPU UUID: \t GPU-8932f937-d72c-4106-c12f-20bd9faed9f6\n"
              "Device Minor: \t 3");
    dump_file("sys/bus/pci/devices/0000:42:00.0/unique_id", "0123456789abcdef");
    assert_int_equal(
        gpu_nics_parse(&table, "0000:40:00.0=a;0000:41:00.0=mlx5_0:1;0000:42:00.0=hsi0"), 0);
    assert_int_equal(gpu_nics_find(&table, dump_path, uuid, &nics), 0);
    assert_string_equal(nics, "mlx5_0:1");
    assert_int_equal(gpu_nics_find(&table, dump_path, "GPU-0123456789ABCDEF", &nics), 0);
    assert_string_equal(nics, "hsi0");
    for (unsigned i = 0; i < sizeof(unknown) / sizeof(*unknown); i++)
        assert_int_equal(gpu_nics_find(&table, dump_path, unknown[i], &nics), -ENOENT);
    gpu_nics_clear(&table);
    assert_int_equal(gpu_nics_find(&table, dump_path, uuid, &nics), -ENOENT);
}

/* The path of the device is so long that its numa_node has none. Cut, it is another file's. */
TEST_WITHIN(test_long_paths, make_sysfs, NULL)
{
    enum { LENGTH = PATH_MAX - sizeof("/numa") };
    char path[PATH_MAX], link[128];
    dump_file("sys/devices/long/numa_node", "2");
    size_t length = (size_t)snprintf(path, sizeof(path), "%s/sys/devices/long", dump_path), more;
    for (; length < LENGTH; length += more) {
        more = LENGTH - length < 202 ? LENGTH - length : 200;
        memset(path + length, 'd', more);
        path[length] = '/';
        path[length + more] = '\0';
        assert_int_equal(mkdir(path, 0755), 0);
    }
    strcpy(path + LENGTH, "/numa");
    FILE *other = fopen(path, "w");
    assert_non_null(other);
    fputs("5\n", other);
    fclose(other);
    path[LENGTH] = '\0';
    snprintf(link, sizeof(link), "%s/sys/class/net/long", dump_path);
    assert_int_equal(symlink(path, link), 0);
    assert_int_equal(device_numa(dump_path, "long"), 2);

    memset(path, 'x', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    assert_int_equal(device_numa(path, "long"), -EINVAL);
}
