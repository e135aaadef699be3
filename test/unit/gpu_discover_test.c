/* SPDX-License-Identifier: BSD-3-Clause */
#include "dump.h"
#include "file.h"
#include "machine.h"
#include "topology/node_load.h"
#include "topology/pci_path.h"
#include "unit.h"

/* What of each GPU of gpu-paths.xml was found by hand. */
TEST(test_paths)
{
    static const struct {
        const char *pci;
        enum nuioa_gpu_vendor vendor;
        uint32_t model;
        enum nuioa_path to[2]; /* to mlx5_0 and mlx5_1 */
    } expected[] = {
        { "0000:14:00.0", NUIOA_GPU_NVIDIA, 0x10de20b0, { NUIOA_PATH_PIX, NUIOA_PATH_SYS } },
        { "0000:17:00.0", NUIOA_GPU_NVIDIA, 0x10de20b0, { NUIOA_PATH_PXB, NUIOA_PATH_SYS } },
        { "0000:1d:00.0", NUIOA_GPU_AMD, 0x100274a1, { NUIOA_PATH_PHB, NUIOA_PATH_SYS } },
        { "0000:21:00.0", NUIOA_GPU_INTEL, 0x80860bd5, { NUIOA_PATH_NODE, NUIOA_PATH_SYS } },
        { "0000:22:00.0", NUIOA_GPU_OTHER, 0x1af41050, { NUIOA_PATH_NODE, NUIOA_PATH_SYS } },
        { "0000:81:00.1", NUIOA_GPU_NVIDIA, 0x10de20b8, { NUIOA_PATH_SYS, NUIOA_PATH_PIX } },
        { "0000:f0:00.0", NUIOA_GPU_NVIDIA, 0x10de20b0, { 0, 0 } },
        { "0001:01:00.0", NUIOA_GPU_AMD, 0x100274a0, { NUIOA_PATH_SYS, NUIOA_PATH_NODE } },
    };
    struct nuioa_node *node = machine_load("gpu-paths", NULL);
    assert_int_equal(node->gpu_count, 8);
    assert_int_equal(node->nic_count, 2);
    for (uint32_t g = 0; g < 8; g++) {
        assert_string_equal(node->gpus[g].pci, expected[g].pci);
        assert_int_equal(node->gpus[g].vendor, expected[g].vendor);
        assert_int_equal(node->gpus[g].model, expected[g].model);
        for (uint32_t n = 0; n < 2; n++)
            assert_int_equal(nuioa_path_at(node, g, n), expected[g].to[n]);
    }
}

/* Without GPUs there are no paths. */
TEST(test_no_gpu)
{
    struct nuioa_node *node = machine_load("infiniband", NULL);
    assert_int_equal(node->gpu_count, 0);
    assert_null(node->paths);
    assert_int_equal(nuioa_path_at(node, 0, 0), NUIOA_PATH_UNKNOWN);
}

/* A display is a GPU if the kernel has made a render node for it. */
TEST(test_render_node)
{
    dump_make();
    dump_pci("0000:01:00.0", "0x030000 0x1a03 0x2000");
    dump_pci("0000:02:00.0", "0x030000 0x1af4 0x1050");
    dump_pci("0000:81:00.0", "0x030000 0x1af4 0x1050");
    dump_link("sys/class/drm/card0", "../../devices/pci/0000:01:00.0/drm/card0");
    dump_link("sys/class/drm/renderD129", "../../devices/pci/0000:81:00.0/virtio1/drm/renderD129");
    struct nuioa_node *node = machine_load(dump_path, NULL);
    assert_int_equal(node->gpu_count, 1);
    assert_string_equal(node->gpus[0].pci, "0000:81:00.0");
    assert_int_equal(node->gpus[0].vendor, NUIOA_GPU_OTHER);
    assert_true(hwloc_bitmap_isset(node->gpus[0].numas, 1));
}

/* A VGA is what the screen hangs from, where the node has GPUs without a display; the runtimes of
 * its vendor count it all the same. Where all GPUs are VGAs, programs compute on them. */
