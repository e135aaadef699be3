/* SPDX-License-Identifier: BSD-3-Clause */
#include "dump.h"
#include "topology/gpu_device_file.h"
#include "unit.h"

/* Four GPUs of three vendors, in PCI order. */
static struct nuioa_gpu gpus[] = {
    { .pci = "0000:01:00.0", .vendor = NUIOA_GPU_NVIDIA },
    { .pci = "0000:02:00.0", .vendor = NUIOA_GPU_NVIDIA },
    { .pci = "0000:81:00.0", .vendor = NUIOA_GPU_AMD },
    { .pci = "0000:82:00.0", .vendor = NUIOA_GPU_OTHER },
};
static const struct nuioa_node node = { .gpus = gpus, .gpu_count = 4 };

static void nvidia(const char *pci, const char *text)
{
    char path[80];
    snprintf(path, sizeof(path), "proc/driver/nvidia/gpus/%s/information", pci);
    dump_file(path, text);
}

static void render(const char *name, const char *device)
{
    char path[80], target[160];
    snprintf(path, sizeof(path), "sys/class/drm/%s", name);
    snprintf(target, sizeof(target), "../../devices/pci0000:00/%s/drm/%s", device, name);
    dump_link(path, target);
}

/* The numbers in the names of the files are not in PCI order. */
TEST(test_files)
{
    struct nuioa_gpu_device d[4];
    dump_make();
    nvidia("0000:01:00.0",
           "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ:   \t\t 25\n"
           "GPU UUID: \t GPU-8932f937-d72c-4106-c12f-20bd9faed9f6\nVideo BIOS: \t 96.00\n"
           "Bus Type: \t PCIe\nDevice Minor: \t 7");
    nvidia("0000:02:00.0",
           "Model: NVIDIA\nGPU UUID: \t GPU-\?\?\?\?\?\?\?\?-\?\?\?\?\nDevice Minor: 2");
    dump_file("sys/bus/pci/devices/0000:81:00.0/unique_id", "0f6cd6d5a4f3c9d1");
    render("renderD128", "0000:00:02.0/0000:82:00.0");
    render("renderD129", "0000:80:01.0/0000:81:00.0/virtio3");
    render("card0", "0000:80:01.0/0000:82:00.0");
    render("renderD130", "0000:02:00.0");
    dump_file("proc/driver/nvidia/capabilities/gpu2/mig/gi13/access", "DeviceFileMinor: 3");
    dump_file("proc/driver/nvidia/capabilities/gpu7/mig/access", ""); /* no instance */
    assert_int_equal(nuioa_gpu_devices_read(&node, dump_path, d), 4);
    assert_true(!d[0].divided && d[1].divided && !d[2].divided);
    assert_string_equal(d[0].file, "/dev/nvidia7");
    assert_string_equal(d[0].uuid, "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6");
    assert_string_equal(d[1].file, "/dev/nvidia2");
    assert_string_equal(d[1].uuid, "");
    assert_string_equal(d[2].file, "/dev/dri/renderD129");
    assert_string_equal(d[2].uuid, "GPU-0f6cd6d5a4f3c9d1");
    assert_string_equal(d[3].file, "/dev/dri/renderD128");
    assert_string_equal(d[3].uuid, "");
}

/* The open driver of NVIDIA GPUs has no file below proc, but a render node. */
TEST(test_nouveau)
{
    struct nuioa_gpu_device d[4];
    dump_make();
    render("renderD128", "0000:02:00.0");
    assert_int_equal(nuioa_gpu_devices_read(&node, dump_path, d), 1);
    assert_string_equal(d[0].file, "");
    assert_string_equal(d[1].file, "/dev/dri/renderD128");
}

static void kfd(unsigned number, const char *text)
{
    char path[80];
    snprintf(path, sizeof(path), "sys/class/kfd/kfd/topology/nodes/%u/properties", number);
    dump_file(path, text);
}

/* Nodes of AMD's driver: a processor, GPUs against PCI order, and one that is denied, which has no
 * properties to read. The third GPU is divided, and its parts have one address. */
