/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "dump.h"
#include "file.h"
#include "leak_check.h"
#include "topology/cache.h"
#include "topology/fingerprint.h"
#include "topology/node_serialize.h"
#include "unit.h"

enum { DEADLINE_MS = 30000 };

static const char *directory;
static char path[128], link_path[128];

static int make_directory(void **state)
{
    (void)state;
    directory = file_directory();
    snprintf(path, sizeof(path), "%s/n1.cache", directory);
    snprintf(link_path, sizeof(link_path), "%s/link", directory);
    return 0;
}

static void write_cache(const char *distances)
{
    struct nuioa_node node;
    struct nuioa_error err = { "" };
    assert_int_equal(nuioa_node_load(&node, NULL, NULL), 0);
    if (nuioa_cache_write(path, &node, distances, &err))
        print_error("%s\n", err.text);
    assert_string_equal(err.text, "");
    nuioa_node_free(&node);
}

static int read_cache(const char *distances)
{
    struct nuioa_node node;
    struct nuioa_error err = { "" };
    int rc = nuioa_cache_read(path, distances, &node, &err);
    if (rc)
        assert_string_not_equal(err.text, "");
    else
        nuioa_node_free(&node);
    return rc;
}

/* --- reading and writing ---------------------------------------------------------------------- */

TEST_WITHIN(test_write_read, make_directory, NULL)
{
    struct nuioa_node node, kept;
    struct stat st;
    void *a, *b;
    size_t a_length, b_length;
    assert_int_equal(read_cache(NULL), -ENOENT);
    mode_t mask = umask(0077);
    write_cache(NULL);
    assert_int_equal(umask(mask), 0077);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0644); /* whatever the umask */
    assert_int_equal(files_in(directory), 3);   /* with "." and "..": nothing temporary stays */
    /* one description, not two: the memory of a virtual machine can change between them */
    assert_int_equal(nuioa_node_load(&node, NULL, NULL), 0);
    assert_int_equal(nuioa_cache_write(path, &node, NULL, NULL), 0);
    assert_int_equal(nuioa_cache_read(path, NULL, &kept, NULL), 0);
    assert_int_equal(nuioa_node_serialize(&node, &a, &a_length), 0);
    assert_int_equal(nuioa_node_serialize(&kept, &b, &b_length), 0);
    assert_int_equal(a_length, b_length);
    assert_memory_equal(a, b, a_length);
    free(a);
    free(b);
    nuioa_node_free(&node);
    nuioa_node_free(&kept);
    write_cache(NULL); /* over the old one */
    assert_int_equal(read_cache(NULL), 0);
}

static void flip(off_t at)
{
    unsigned char byte;
    int fd = open(path, O_RDWR);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= 1;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

/* Magic, boot id, host, fingerprint, distance file, packed node: lib/topology/cache.c. */
TEST_WITHIN(test_stale, make_directory, NULL)
{
    static const struct {
        off_t at;
        int rc;
        bool former; /* it is of this boot and host all the same */
    } cases[] = {
        { 0, -EINVAL, false },   { 8, -ESTALE, false },   { 8 + 35, -ESTALE, false },
        { 48, -ESTALE, false },  { 112, -ESTALE, true },  { 120, -ESTALE, true },
        { 128, -EINVAL, false }, { 136, -ESTALE, false }, { 184, -EINVAL, false },
        { 250, -EINVAL, false },
    };
    struct nuioa_node node;
    struct nuioa_error err;
    write_cache(NULL);
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        flip(cases[i].at);
        int rc = read_cache(NULL);
        if (rc != cases[i].rc)
            fail_msg("byte %ld: %d", (long)cases[i].at, rc);
        assert_int_equal(nuioa_cache_read_former(path, &node, &err), cases[i].former ? 0 : rc);
        nuioa_node_free(&node);
        flip(cases[i].at);
        assert_int_equal(read_cache(NULL), 0);
    }
    assert_int_equal(truncate(path, 1 << 30), 0); /* refused by its size, before it is read */
    assert_int_equal(nuioa_cache_read(path, NULL, &node, &err), -EINVAL);
    assert_non_null(strstr(err.text, "not a nuioa cache"));
    assert_int_equal(truncate(path, 300), 0);
    assert_int_equal(read_cache(NULL), -EINVAL);
    assert_int_equal(truncate(path, 10), 0);
    assert_int_equal(read_cache(NULL), -EINVAL);
    assert_int_equal(truncate(path, 0), 0);
    assert_int_equal(read_cache(NULL), -EINVAL);
}