TEST(test_display_adapter)
{
    dump_make();
    dump_pci("0000:01:00.0", "0x030200 0x10de 0x20b0");
    dump_pci("0000:02:00.0", "0x030000 0x10de 0x1fb0");
    dump_pci("0000:03:00.0", "0x030200 0x10de 0x20b0");
    dump_pci("0000:04:00.0", "0x030000 0x15ad 0x0405"); /* of a virtual machine */
    dump_pci("0000:05:00.0", "0x038000 0x1002 0x7408");
    dump_link("sys/class/drm/renderD128", "../../devices/pci/0000:04:00.0/drm/renderD128");
    struct nuioa_node *node = machine_load(dump_path, NULL);
    assert_int_equal(node->gpu_count, 3);
    assert_string_equal(node->gpus[0].pci, "0000:01:00.0");
    assert_string_equal(node->gpus[1].pci, "0000:03:00.0");
    assert_string_equal(node->gpus[2].pci, "0000:05:00.0");
    assert_int_equal(node->gpus[0].model | node->gpus[1].model, 0);
    assert_int_equal(node->gpus[2].model, 0x10027408);

    dump_make();
    dump_pci("0000:01:00.0", "0x030000 0x10de 0x2684");
    dump_pci("0000:02:00.0", "0x030000 0x10de 0x1fb0");
    node = machine_load(dump_path, NULL);
    assert_int_equal(node->gpu_count, 2);
    assert_int_equal(node->gpus[0].model, 0x10de2684);

    /* One model of AMD is a VGA where it has the firmware for it, and none elsewhere. */
    dump_make();
    dump_pci("0000:01:00.0", "0x030200 0x10de 0x20b0");
    dump_pci("0000:02:00.0", "0x030000 0x10de 0x20b0");
    node = machine_load(dump_path, NULL);
    assert_int_equal(node->gpu_count, 2);
}

/* The XML of a display of AMD's of class VGA, which hwloc's backend for OpenCL or for RSMI knows or
 * not. Returns how many GPUs the node then has beside the four of NVIDIA in gpu-paths.xml. */
static unsigned displays_of_amd(const char *link_speed, const char *backend_device)
{
    static const char accelerator[] =
        "pci_link_speed=\"15.750000\" pci_type=\"1200 [1002:74a1] [1002:74a1] 00\"/>";
    char *text = file_text(file_of_sources("../topologies/gpu-paths.xml")), changed[65536];
    char *at = strstr(text, accelerator);
    assert_non_null(at);
    /* Beside GPUs without a display it would be none: those of NVIDIA get one, others go. */
    for (char *type = text; (type = strstr(type, "pci_type=\"")); type += 12)
        if (type < at || type > at + strlen(accelerator))
            if (!strncmp(type + 10, "03", 2) || !strncmp(type + 10, "12", 2))
                memcpy(type + 10, strncmp(type + 16, "10de", 4) ? "0880" : "0300", 4);
    int length = snprintf(
        changed, sizeof(changed),
        "%.*spci_link_speed=\"%s\" pci_type=\"0300 [1002:515e] [1002:515e] 00\">%s</object>%s",
        (int)(at - text), text, link_speed, backend_device, at + strlen(accelerator));
    assert_in_range(length, 1, sizeof(changed) - 1);
    struct nuioa_node *node = machine_load(file_new(changed, (size_t)length), NULL);
    unsigned count = node->gpu_count;
    assert_string_equal(node->gpus[2].pci, count == 5 ? "0000:1d:00.0" : "0000:81:00.1");
    return count - 4;
}

/* A display of a management processor has no PCI Express link. A display that OpenCL or RSMI can
 * compute with is a GPU all the same. */
TEST(test_displays_of_amd)
{
    static const char disk[] =
        "<object type=\"OSDev\" gp_index=\"900\" name=\"x\" osdev_type=\"0\"/>";
    static const char rsmi[] =
        "<object type=\"OSDev\" gp_index=\"901\" name=\"rsmi0\" osdev_type=\"5\"/>";
    char both[256];
    snprintf(both, sizeof(both), "%s%s", disk, rsmi);
    assert_int_equal(displays_of_amd("0.000000", ""), 0);
    assert_int_equal(displays_of_amd("0.000000", disk), 0);
    assert_int_equal(displays_of_amd("0.000000", both), 1);
    assert_int_equal(displays_of_amd("15.750000", ""), 1);
}

