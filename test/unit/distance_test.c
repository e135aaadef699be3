/* SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include <signal.h>
#include <sys/resource.h>

#include "dump.h"
#include "file.h"
#include "leak_check.h"
#include "machine.h"
#include "topology/distance_site.h"
#include "tools/probe/distance_write.h"
#include "topology/node.h"
#include "topology/node_load.h"
#include "unit.h"

/* --- levels ----------------------------------------------------------------------------------- */

static const struct {
    uint32_t row[6];
    uint8_t level[6]; /* of row 0 */
    unsigned count;
} rows[] = {
    { { 10, 20 }, { 0, 1 }, 2 },
    { { 10, 16, 22, 22 }, { 0, 1, 2, 2 }, 4 },
    { { 10, 33, 32, 16 }, { 0, 2, 2, 1 }, 4 }, /* 32 and 33 are one distance */
    { { 10, 22, 26, 30, 34 }, { 0, 1, 2, 3, 4 }, 5 },
    { { 10, 100, 107, 114 }, { 0, 1, 1, 2 }, 4 }, /* not chained: 114 is not within 1.08 of 100 */
    { { 10, 100, 108, 109 }, { 0, 1, 1, 2 }, 4 }, /* the limit itself is inside */
    { { 10, 10, 20 }, { 0, 1, 2 }, 3 },           /* as near as local memory, but not local */
    { { 10 }, { 0 }, 1 },
};

TEST(test_levels)
{
    for (size_t t = 0; t < sizeof(rows) / sizeof(rows[0]); t++) {
        uint32_t matrix[36];
        uint8_t level[36];
        struct nuioa_distance d = { .count = rows[t].count, .matrix = matrix, .level = level };
        for (unsigned i = 0; i < d.count; i++)
            for (unsigned j = 0; j < d.count; j++)
                matrix[i * d.count + j] = i == j ? 10 : i ? 50 : rows[t].row[j];
        nuioa_distance_levels(&d, NULL);
        for (unsigned j = 0; j < d.count; j++)
            assert_int_equal(nuioa_level_at(&d, 0, j), rows[t].level[j]);
        /* rows have levels of their own */
        for (unsigned j = 0; d.count > 1 && j < d.count; j++)
            assert_int_equal(nuioa_level_at(&d, 1, j), j != 1);
    }
}

/* More classes than a level can number. */
TEST(test_many_levels)
{
    enum { COUNT = 400 };
    struct nuioa_distance d = { .count = COUNT };
    d.matrix = calloc(COUNT * COUNT, sizeof(*d.matrix));
    d.level = calloc(COUNT * COUNT, 1);
    double value = 10;
    for (unsigned j = 0; j < COUNT; j++, value *= value < 3e9 ? 1.081 : 1)
        d.matrix[j] = (uint32_t)value;
    nuioa_distance_levels(&d, NULL);
    for (unsigned j = 1; j < COUNT; j++)
        assert_true(d.level[j] >= d.level[j - 1]);
    assert_int_equal(d.level[0], 0);
    assert_true(d.level[COUNT - 1] > 200);
    free(d.matrix);
    free(d.level);
}

/* Memory without CPUs makes no level: others are as near as without it. */
TEST(test_levels_without_cpus)
{
    static const struct {
        uint32_t row[5];
        uint8_t level[5];
        unsigned bare; /* from which column on there are no CPUs */
    } wanted[] = {
        { { 10, 21, 14, 34, 22 }, { 0, 1, 1, 1, 1 }, 2 },
        { { 10, 12, 21, 13, 23 }, { 0, 1, 2, 1, 2 }, 3 },
        { { 10, 12, 21, 10, 80 }, { 0, 1, 2, 1, 2 }, 3 },
        { { 10, 13, 17, 23, 80 }, { 0, 1, 1, 1, 1 }, 1 },
    };
    for (size_t t = 0; t < sizeof(wanted) / sizeof(wanted[0]); t++) {
        struct nuioa_node node;
        uint32_t matrix[25];
        for (unsigned i = 0; i < 25; i++)
            matrix[i] = i < 5 ? wanted[t].row[i] : i % 6 ? 50 : 10;
        machine_build(&node, &(struct shape){ 5, 1, 1, 1, matrix });
        for (unsigned i = wanted[t].bare; i < 5; i++)
            hwloc_bitmap_zero(node.numas[i].cpus);
        nuioa_distance_levels(&node.distance, &node);
        assert_memory_equal(node.distance.level, wanted[t].level, 5);
        nuioa_node_free(&node);
    }
}

/* A NIC near ordinary memory and HBM has its levels from the NUMA node with CPUs. A NIC that is
 * near memory without CPUs only has levels, too. */