TEST_WITHIN(test_other_distances, make_directory, NULL)
{
    const char *site = link_path; /* any file of ours */
    file_write(site, "nuioa-distances 1\n");
    write_cache(site);
    assert_int_equal(read_cache(site), 0);
    assert_int_equal(read_cache(NULL), -ESTALE);
    assert_int_equal(read_cache("/etc/passwd"), -ESTALE);
    file_write(site, "nuioa-distances 1\n# edited since\n");
    assert_int_equal(read_cache(site), -ESTALE);
    write_cache(NULL);
    assert_int_equal(read_cache(site), -ESTALE);
}

TEST_WITHIN(test_fingerprint, make_directory, NULL)
{
    uint64_t before = nuioa_fingerprint("");
    write_cache(NULL);
    assert_int_equal(nuioa_fingerprint(""), before);
    setenv("HWLOC_PCI_LOCALITY", "0000:00 0x1", 1);
    assert_int_not_equal(nuioa_fingerprint(""), before);
    assert_int_equal(read_cache(NULL), -ESTALE);
    unsetenv("HWLOC_PCI_LOCALITY");
    assert_int_equal(nuioa_fingerprint(""), before);
    assert_int_equal(read_cache(NULL), 0);
}

TEST_WITHIN(test_fingerprint_of_devices, make_directory, NULL)
{
    dump_make();
    dump_pci("0000:81:00.0", "0x020000 0x8086 0x1521");
    dump_net("0000:81:00.0", "eth0", "02:00:00:00:00:01", "up", "1000");
    uint64_t before = nuioa_fingerprint(dump_path);
    /* what changes while jobs run */
    dump_file("sys/devices/pci/0000:81:00.0/net/eth0/operstate", "down");
    dump_net(NULL, "veth12", "02:00:00:00:00:02", "up", "10000");
    assert_int_equal(nuioa_fingerprint(dump_path), before);
    static const struct {
        const char *file, *text, *before;
    } changes[] = { { "sys/devices/pci/0000:81:00.0/numa_node", "0", "1" },
                    { "sys/devices/system/cpu/online", "0-2", "0-3" },
                    { "sys/devices/system/node/online", "0", "0-1" } };
    for (unsigned i = 0; i < 3; i++) {
        dump_file(changes[i].file, changes[i].text);
        assert_int_not_equal(nuioa_fingerprint(dump_path), before);
        dump_file(changes[i].file, changes[i].before);
        assert_int_equal(nuioa_fingerprint(dump_path), before);
    }
    dump_pci("0000:82:00.0", "0x020700 0x15b3 0x101b");
    dump_verbs("0000:82:00.0", "mlx5_0", 1, "InfiniBand", "4: ACTIVE", "100 Gb/sec",
               "fe80:0000:0000:0000");
    assert_int_not_equal(nuioa_fingerprint(dump_path), before);
}

/* A GPU may be known by its render node only, which comes when its driver is loaded. */
TEST_WITHIN(test_fingerprint_of_gpus, make_directory, NULL)
{
    char old[128], new[128];
    dump_make();
    dump_pci("0000:81:00.0", "0x030000 0x1af4 0x1050");
    uint64_t before = nuioa_fingerprint(dump_path);
    dump_link("sys/class/drm/card0", "../../devices/pci/0000:81:00.0/drm/card0");
    assert_int_equal(nuioa_fingerprint(dump_path), before);
    dump_link("sys/class/drm/renderD128", "../../devices/pci/0000:81:00.0/drm/renderD128");
    uint64_t with = nuioa_fingerprint(dump_path);
    assert_int_not_equal(with, before);
    /* Its number changes when the driver is loaded again. */
    snprintf(old, sizeof(old), "%s/sys/class/drm/renderD128", dump_path);
    snprintf(new, sizeof(new), "%s/sys/class/drm/renderD129", dump_path);
    assert_int_equal(unlink(old), 0);
    assert_int_equal(symlink("../../devices/pci/0000:81:00.0/drm/renderD129", new), 0);
    assert_int_equal(nuioa_fingerprint(dump_path), with);
}

/* --- what root may believe -------------------------------------------------------------------- */

