/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>

#include "file.h"
#include "machine.h"
#include "rounds.h"
#include "topology/node.h"
#include "topology/node_load.h"
#include "topology/node_serialize.h"
#include "topology/pci_path.h"
#include "unit.h"

/* Where lib/topology/node_serialize.c keeps the sum and the layout: the tests repair the one and
 * change the other, or no damage would ever get past the header. */
enum { AT_VERSION = 8, AT_LAYOUT = 32, AT_LENGTH = 40, AT_SUM = 48, HEADER = 56 };

static uint64_t random_state;

/* Deterministic: a failure can be repeated. */
static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % limit;
}

static void repair(unsigned char *bytes, size_t length)
{
    uint64_t sum = 14695981039346656037u, payload = length - HEADER;
    for (size_t i = HEADER; i < length; i++)
        sum = (sum ^ bytes[i]) * 1099511628211u;
    memcpy(bytes + AT_LENGTH, &payload, sizeof(payload));
    memcpy(bytes + AT_SUM, &sum, sizeof(sum));
}

static unsigned char *pack(const struct nuioa_node *node, size_t *length)
{
    void *bytes;
    assert_int_equal(nuioa_node_serialize(node, &bytes, length), 0);
    return bytes;
}

/* Everything in it: NICs, GPUs, levels, warnings, a restricted set. */
static struct nuioa_node *build(struct nuioa_node *node)
{
    static const struct shape shape = { 4, 3, 2, 2, NULL };
    machine_build(node, &shape);
    nuioa_copy(node->host, sizeof(node->host), "n1");
    nuioa_copy(node->model, sizeof(node->model), "Some CPU");
    machine_nic(node, "mlx5_0", 1);
    machine_nic(node, "mlx5_1", 3)->port = 2;
    nuioa_nic_judge(node);
    nuioa_warn(&node->warnings, "first");
    nuioa_warn(&node->warnings, "second");
    node->cut = true;
    hwloc_bitmap_clr(node->allowed_cpus, 5);
    free(node->gpus);
    node->gpus = calloc(1, sizeof(*node->gpus));
    node->gpu_count = 1;
    nuioa_copy(node->gpus[0].pci, sizeof(node->gpus[0].pci), "0000:c1:00.0");
    node->gpus[0].numas = hwloc_bitmap_dup(node->nics[0].numas);
    node->gpus[0].cpus = hwloc_bitmap_dup(node->nics[0].cpus);
    node->gpus[0].vendor = NUIOA_GPU_AMD;
    node->gpus[0].model = 0x100274a1;
    node->paths = malloc(2);
    node->paths[0] = NUIOA_PATH_PXB;
    node->paths[1] = NUIOA_PATH_UNKNOWN;
    return node;
}

static void check_round_trip(const struct nuioa_node *node)
{
    struct nuioa_node copy;
    size_t length, again_length;
    unsigned char *bytes = pack(node, &length);
    assert_int_equal(nuioa_node_deserialize(&copy, bytes, length, NULL), 0);
    unsigned char *again = pack(&copy, &again_length);
    assert_int_equal(length, again_length);
    assert_memory_equal(bytes, again, length);
    nuioa_node_free(&copy);
    free(bytes);
    free(again);
}