TEST(test_kfd)
{
    static struct nuioa_gpu amd[] = {
        { .pci = "0000:c1:00.0", .vendor = NUIOA_GPU_AMD },
        { .pci = "0000:c5:00.0", .vendor = NUIOA_GPU_AMD },
        { .pci = "0000:c9:00.0", .vendor = NUIOA_GPU_AMD },
        { .pci = "0001:01:02.1", .vendor = NUIOA_GPU_AMD },
        { .pci = "0000:d1:00.0", .vendor = NUIOA_GPU_AMD },
        { .pci = "0000:d5:00.0", .vendor = NUIOA_GPU_NVIDIA },
    };
    static const struct nuioa_node machine = { .gpus = amd, .gpu_count = 6 };
    struct nuioa_gpu_device d[6];
    dump_make();
    kfd(0, "cpu_cores_count 64\nsimd_count 0\nlocation_id 0\ndomain 0\n");
    kfd(1, "cpu_cores_count 0\nsimd_count 440\nlocation_id 50432\ndomain 0\n");
    dump_file("sys/class/kfd/kfd/topology/nodes/2/gpu_id", "");
    kfd(3, "simd_count 440\nmem_banks_count 1\nlocation_id 49408\ndomain 0\n");
    kfd(4, "simd_count 152\nlocation_id 51456\ndomain 0\n");
    kfd(5, "simd_count 152\nlocation_id 51456\ndomain 0\n");
    kfd(6, "simd_count 440\nlocation_id 273\ndomain 1\n");
    kfd(7, "simd_count 440\nlocation_id 54528\ndomain 0\n"); /* of another vendor */
    kfd(9, "simd_count 440\nlocation_id 53504\ndomain 0\n"); /* behind a gap */
    nuioa_gpu_devices_read(&machine, dump_path, d);
    static const uint32_t wanted[] = { 3, 1, 0, 6, 0, 0 };
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(d[i].kfd, wanted[i]);
    kfd(1, "simd_count 440\nlocation_id 4295017728\ndomain 0\n");
    kfd(3, "simd_count 440\nlocation_id 268484864\ndomain 0\n"); /* a part, by its number */
    kfd(6, "simd_count\nlocation_id\n\n");
    nuioa_gpu_devices_read(&machine, dump_path, d);
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(d[i].kfd, 0);
}

TEST(test_rubbish)
{
    static const char uuid[] = "GPU UUID: GPU-0123456789012345678901234567890123456789012345678901"
                               "23456789012345678901234567890123456789";
    struct nuioa_gpu_device d[4];
    char text[3000];
    dump_make();
    memset(text, 'x', sizeof(text));
    memcpy(text + sizeof(text) - 18, "\nDevice Minor: 0\n", 18);
    nvidia("0000:01:00.0", text);
    snprintf(text, sizeof(text), "%s\nDevice Minor: 18446744073709551617\nDevice Minor 1", uuid);
    nvidia("0000:02:00.0", text);
    dump_file("sys/bus/pci/devices/0000:81:00.0/unique_id", "0000000000000000");
    render("renderD1x", "0000:82:00.0");
    render("renderD", "0000:82:00.0");
    render("renderD4294967296", "0000:82:00.0");
    memset(text, 'x', 600);
    memcpy(text + 600, "/0000:82:00.0", 14);
    dump_link("sys/class/drm/renderD131", text);
    render("renderD132", "0000:83:00.0");
    assert_int_equal(nuioa_gpu_devices_read(&node, dump_path, d), 0);
    for (unsigned i = 0; i < 4; i++) {
        assert_string_equal(d[i].file, "");
        assert_string_equal(d[i].uuid, "");
    }
}

TEST(test_nothing)
{
    struct nuioa_gpu_device d[4];
    struct nuioa_node other = node;
    memset(d, 'x', sizeof(d));
    assert_int_equal(nuioa_gpu_devices_read(&node, "/nowhere", d), 0);
    assert_string_equal(d[3].file, "");
    /* This machine says nothing of another one. */
    other.emulated = true;
    memset(d, 'x', sizeof(d));
    assert_int_equal(nuioa_gpu_devices_read(&other, "", d), 0);
    assert_string_equal(d[0].file, "");
    assert_string_equal(d[0].uuid, "");
}