TEST_WITHIN(test_modes, make_directory, NULL)
{
    write_cache(NULL);
    static const mode_t bad[] = { 0666, 0664, 0646, 0602 };
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(chmod(path, bad[i]), 0);
        assert_int_equal(read_cache(NULL), -EPERM);
    }
    assert_int_equal(chmod(path, 0644), 0);
    static const struct {
        mode_t mode;
        int rc;
    } directories[] = { { 0777, -EPERM }, { 0775, -EPERM }, { 01777, 0 },
                        { 01775, 0 },     { 0755, 0 },      { 0700, 0 } };
    for (unsigned i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
        struct nuioa_node node;
        assert_int_equal(chmod(directory, directories[i].mode), 0);
        assert_int_equal(read_cache(NULL), directories[i].rc);
        /* nor is anything written there */
        assert_int_equal(nuioa_node_load(&node, NULL, NULL), 0);
        assert_int_equal(nuioa_cache_write(path, &node, NULL, NULL), directories[i].rc);
        nuioa_node_free(&node);
    }
}

TEST_WITHIN(test_no_links, make_directory, NULL)
{
    struct nuioa_node node;
    write_cache(NULL);
    assert_int_equal(symlink(path, link_path), 0);
    assert_int_equal(nuioa_cache_read(link_path, NULL, &node, NULL), -EPERM);
    /* writing replaces the link, not what it points to */
    assert_int_equal(nuioa_node_load(&node, NULL, NULL), 0);
    assert_int_equal(unlink(link_path), 0);
    assert_int_equal(symlink("/nonexistent/target", link_path), 0);
    assert_int_equal(nuioa_cache_write(link_path, &node, NULL, NULL), 0);
    nuioa_node_free(&node);
    struct stat st;
    assert_int_equal(lstat(link_path, &st), 0);
    assert_true(S_ISREG(st.st_mode));
}

/* None may block the reader either. */
TEST_WITHIN(test_no_special_files, make_directory, NULL)
{
    struct nuioa_node node;
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(read_cache(NULL), -EPERM);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(nuioa_cache_read(directory, NULL, &node, NULL), -EPERM);
    assert_int_equal(nuioa_cache_read("/dev/zero", NULL, &node, NULL), -EPERM);
}

TEST_WITHIN(test_owner, make_directory, NULL)
{
    if (geteuid()) {
        print_message("# only root can give a file away\n");
        skip();
    }
    write_cache(NULL);
    assert_int_equal(chown(path, 12345, (gid_t)-1), 0);
    assert_int_equal(read_cache(NULL), -EPERM);
    assert_int_equal(chown(path, 0, (gid_t)-1), 0);
    assert_int_equal(read_cache(NULL), 0);
    assert_int_equal(chown(directory, 12345, (gid_t)-1), 0);
    assert_int_equal(read_cache(NULL), -EPERM);
    assert_int_equal(chown(directory, 0, (gid_t)-1), 0);
    /* somebody else may read what is root's, and owns what he writes */
    assert_int_equal(chmod(directory, 01777), 0);
    assert_int_equal(seteuid(12345), 0);
    int foreign = read_cache(NULL);
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(foreign, 0);
}

/* --- what a launch calls ---------------------------------------------------------------------- */

static void get(unsigned deadline_ms, unsigned warnings)
{
    struct nuioa_node node;
    struct nuioa_error err = { "" };
    if (nuioa_cache_get(path, NULL, deadline_ms, &node, &err))
        print_error("%s\n", err.text);
    assert_string_equal(err.text, "");
    assert_true(node.pu_count > 0);
    if (node.warnings.count != warnings)
        print_error("%s\n", node.warnings.text[0]);
    assert_int_equal(node.warnings.count, warnings);
    nuioa_node_free(&node);
}

TEST_WITHIN(test_get, make_directory, NULL)
{
    struct leak_check before = leak_check_begin();
    get(DEADLINE_MS, 0); /* discovers, and keeps it */
    leak_check_end(&before);
    get(0, 0); /* no time for a discovery */
    flip(8);   /* another boot */
    get(DEADLINE_MS, 0);
    get(0, 0);
    flip(250);
    get(DEADLINE_MS, 1); /* damaged: said once, then replaced */
    get(0, 0);
    assert_int_equal(chmod(path, 0666), 0);
    get(DEADLINE_MS, 1);
    get(0, 0);
    assert_int_equal(chmod(directory, 0777), 0);
    get(DEADLINE_MS, 1); /* neither read nor kept, for one cause */
    leak_check_end(&before);
}