TEST(test_levels_from_memory)
{
    static const uint32_t matrix[] = { 10, 12, 21, 13, 12, 10, 21, 14,
                                       21, 21, 10, 23, 13, 13, 13, 10 };
    struct nuioa_node node;
    uint8_t level[4];
    machine_build(&node, &(struct shape){ 4, 1, 1, 1, matrix });
    hwloc_bitmap_zero(node.numas[3].cpus);
    nuioa_distance_levels(&node.distance, &node);
    hwloc_bitmap_t numas = hwloc_bitmap_alloc();
    hwloc_bitmap_set(numas, 3);
    nuioa_levels_from(&node.distance, &node, numas, level);
    assert_memory_equal(level, ((uint8_t[]){ 1, 1, 1, 0 }), 4);
    hwloc_bitmap_set(numas, 0);
    nuioa_levels_from(&node.distance, &node, numas, level);
    assert_memory_equal(level, ((uint8_t[]){ 0, 1, 2, 0 }), 4);
    hwloc_bitmap_free(numas);
    nuioa_node_free(&node);
}

/* --- where they come from --------------------------------------------------------------------- */

TEST(test_sources)
{
    static const struct {
        const char *topology, *source, *warning;
        uint32_t first_row[4];
    } cases[] = {
        { "laptop", "none", NULL, { 10 } },
        { "quad", "slit", NULL, { 10 } },
        { "flat-slit", "slit", "unknown beyond same/other", { 10, 20, 20, 20 } },
        { "flat-slit-graded", "structure", NULL, { 10, 12, 12, 12 } },
        { "no-slit", "structure", NULL, { 10, 12, 16, 16 } },
        { "bad-slit", "structure", "not used", { 10, 12 } },
        { "mcdram", "structure", NULL, { 10 } },
    };
    for (size_t t = 0; t < sizeof(cases) / sizeof(cases[0]); t++) {
        struct nuioa_node *node = machine_load(cases[t].topology, NULL);
        assert_string_equal(nuioa_distance_source_name(node->distance.source), cases[t].source);
        for (unsigned j = 0; j < 4 && cases[t].first_row[j]; j++)
            assert_int_equal(nuioa_distance_at(&node->distance, 0, j), cases[t].first_row[j]);
        assert_int_equal(node->warnings.count, cases[t].warning != NULL);
        if (cases[t].warning)
            assert_non_null(strstr(node->warnings.text[0], cases[t].warning));
    }
}

/* The 8-socket Opteron of the master thesis: from 5 to 0 is not as far as from 0 to 5. */
TEST(test_not_symmetric)
{
    struct nuioa_node built;
    struct nuioa_node *node = machine_load("hagrid5", NULL);
    machine_hagrid(&built, 5);
    bool differs = false;
    for (unsigned i = 0; i < 8; i++)
        for (unsigned j = 0; j < 8; j++) {
            assert_int_equal(nuioa_distance_at(&node->distance, i, j),
                             nuioa_distance_at(&built.distance, i, j));
            differs = differs || nuioa_distance_at(&node->distance, i, j) !=
                                     nuioa_distance_at(&node->distance, j, i);
        }
    assert_true(differs);
    nuioa_node_free(&built);
}

/* --- the site's file -------------------------------------------------------------------------- */

#define HEADER "nuioa-distances 1\n"
#define MACHINE "machine packages=2 numa=2 cores=4\n"
#define OTHER "machine numa=1\nnuma 0\nrow 10\n"

static const char *site_path;

static int make_site_file(void **state)
{
    (void)state;
    site_path = file_new("", 0);
    return 0;
}

