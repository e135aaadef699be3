/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/common/hosts.h"
#include "spank/report/wire.h"
#include "unit.h"

/* As Slurm writes them. */
TEST(test_find)
{
    static const struct {
        const char *list, *host;
        int position;
    } cases[] = {
        { "n1", "n1", 0 },
        { "login,n1", "n1", 1 },
        { "n[1-3],m7", "n3", 2 },
        { "n[1-3],m7", "m7", 3 },
        { "n[1-3],m7", "m8", -ENOENT },
        { "n[1-3,7,9-11]", "n10", 5 },
        { "n[08-11]", "n08", 0 },
        { "n[08-11]", "n11", 3 },
        { "n[08-11]", "n8", -ENOENT },
        { "n[08-11]", "n011", -ENOENT },
        { "n[8-11]", "n08", -ENOENT },
        { "n[098-101]", "n100", 2 },
        { "n1[0-5]", "n13", 3 },
        { "n[1-3]", "n", -ENOENT },
        { "n[1-3]", "n2x", -ENOENT },
        { "rack-1-n[1-3],rack-2-n[1-3]", "rack-2-n2", 4 },
        { "n[1-3],n[2-4]", "n2", 1 },
        { "nn[1-3],n[1-3]", "n2", 4 },
        { "n[0-65535]", "n65535", 65535 },
        { "n[4294967290-4294967295]", "n4294967295", 5 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (hosts_find(cases[i].list, cases[i].host) != cases[i].position)
            fail_msg("%s in %s: %d", cases[i].host, cases[i].list,
                     hosts_find(cases[i].list, cases[i].host));
}

/* Each is refused; that this ends, and in little memory, is what the limits are for. */
TEST(test_find_hostile)
{
    static const char *const bad[] = {
        "",
        ",",
        "n1,",
        ",n1",
        "n1,,n2",
        "[1-3]",
        "n[",
        "n[1",
        "n[1-",
        "n[1-3",
        "n[]",
        "n[,]",
        "n[1,]",
        "n[-3]",
        "n[3-1]",
        "n[1--3]",
        "n[1-3]]",
        "n]",
        "n[[1-3]]",
        "n[1-3]x",
        "n[a-b]",
        "n[1-3]b[1-2]",
        "n[ 1]",
        "n[+1]",
        "n[0x1-0x3]",
        "n[1-3",
        "n[1;3]",
        "n[99999999999]",
        "n[1-4294967296]",
        "n[18446744073709551616]",
        "a[0-99999999999999999999]b[1-2]",
        "a[0-99999999999999999999]",
        "a[99999999999999999999-99999999999999999999]",
    };
    static const char *const many[] = {
        "n[0-65536]", "n[0-4294967295]", "n[0-65535],m", "n[1-32768],m[1-32768],x", "m,n[1-65536]",
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        if (hosts_find(bad[i], "n1") != -EINVAL)
            fail_msg("'%s': %d", bad[i], hosts_find(bad[i], "n1"));
    for (size_t i = 0; i < sizeof(many) / sizeof(*many); i++)
        if (hosts_find(many[i], "n1") != -E2BIG)
            fail_msg("'%s': %d", many[i], hosts_find(many[i], "n1"));
}

/* `what` again and again, and `end`. */
static char *repeat(const char *what, size_t times, const char *end)
{
    size_t length = strlen(what);
    char *text = malloc(times * length + strlen(end) + 1);
    assert_non_null(text);
    for (size_t i = 0; i < times; i++)
        memcpy(text + i * length, what, length);
    strcpy(text + times * length, end);
    return text;
}

static void expect(int rc, const char *what, size_t times, const char *end)
{
    char *text = repeat(what, times, end);
    if (hosts_find(text, "n1") != rc)
        fail_msg("'%s' %zu times: %d", what, times, hosts_find(text, "n1"));
    free(text);
}

TEST(test_find_long)
{
    expect(WIRE_NODES_MAX - 1, "m,", WIRE_NODES_MAX - 1, "n1");
    expect(-E2BIG, "m,", WIRE_NODES_MAX, "n1");
    expect(-E2BIG, "m[1-2],", WIRE_NODES_MAX, "n1");
    expect(-E2BIG, "x", HOSTS_LIST_MAX + 1, "");
    expect(-ENOENT, "x", HOSTS_LIST_MAX, "");
    expect(-EINVAL, "[", 1000000, "");
    expect(-EINVAL, "n[", 1000000, "");
    expect(-EINVAL, "n[1],", 1000, "");
    expect(-EINVAL, "n[0000000000", 100000, "");
    char *zeros = repeat("0", 1000000, "");
    assert_int_equal(hosts_find("n[0-3]", zeros), -ENOENT);
    zeros[0] = 'n';
    assert_int_equal(hosts_find("n[0-3]", zeros), -ENOENT);
    free(zeros);
}

/* Whatever bytes come: a position below the number of names, or a refusal. */
TEST(test_find_random)
{
    static const char alphabet[] = "n10239[]-,,xn[]";
    srand(1);
    for (int round = 0; round < 200000; round++) {
        char text[24];
        size_t length = (size_t)rand() % sizeof(text);
        for (size_t i = 0; i < length; i++)
            text[i] = alphabet[(size_t)rand() % (sizeof(alphabet) - 1)];
        text[length ? length - 1 : 0] = '\0';
        int rc = hosts_find(text, "n1");
        assert_true(rc < WIRE_NODES_MAX &&
                    (rc >= 0 || rc == -EINVAL || rc == -E2BIG || rc == -ENOENT));
    }
}

TEST(test_tasks)
{
    uint32_t before, there;
    assert_int_equal(hosts_tasks("1(x2),3", 0, &before, &there), 0);
    assert_int_equal(before, 0);
    assert_int_equal(there, 1);
    assert_int_equal(hosts_tasks("1(x2),3", 1, &before, &there), 0);
    assert_int_equal(before, 1);
    assert_int_equal(hosts_tasks("1(x2),3", 2, &before, &there), 0);
    assert_int_equal(before, 2);
    assert_int_equal(there, 3);
    assert_int_equal(hosts_tasks("4096(x65536)", 65535, &before, &there), 0);
    assert_int_equal(before, 4096 * 65535);
}

TEST(test_tasks_hostile)
{
    static const char *const bad[] = {
        "",
        ",",
        "1,",
        "1(x2)",
        "1(x2),",
        "1(",
        "1(x",
        "1(x)",
        "1(x2",
        "1(x2)3,4",
        "1(y2),1,1",
        "x",
        "-1,1,1",
        "1x2",
        "4097,1,1",
        "1(x65537),1",
        "16777216(x16777216),1",
        "1(x0),1,1",
        "1(x4294967296),1,1",
        "1(x18446744073709551617),1,1",
    };
    uint32_t before = 7, there = 7;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        if (hosts_tasks(bad[i], 2, &before, &there) != -EINVAL)
            fail_msg("'%s' was read", bad[i]);
    assert_int_equal(hosts_tasks("1(x65536),1", 65536, &before, &there), -EINVAL);
    char *text = repeat("1,", 1000000, "1");
    assert_int_equal(hosts_tasks(text, 999999, &before, &there), -EINVAL);
    free(text);
    assert_int_equal(before, 7);
    assert_int_equal(there, 7);
}
