/* SPDX-License-Identifier: BSD-3-Clause */
#include <numa.h>
#include <numaif.h>

#include "tools/probe/latency.h"
#include "tools/probe/measure.h"
#include "unit.h"

/* Files of measured latencies that are wrong. */

static const struct {
    const char *text, *wanted;
} bad[] = {
    { "", "x: no matrix in it" },
    { "# nothing\n\n", "x: no matrix in it" },
    { "0 1\n1", "x:2: not as many numbers" },
    { "0 1\n1 0 1", "x:2: not as many numbers" },
    { "0 1\n\n1 0\n0 1", "x:4: more rows" },
    { "0 1 2\n1 0 2\n", "x:3: fewer rows" },
    { "0 1\n1 zero", "x:2: expected numbers" },
    { "0 nan\n1 0", "x:1: expected numbers" },
    { "0 inf\n1 0", "x:1: expected numbers" },
    { "0 1e999\n1 0", "x:1: expected numbers" },
    { "0 --1\n1 0", "x:1: expected numbers" },
    { "0 0x10\n1 0", "x:1: expected numbers" },
    { "0 1000001\n1 0", "x:1: expected numbers" },
    { "0 1\n1 80", "x: the diagonal must be all zeros" },
    { "-5 1\n1 -5", "x: row 0: a local access of less than 0" },
};

TEST(test_bad_files)
{
    for (size_t t = 0; t < sizeof(bad) / sizeof(*bad); t++) {
        char text[64];
        struct nuioa_latency latency;
        struct nuioa_error err = { "" };
        strcpy(text, bad[t].text);
        assert_int_equal(nuioa_latency_parse(&latency, "x", text, strlen(text), &err), -EINVAL);
        if (strncmp(err.text, bad[t].wanted, strlen(bad[t].wanted)))
            fail_msg("'%s' says '%s'", bad[t].text, err.text);
        assert_null(latency.over_ns);
    }
    struct nuioa_latency latency;
    struct nuioa_error err = { "" };
    char binary[] = "0 1\n1\0 0";
    assert_int_equal(nuioa_latency_parse(&latency, "x", binary, sizeof(binary) - 1, &err), -EINVAL);
    assert_string_equal(err.text, "x: not a text file");
    assert_int_equal(nuioa_latency_read(&latency, "/no/such/file", &err), -ENOENT);
    assert_true(nuioa_latency_read(&latency, "/", &err) < 0);
}

/* A kernel that binds memory, and takes it from the wrong NUMA node. */
long mbind(void *start, unsigned long length, int mode, const unsigned long *mask,
           unsigned long bits, unsigned flags)
{
    (void)start, (void)length, (void)mode, (void)mask, (void)bits, (void)flags;
    return 0;
}

int numa_move_pages(int pid, unsigned long count, void **pages, const int *nodes, int *status,
                    int flags)
{
    (void)pid, (void)count, (void)pages, (void)nodes, (void)flags;
    *status = 1;
    return 0;
}

TEST(test_wrong_memory)
{
    struct probe_buffer buffer;
    struct nuioa_error err;
    assert_int_equal(probe_buffer_open(&buffer, 65536, 0, &err), -EIO);
    assert_string_equal(err.text, "memory bound to NUMA node 0 came from another");
    assert_null(buffer.map);
}