static const struct {
    const char *text;
    int rc;
    uint32_t matrix[4];
    const char *says;
} sites[] = {
    { HEADER MACHINE "numa 0 1\nrow 10 30\nrow 40 10\n", 0, { 10, 30, 40, 10 }, "" },
    /* the order of the file is not that of the node */
    { HEADER MACHINE "numa 1 0\nrow 10 30\nrow 40 10\n", 0, { 10, 40, 30, 10 }, "" },
    { "# measured\n\n" HEADER "\n" MACHINE " numa 0 1 # two\nrow 10\t30\r\n\nrow 40 10",
      0,
      { 10, 30, 40, 10 },
      "" },
    /* sections of other node types around it; the first that fits counts */
    { HEADER "machine packages=1 numa=1 cores=4\nnuma 0\nrow 10\n" MACHINE
             "numa 0 1\nrow 10 30\nrow 40 10\n" MACHINE "numa 0 1\nrow 10 50\nrow 60 10\n",
      0,
      { 10, 30, 40, 10 },
      "" },
    { HEADER "machine packages=2 numa=2 cores=8\nnuma 0 1\nrow 10 30\nrow 40 10\n",
      -ENOENT,
      { 0 },
      "no section" },
    { HEADER MACHINE "numa 0 2\nrow 10 30\nrow 40 10\n", -ENOENT, { 0 }, "no section" },
    { HEADER "machine packages=2 numa=2 cores=4 model=\"Another CPU #1\"\nnuma 0 1\n"
             "row 10 30\nrow 40 10\n",
      -ENOENT,
      { 0 },
      "no section" },
    { HEADER, -ENOENT, { 0 }, "no section" },
    { "", -EINVAL, { 0 }, ":1:" },
    { "nuioa-distances 2\n", -EINVAL, { 0 }, ":1:" },
    { HEADER "numa 0 1\n", -EINVAL, { 0 }, ":2:" },
    { HEADER MACHINE "row 10 30\n", -EINVAL, { 0 }, ":3:" },
    { HEADER MACHINE "numa 0\n", -EINVAL, { 0 }, ":3:" },
    { HEADER MACHINE "numa 0 0\n", -EINVAL, { 0 }, ":3:" },
    { HEADER MACHINE "numa 0 1 2\n", -EINVAL, { 0 }, ":3:" },
    { HEADER MACHINE "numa 0 1\nrow 10 30\n", -EINVAL, { 0 }, "without all of its rows" },
    { HEADER MACHINE "numa 0 1\nrow 10 30\n" MACHINE, -EINVAL, { 0 }, ":5:" },
    { HEADER MACHINE "numa 0 1\nrow 10 30 40\n", -EINVAL, { 0 }, ":4:" },
    { HEADER MACHINE "numa 0 1\nrow 10\n", -EINVAL, { 0 }, ":4:" },
    { HEADER MACHINE "numa 0 1\nrow 10 x\n", -EINVAL, { 0 }, ":4:" },
    { HEADER MACHINE "numa 0 1\nrow 10 -5\n", -EINVAL, { 0 }, ":4:" },
    { HEADER MACHINE "numa 0 1\nrow 10 0\n", -EINVAL, { 0 }, ":4:" },
    { HEADER MACHINE "numa 0 1\nrow 10 5\n", -EINVAL, { 0 }, "nearer than local" },
    { HEADER MACHINE "numa 0 1\nrow 10 30\nrow 40 10\nrow 1 1\n", -EINVAL, { 0 }, ":6:" },
    { HEADER "machine packages=2\n", -EINVAL, { 0 }, "numa=N is missing" },
    { HEADER "machine numa=99999999\n", -EINVAL, { 0 }, ":2:" },
    { HEADER "machine numa=2 colour=4\n", -EINVAL, { 0 }, ":2:" },
    { HEADER "machine numa=2 model=\"x\n", -EINVAL, { 0 }, ":2:" },
    { HEADER "engine\n", -EINVAL, { 0 }, ":2:" },
};

TEST_WITHIN(test_site_file, make_site_file, NULL)
{
    static const struct shape shape = { 2, 2, 1, 1, NULL };
    struct nuioa_node node;
    machine_build(&node, &shape);
    nuioa_copy(node.model, sizeof(node.model), "Some CPU #1");
    for (size_t t = 0; t < sizeof(sites) / sizeof(sites[0]); t++) {
        uint32_t matrix[4] = { 0 };
        struct nuioa_error err = { "" };
        file_write(site_path, sites[t].text);
        int rc = nuioa_distance_read_site(site_path, &node, matrix, NULL, &err);
        if (rc != sites[t].rc || !strstr(err.text, sites[t].says))
            print_error("case %zu: %d %s\n%s\n", t, rc, err.text, sites[t].text);
        assert_int_equal(rc, sites[t].rc);
        assert_non_null(strstr(err.text, sites[t].says));
        assert_memory_equal(matrix, sites[t].matrix, sizeof(matrix));
    }
    assert_int_equal(nuioa_distance_read_site("/nonexistent", &node, NULL, NULL, NULL), -ENOENT);
    assert_int_equal(nuioa_distance_read_site("/dev/zero", &node, NULL, NULL, NULL), -EINVAL);
    nuioa_node_free(&node);
}

/* '#' and '=' inside the quotes belong to the model. */
TEST_WITHIN(test_site_model, make_site_file, NULL)
{
    static const struct shape shape = { 1, 2, 1, 1, NULL };
    struct nuioa_node node;
    uint32_t matrix[1] = { 0 };
    machine_build(&node, &shape);
    nuioa_copy(node.model, sizeof(node.model), "CPU #1 cores=4");
    file_write(site_path,
               HEADER "machine packages=1 numa=1 cores=2 model=\"CPU #1 cores=4\" # here\nnuma 0\n"
                      "row 10\n");
    assert_int_equal(nuioa_distance_read_site(site_path, &node, matrix, NULL, NULL), 0);
    assert_int_equal(matrix[0], 10);
    nuioa_node_free(&node);
}