TEST(test_round_trip)
{
    struct nuioa_node copy;
    size_t length;
    struct nuioa_node *node = build(machine_new());
    check_round_trip(node);
    unsigned char *bytes = pack(node, &length);
    assert_int_equal(nuioa_node_deserialize(&copy, bytes, length, NULL), 0);
    assert_string_equal(copy.model, "Some CPU");
    assert_int_equal(copy.pu_count, 24);
    assert_true(copy.cut);
    assert_memory_equal(copy.pus, node->pus, copy.pu_count * sizeof(*copy.pus));
    assert_int_equal(copy.distance.count, 4);
    assert_memory_equal(copy.distance.level, node->distance.level, 16);
    assert_string_equal(copy.nics[1].name, "mlx5_1");
    assert_int_equal(copy.nics[1].port, 2);
    assert_memory_equal(copy.nics[1].level, node->nics[1].level, 4);
    assert_true(hwloc_bitmap_isequal(copy.nics[1].cpus, node->nics[1].cpus));
    assert_true(hwloc_bitmap_isequal(copy.allowed_cpus, node->allowed_cpus));
    assert_string_equal(copy.gpus[0].pci, "0000:c1:00.0");
    assert_int_equal(copy.gpus[0].vendor, NUIOA_GPU_AMD);
    assert_int_equal(copy.gpus[0].model, 0x100274a1);
    assert_int_equal(nuioa_path_at(&copy, 0, 0), NUIOA_PATH_PXB);
    assert_int_equal(nuioa_path_at(&copy, 0, 1), NUIOA_PATH_UNKNOWN);
    assert_string_equal(copy.warnings.text[1], "second");
    free(bytes);
    nuioa_node_free(&copy);
}

TEST(test_round_trip_of_topologies)
{
    char path[700];
    const char *directory = file_of_sources("../topologies");
    unsigned count = 0;
    DIR *files = opendir(directory);
    assert_non_null(files);
    for (struct dirent *entry; (entry = readdir(files));) {
        struct nuioa_node node;
        struct nuioa_source source = { .topology = path };
        if (!strstr(entry->d_name, ".xml"))
            continue;
        snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
        assert_int_equal(nuioa_node_load(&node, &source, NULL), 0);
        check_round_trip(&node);
        nuioa_node_free(&node);
        count++;
    }
    closedir(files);
    assert_true(count > 0);
}

/* Refused, or a description in which nothing points outside; walks it, for the sanitizers. */
static int try(const unsigned char *bytes, size_t length)
{
    struct nuioa_node node, empty;
    struct nuioa_error err = { "" };
    memset(&empty, 0, sizeof(empty));
    memset(&node, 0x5a, sizeof(node));
    int rc = nuioa_node_deserialize(&node, bytes, length, &err);
    if (rc) {
        assert_memory_equal(&node, &empty, sizeof(node));
        assert_string_not_equal(err.text, "");
        return rc;
    }
    unsigned sum = 0;
    for (uint32_t i = 0; i < node.pu_count; i++) {
        assert_true(node.pus[i].core < node.core_count && node.pus[i].package < node.package_count);
        if (node.pus[i].numa >= 0)
            sum += node.numas[node.pus[i].numa].os_index;
    }
    for (uint32_t n = 0; n < node.nic_count; n++) {
        assert_null(strchr(node.nics[n].name, '/'));
        sum += (unsigned)strlen(nuioa_nic_kind_name(node.nics[n].kind));
        for (uint32_t k = 0; node.nics[n].level && k < node.numa_count; k++)
            sum += node.nics[n].level[k];
    }
    for (uint32_t g = 0; g < node.gpu_count; g++) {
        assert_null(strchr(node.gpus[g].pci, '/'));
        sum += (unsigned)strlen(nuioa_gpu_vendor_name(node.gpus[g].vendor));
        for (uint32_t n = 0; n < node.nic_count; n++)
            assert_true(nuioa_path_at(&node, g, n) < NUIOA_PATHS);
    }
    sum += nuioa_level_at(&node.distance, node.numa_count - 1, node.numa_count - 1);
    nuioa_nic_judge(&node);
    assert_true(sum < UINT32_MAX);
    check_round_trip(&node);
    nuioa_node_free(&node);
    return 0;
}

TEST(test_truncated)
{
    size_t length;
    struct nuioa_node *node = build(machine_new());
    unsigned char *bytes = pack(node, &length);
    for (size_t cut = 0; cut < length; cut++) {
        /* of exactly this size, so that a sanitizer sees a read beyond it */
        unsigned char *part = malloc(cut ? cut : 1);
        memcpy(part, bytes, cut);
        assert_int_not_equal(try(part, cut), 0);
        if (cut >= HEADER) {
            repair(part, cut);
            assert_int_not_equal(try(part, cut), 0);
        }
        free(part);
    }
    unsigned char *more = calloc(1, length + 1);
    memcpy(more, bytes, length);
    repair(more, length + 1);
    assert_int_equal(try(more, length + 1), -EINVAL);
    free(more);
    free(bytes);
}