TEST_WITHIN(test_get_late, make_directory, NULL)
{
    struct nuioa_node node, empty;
    struct nuioa_error err = { "" };
    struct leak_check before = leak_check_begin();
    memset(&empty, 0, sizeof(empty));
    assert_int_equal(nuioa_cache_get(path, NULL, 0, &node, &err), -ETIMEDOUT);
    assert_non_null(strstr(err.text, "0 ms"));
    assert_memory_equal(&node, &empty, sizeof(node));
    leak_check_end(&before);
    assert_int_equal(access(path, F_OK), -1);
}

/* Described in the child as well, never kept, and believed only if nobody else can change it. */
TEST_WITHIN(test_get_emulated, make_directory, NULL)
{
    struct nuioa_node node;
    struct nuioa_error err = { "" };
    struct nuioa_source source = { .topology = link_path };
    struct leak_check before = leak_check_begin();
    file_write(link_path, file_text(file_of_sources("../topologies/quad.xml")));
    assert_int_equal(chmod(link_path, 0644), 0);
    assert_int_equal(nuioa_cache_get(path, &source, DEADLINE_MS, &node, &err), 0);
    assert_true(node.emulated);
    assert_int_equal(node.numa_count, 4);
    nuioa_node_free(&node);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(nuioa_cache_get(path, &source, 0, &node, &err), -ETIMEDOUT);
    assert_int_equal(chmod(link_path, 0666), 0);
    assert_int_equal(nuioa_cache_get(path, &source, DEADLINE_MS, &node, &err), -EPERM);
    source.topology = directory; /* a dump is for the command line only */
    assert_int_equal(nuioa_cache_get(path, &source, DEADLINE_MS, &node, &err), -EPERM);
    source.topology = "/nonexistent.xml";
    assert_int_equal(nuioa_cache_get(path, &source, DEADLINE_MS, &node, &err), -ENOENT);
    assert_non_null(strstr(err.text, "/nonexistent.xml"));
    source.topology = "/etc/passwd";
    assert_int_equal(nuioa_cache_get(path, &source, DEADLINE_MS, &node, &err), -EINVAL);
    leak_check_end(&before);
}

TEST_WITHIN(test_get_with_distances, make_directory, NULL)
{
    struct nuioa_node node;
    struct nuioa_source source = { .distances = link_path };
    file_write(link_path, "nuioa-distances 1\n");
    assert_int_equal(chmod(link_path, 0666), 0);
    assert_int_equal(nuioa_cache_get(path, &source, DEADLINE_MS, &node, NULL), 0);
    assert_int_equal(node.warnings.count, 1);
    assert_non_null(strstr(node.warnings.text[0], "distances not used"));
    nuioa_node_free(&node);
}

/* --- cost ------------------------------------------------------------------------------------- */

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* No limits: figures for people. */
TEST_WITHIN(test_cost, make_directory, NULL)
{
    enum { ROUNDS = 200 };
    struct nuioa_node node;
    write_cache(NULL);
    assert_int_equal(nuioa_cache_read(path, NULL, &node, NULL), 0);
    double start = now_ms();
    for (unsigned i = 0; i < ROUNDS; i++)
        nuioa_fingerprint("");
    double fingerprint = now_ms() - start;
    start = now_ms();
    for (unsigned i = 0; i < ROUNDS; i++)
        nuioa_node_refresh(&node);
    double refresh = now_ms() - start;
    unsigned nics = node.nic_count;
    nuioa_node_free(&node);
    start = now_ms();
    for (unsigned i = 0; i < ROUNDS; i++)
        get(0, 0);
    double whole = now_ms() - start;
    start = now_ms();
    assert_int_equal(nuioa_node_load(&node, NULL, NULL), 0);
    double load = now_ms() - start;
    nuioa_node_free(&node);
    print_message("# fingerprint %.0f us, refresh %.0f us (%u NICs), launch with a warm cache "
                  "%.0f us, discovery %.0f us\n",
                  fingerprint * 1e3 / ROUNDS, refresh * 1e3 / ROUNDS, nics, whole * 1e3 / ROUNDS,
                  load * 1e3);
}