/* A new section counts, wherever blanks stand in the old one: the reader takes "\r" as a blank. */
TEST_WITHIN(test_site_written, make_site_file, NULL)
{
    static const uint32_t written[4] = { 10, 77, 78, 10 };
    static const char *const before[] = { "", " \t", "\r", "\r\r " };
    struct nuioa_node node;
    struct nuioa_error err;
    machine_plain(&node, 2, 1);
    for (unsigned i = 0; i < sizeof(before) / sizeof(*before); i++) {
        uint32_t matrix[4] = { 0 };
        char text[256];
        snprintf(text, sizeof(text),
                 HEADER "%smachine\rpackages=%u numa=2 cores=%u\nnuma 0 1\nrow 10 20\nrow 20 10\n",
                 before[i], node.package_count, node.core_count);
        file_write(site_path, text);
        assert_int_equal(nuioa_distance_read_site(site_path, &node, matrix, NULL, &err), 0);
        assert_int_equal(matrix[1], 20);
        assert_int_equal(nuioa_distance_write_site(site_path, &node, written, "new", &err), 0);
        assert_int_equal(nuioa_distance_read_site(site_path, &node, matrix, NULL, &err), 0);
        assert_memory_equal(matrix, written, sizeof(matrix));
    }
    char path[PATH_MAX + 1];
    memset(path, '/', sizeof(path));
    memcpy(path, "/tmp", 4);
    strcpy(path + sizeof(path) - 6, "/name");
    assert_int_equal(nuioa_distance_write_site(path, &node, written, "", &err), -ENAMETOOLONG);
    assert_non_null(strstr(err.text, "name too long"));
    nuioa_node_free(&node);
}

/* Writes a distance file as if the disk had 4096 bytes. */
static int write_short(const char *path, const struct nuioa_node *node, struct nuioa_error *err)
{
    static const uint32_t matrix[4] = { 10, 77, 78, 10 };
    struct rlimit all, few = { .rlim_cur = 4096 };
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN); /* so that writing fails */
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &all), 0);
    few.rlim_max = all.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
    int rc = nuioa_distance_write_site(path, node, matrix, "new", err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
    signal(SIGXFSZ, handler);
    return rc;
}

/* The disk becomes full, at the end or in the midst of a section that is kept: the old file stays
 * as it is. */
TEST(test_site_without_space)
{
    static const size_t lengths[] = { 4090, 9000 };
    const char *directory = file_directory();
    char path[64], text[10000], kept[10000];
    struct nuioa_node node;
    machine_plain(&node, 2, 1);
    snprintf(path, sizeof(path), "%s/d", directory);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        struct nuioa_error err = { "" };
        memset(text, 'x', lengths[i]);
        memcpy(text, HEADER OTHER "#", strlen(HEADER OTHER "#"));
        text[lengths[i] - 1] = '\n';
        FILE *file = fopen(path, "w+");
        assert_int_equal(fwrite(text, 1, lengths[i], file), lengths[i]);
        fflush(file);
        struct leak_check before = leak_check_begin();
        assert_int_equal(write_short(path, &node, &err), -EFBIG);
        leak_check_end(&before);
        assert_non_null(strstr(err.text, "File too large"));
        assert_int_equal(files_in(directory), 3); /* with "." and ".." */
        fclose(file);
        file = fopen(path, "r");
        assert_int_equal(fread(kept, 1, sizeof(kept), file), lengths[i]);
        fclose(file);
        assert_memory_equal(kept, text, lengths[i]);
    }
    nuioa_node_free(&node);
}

/* The file overrides the firmware; one that does not fit is a warning, and the firmware counts. */
TEST_WITHIN(test_site_in_node, make_site_file, NULL)
{
    dump_make();
    file_write(site_path, HEADER MACHINE "numa 0 1\nrow 10 30\nrow 40 10\n");
    struct nuioa_node *node = machine_load(dump_path, site_path);
    assert_int_equal(node->distance.source, NUIOA_DISTANCE_SITE);
    assert_int_equal(nuioa_distance_at(&node->distance, 1, 0), 40);
    assert_int_equal(node->warnings.count, 0);
    static const char *const unfit[] = { HEADER, "nonsense\n" };
    for (unsigned i = 0; i < 2; i++) {
        file_write(site_path, unfit[i]);
        struct nuioa_node *node = machine_load(dump_path, site_path);
        assert_int_equal(node->distance.source, NUIOA_DISTANCE_SLIT);
        assert_int_equal(nuioa_distance_at(&node->distance, 1, 0), 21);
        assert_int_equal(node->warnings.count, 1);
    }
}