TEST(test_header)
{
    size_t length;
    struct nuioa_node *node = build(machine_new());
    unsigned char *bytes = pack(node, &length);
    static const struct {
        size_t at;
        int rc;
    } cases[] = { { 0, -EINVAL },         { AT_VERSION, -ESTALE }, { AT_LAYOUT, -ESTALE },
                  { AT_LENGTH, -EINVAL }, { AT_SUM, -EINVAL },     { HEADER, -EINVAL } };
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bytes[cases[i].at] ^= 0x10;
        assert_int_equal(try(bytes, length), cases[i].rc);
        bytes[cases[i].at] ^= 0x10;
    }
    assert_int_equal(try(bytes, length), 0);
    free(bytes);
}

/* One flipped bit, or up to four words that would be counts gone mad. */
TEST(test_damaged)
{
    static const uint32_t mad[] = { 0,          1,         255,         65536,     1u << 18,
                                    UINT32_MAX, INT32_MAX, 0x80000000u, 0x10000001 };
    size_t length;
    unsigned accepted = 0, refused = 0;
    struct nuioa_node *node = build(machine_new());
    unsigned char *good = pack(node, &length), *bad = malloc(length);
    random_state = 1;
    for (unsigned round = 0; round < rounds(60000); round++) {
        memcpy(bad, good, length);
        unsigned changes = round % 3 == 0 ? 1 : 1 + random_below(4);
        for (unsigned i = 0; i < changes; i++) {
            size_t at = HEADER + random_below((uint32_t)(length - HEADER - 4));
            if (round % 3 == 0)
                bad[at] ^= (unsigned char)(1u << random_below(8));
            else
                memcpy(bad + (at & ~(size_t)3), &mad[random_below(9)], 4);
        }
        repair(bad, length);
        *(try(bad, length) ? &refused : &accepted) += 1;
    }
    /* both happen: the test reaches what it is for */
    assert_true(accepted > 100 && refused > 100);
    free(bad);
    free(good);
}

/* Names become parts of paths below /sys. */
TEST(test_names)
{
    static const char *const bad[] = { "../../etc", "a/b", "..", ".", "", "a\nb" };
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        size_t length;
        struct nuioa_node *node = build(machine_new());
        nuioa_copy(node->nics[0].name, sizeof(node->nics[0].name), bad[i]);
        unsigned char *bytes = pack(node, &length);
        assert_int_equal(try(bytes, length), -EINVAL);
        free(bytes);
    }
}

/* Both are indexes into arrays of names. */
TEST(test_gpus)
{
    for (unsigned i = 0; i < 2; i++) {
        size_t length;
        struct nuioa_node *node = build(machine_new());
        if (i)
            node->gpus[0].vendor = NUIOA_GPU_VENDORS;
        else
            node->paths[1] = NUIOA_PATHS;
        unsigned char *bytes = pack(node, &length);
        assert_int_equal(try(bytes, length), -EINVAL);
        free(bytes);
    }
}

/* A text that fills its field has no end. */
TEST(test_endless_text)
{
    size_t length;
    struct nuioa_node *node = build(machine_new());
    unsigned char *bytes = pack(node, &length), *name = memmem(bytes, length, "mlx5_0", 7);
    assert_non_null(name);
    memset(name, 'a', sizeof(node->nics[0].name) - 1);
    repair(bytes, length);
    assert_int_equal(try(bytes, length), 0);
    name[sizeof(node->nics[0].name) - 1] = 'a';
    repair(bytes, length);
    assert_int_equal(try(bytes, length), -EINVAL);
    free(bytes);
}
