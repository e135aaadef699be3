/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pmix/client/device_numa.h"
#include "pmix/client/gpu_nics.h"
#include "pmix/client/nuioa-client.h"
#include "unit.h"

/* libnuioa-client reads where a device is from files of /sys and /proc: here, from a root that is
 * made for each test. */

static char root[64];

static void make(const char *path)
{
    char full[512];
    snprintf(full, sizeof(full), "%s/%s", root, path);
    for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(full, 0755);
        *slash = '/';
    }
}

static void put(const char *path, const char *text)
{
    char full[512];
    make(path);
    snprintf(full, sizeof(full), "%s/%s", root, path);
    FILE *out = fopen(full, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

static void point(const char *path, const char *target)
{
    char full[512];
    make(path);
    snprintf(full, sizeof(full), "%s/%s", root, path);
    assert_int_equal(symlink(target, full), 0);
}

static int make_sysfs(void **state)
{
    (void)state;
    strcpy(root, "/tmp/nuioa-client.XXXXXX");
    if (!mkdtemp(root))
        return -1;
    put("sys/devices/pci0000:40/0000:40:01.0/numa_node", "0\n"); /* the port above: not asked */
    put("sys/devices/pci0000:40/0000:40:01.0/0000:41:00.0/numa_node", "3\n");
    put("sys/devices/pci0000:40/0000:40:01.0/0000:41:00.0/infiniband/mlx5_0/node_guid", "");
    put("sys/devices/pci0000:40/0000:40:01.0/0000:41:00.0/net/ib0/address", "");
    put("sys/devices/pci0000:60/0000:60:00.0/numa_node", "1\n");
    put("sys/devices/pci0000:60/0000:60:00.0/virtio0/net/eth0/address",
        ""); /* one level further up */
    put("sys/devices/pci0000:80/0000:80:00.0/numa_node", "-1\n");
    put("sys/devices/pci0000:80/0000:80:00.0/cxi/cxi0/x", "");
    put("sys/devices/virtual/net/bond0/address", "");
    point("sys/class/infiniband/mlx5_0",
          "../../devices/pci0000:40/0000:40:01.0/0000:41:00.0/infiniband/mlx5_0");
    point("sys/class/net/ib0", "../../devices/pci0000:40/0000:40:01.0/0000:41:00.0/net/ib0");
    point("sys/class/net/eth0", "../../devices/pci0000:60/0000:60:00.0/virtio0/net/eth0");
    point("sys/class/net/bond0", "../../devices/virtual/net/bond0");
    point("sys/class/cxi/cxi0", "../../devices/pci0000:80/0000:80:00.0/cxi/cxi0");
    point("sys/bus/pci/devices/0000:41:00.0",
          "../../../devices/pci0000:40/0000:40:01.0/0000:41:00.0");
    return 0;
}

static int drop(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info, (void)type, (void)at;
    return remove(path);
}

static int remove_sysfs(void **state)
{
    (void)state;
    return nftw(root, drop, 8, FTW_DEPTH | FTW_PHYS);
}

TEST_WITHIN(test_devices, make_sysfs, remove_sysfs)
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
        assert_int_equal(device_numa(root, devices[i].name), devices[i].numa);
    assert_int_equal(nuioa_client_device_numa("lo"), -ENODATA); /* this machine */
}

TEST_WITHIN(test_uuids, make_sysfs, remove_sysfs)
{
    static const char uuid[] = "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6";
    static const char *const unknown[] = { "GPU-8932f937",
                                           "GPU-8932f937-d72c-4106-c12f-20bd9faed9f7",
                                           "GPU-0123456789abcde", "GPU-x" };
    struct gpu_nics table = { 0 };
    const char *nics = NULL;
    put("proc/driver/nvidia/gpus/0000:41:00.0/information",
        "Model: \t\t NVIDIA A100\nGPU UUID: \t GPU-8932f937-d72c-4106-c12f-20bd9faed9f6\n"
        "Device Minor: \t 3\n");
    put("sys/bus/pci/devices/0000:42:00.0/unique_id", "0123456789abcdef\n");
    assert_int_equal(
        gpu_nics_parse(&table, "0000:40:00.0=a;0000:41:00.0=mlx5_0:1;0000:42:00.0=hsi0"), 0);
    assert_int_equal(gpu_nics_find(&table, root, uuid, &nics), 0);
    assert_string_equal(nics, "mlx5_0:1");
    assert_int_equal(gpu_nics_find(&table, root, "GPU-0123456789ABCDEF", &nics), 0);
    assert_string_equal(nics, "hsi0");
    for (unsigned i = 0; i < sizeof(unknown) / sizeof(*unknown); i++)
        assert_int_equal(gpu_nics_find(&table, root, unknown[i], &nics), -ENOENT);
    gpu_nics_clear(&table);
    assert_int_equal(gpu_nics_find(&table, root, uuid, &nics), -ENOENT);
}

/* The path of the device is so long that its numa_node has none. Cut, it is another file's. */
TEST_WITHIN(test_long_paths, make_sysfs, remove_sysfs)
{
    enum { LENGTH = PATH_MAX - sizeof("/numa") };
    char path[PATH_MAX], link[128];
    put("sys/devices/long/numa_node", "2\n");
    size_t length = (size_t)snprintf(path, sizeof(path), "%s/sys/devices/long", root), more;
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
    snprintf(link, sizeof(link), "%s/sys/class/net/long", root);
    assert_int_equal(symlink(path, link), 0);
    assert_int_equal(device_numa(root, "long"), 2);

    memset(path, 'x', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    assert_int_equal(device_numa(path, "long"), -EINVAL);
}