/* A bridge between PCI buses, of which hwloc reads the configuration space. */
static void add_bridge(const char *busid, int bus, int last)
{
    const unsigned char primary = (unsigned char)strtoul(busid + 5, NULL, 16);
    unsigned char config[64] = { 0x86, 0x80, 0x7a, 0x34, [0x0b] = 0x06, [0x0a] = 0x04 };
    char path[200];
    config[0x0e] = 1;
    config[0x18] = primary;
    config[0x19] = (unsigned char)bus;
    config[0x1a] = (unsigned char)last;
    dump_pci(busid, "0x060400 0x8086 0x347a");
    snprintf(path, sizeof(path), "%s/sys/devices/pci/%s/config", dump_path, busid);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(config, 1, sizeof(config), file), sizeof(config));
    assert_int_equal(fclose(file), 0);
}

/* As on a machine that runs: hwloc keeps all bridges that have something below them. */
TEST(test_switches)
{
    dump_make();
    add_bridge("0000:80:01.0", 0x81, 0x86); /* root port */
    add_bridge("0000:81:00.0", 0x82, 0x86); /* upstream port of a switch */
    add_bridge("0000:82:00.0", 0x83, 0x83); /* its downstream ports */
    add_bridge("0000:82:01.0", 0x84, 0x84);
    add_bridge("0000:82:02.0", 0x85, 0x86);
    add_bridge("0000:85:00.0", 0x86, 0x86);
    add_bridge("0000:80:02.0", 0x88, 0x88); /* another root port */
    dump_pci("0000:83:00.0", "0x020000 0x15b3 0x101d");
    dump_net("0000:83:00.0", "eth0", "02:00:00:00:00:01", "up", "100000");
    dump_pci("0000:84:00.0", "0x030200 0x10de 0x2330");
    dump_pci("0000:86:00.0", "0x030200 0x10de 0x2330");
    dump_pci("0000:88:00.0", "0x030200 0x10de 0x2330");
    dump_pci("0000:01:00.0", "0x030200 0x10de 0x2330");
    struct nuioa_node *node = machine_load(dump_path, NULL);
    assert_int_equal(node->gpu_count, 4);
    assert_int_equal(node->nic_count, 1);
    assert_int_equal(nuioa_path_at(node, 0, 0), NUIOA_PATH_SYS);
    assert_int_equal(nuioa_path_at(node, 1, 0), NUIOA_PATH_PIX);
    assert_int_equal(nuioa_path_at(node, 2, 0), NUIOA_PATH_PXB);
    assert_int_equal(nuioa_path_at(node, 3, 0), NUIOA_PATH_PHB);
}

/* The host bridge of 0000:f0 says nothing: the device may know its NUMA node itself. */
TEST(test_own_numa_node)
{
    for (int knows = 0; knows < 2; knows++) {
        dump_make();
        dump_pci("0000:f0:00.0", "0x030200 0x10de 0x2330");
        dump_pci("0000:81:00.0", "0x020000 0x15b3 0x101d");
        dump_net("0000:81:00.0", "eth0", "02:00:00:00:00:01", "up", "100000");
        if (knows)
            dump_file("sys/devices/pci/0000:f0:00.0/numa_node", "1");
        struct nuioa_node *node = machine_load(dump_path, NULL);
        assert_int_equal(node->gpu_count, 1);
        assert_int_equal(hwloc_bitmap_first(node->gpus[0].numas), knows ? 1 : -1);
        assert_int_equal(hwloc_bitmap_first(node->gpus[0].cpus), knows ? 2 : -1);
        assert_int_equal(nuioa_path_at(node, 0, 0), knows ? NUIOA_PATH_NODE : NUIOA_PATH_UNKNOWN);
    }
}

TEST(test_names)
{
    assert_string_equal(nuioa_path_name(NUIOA_PATH_PIX), "PIX");
    assert_string_equal(nuioa_path_name(NUIOA_PATH_SYS), "SYS");
    assert_null(nuioa_path_name(NUIOA_PATH_UNKNOWN));
    assert_string_equal(nuioa_gpu_vendor_name(NUIOA_GPU_OTHER), "other");
    assert_string_equal(nuioa_gpu_vendor_name(NUIOA_GPU_NVIDIA), "nvidia");
    assert_true(nuioa_path_shorter(NUIOA_PATH_PIX, NUIOA_PATH_PXB));
    assert_true(nuioa_path_shorter(NUIOA_PATH_SYS, NUIOA_PATH_UNKNOWN));
    assert_false(nuioa_path_shorter(NUIOA_PATH_UNKNOWN, NUIOA_PATH_PIX));
    assert_false(nuioa_path_shorter(NUIOA_PATH_PHB, NUIOA_PATH_PHB));
}
