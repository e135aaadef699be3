/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "mpi/coll/table.h"

static const char text[] = "# made by hand\n\nnuioa-coll 1  # the format\r\n"
                           "bcast 4 2 65536 chain+window:131072\n"
                           "bcast\t4-8  2-   1024 binomial+chain # small\n"
                           "bcast 2 * 0 pass\n"
                           "bcast * * 4096 flat:8192\n"
                           "gatherv * * 0 relay\n"
                           "bcast 1 * 7 linear+comb\n";

static const struct coll_algorithm *choose(const struct coll_table *table, int nodes, int most,
                                           uint64_t bytes)
{
    static struct coll_table narrow;
    coll_table_narrow(&narrow, table, nodes, most);
    return coll_table_choose(&narrow, bytes);
}

static void test_table(void **state)
{
    (void)state;
    static struct coll_table table;
    char why[128];
    assert_int_equal(coll_table_parse(&table, text, why, sizeof(why)), 0);
    assert_int_equal(table.row_count, 5);
    const struct coll_algorithm *found = choose(&table, 4, 2, 65536);
    assert_int_equal(found->inter, SHAPE_CHAIN);
    assert_int_equal(found->intra, SHAPE_WINDOW);
    assert_int_equal(found->segment_bytes, 131072);
    assert_int_equal(choose(&table, 4, 2, 65535)->inter, SHAPE_BINOMIAL);
    assert_int_equal(choose(&table, 8, 100, 1024)->segment_bytes, 0);
    assert_int_equal(choose(&table, 9, 2, 4096)->inter, SHAPE_FLAT);
    assert_null(choose(&table, 9, 2, 4095));
    assert_true(choose(&table, 2, 2, 1 << 30)->pass);             /* before the last row */
    assert_int_equal(choose(&table, 1, 1, 7)->intra, SHAPE_COMB); /* after the row left out */
    assert_int_equal(coll_table_least(&table), 7);
    assert_string_equal(why, "line 8: this row is left out: only bcast is led");
    assert_int_equal(coll_table_parse(&table, "nuioa-coll 1\n", why, sizeof(why)), 0);
    assert_string_equal(why, "");
    assert_true(coll_table_least(&table) == UINT64_MAX);
}

static void test_bad_tables(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "# nothing\n",
        "bcast 4 2 65536 chain+window\n",
        "nuioa-coll 2\n",
        "nuioa-coll 1\nbcast 4 2 65536\n",
        "nuioa-coll 1\nbcast 4 2 65536 flat flat\n",
        "nuioa-coll 1\nbarrier 4 2 65536 flat\n",
        "nuioa-coll 1\nbcast 4 2 -1 flat\n",
        "nuioa-coll 1\nbcast 8-4 2 1 flat\n",
        "nuioa-coll 1\nbcast 4x 2 1 flat\n",
        "nuioa-coll 1\nbcast -4 2 1 flat\n",
        "nuioa-coll 1\nbcast 4 2 1 ring+window\n",
        "nuioa-coll 1\nbcast 4 2 1 chain\n",
        "nuioa-coll 1\nbcast 4 2 1 flat:\n",
        "nuioa-coll 1\nbcast 4 2 1 flat:4294967296\n",
        "nuioa-coll 1\nbcast 4 2 1 :1\n",
        "nuioa-coll 1\nbcast 4 2 1 chain+windowwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww\n",
    };
    static struct coll_table table, before;
    char why[128];
    coll_table_default(&table);
    before = table;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        *why = '\0';
        assert_int_not_equal(coll_table_parse(&table, bad[i], why, sizeof(why)), 0);
        assert_true(strlen(why) > 8);
        assert_memory_equal(&table, &before, sizeof(table));
    }
}

static int read_bytes(struct coll_table *table, const char *bytes, size_t size)
{
    char path[] = "/tmp/coll-test.XXXXXX", why[128] = "";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    close(fd);
    int rc = coll_table_read(table, path, why, sizeof(why));
    unlink(path);
    assert_true(!rc || *why);
    return rc;
}

static void test_table_files(void **state)
{
    (void)state;
    static struct coll_table table;
    static char many[65537];
    char why[128];
    assert_int_equal(read_bytes(&table, text, strlen(text)), 0);
    assert_int_equal(table.row_count, 5);
    assert_int_not_equal(read_bytes(&table, text, sizeof(text)), 0); /* a zero byte */
    memset(many, '#', sizeof(many));
    memcpy(many, "nuioa-coll 1\n", 13);
    assert_int_not_equal(read_bytes(&table, many, sizeof(many)), 0);
    assert_int_equal(read_bytes(&table, many, sizeof(many) - 1), 0);
    strcpy(many, "nuioa-coll 1\n");
    for (int i = 0; i < COLL_ROW_MAX; i++)
        strcat(many, "bcast * * 1 flat\n");
    assert_int_equal(read_bytes(&table, many, strlen(many)), 0);
    strcat(many, "bcast * * 1 flat\n");
    assert_int_not_equal(read_bytes(&table, many, strlen(many)), 0);
    assert_int_not_equal(coll_table_read(&table, "/nonexistent/table", why, sizeof(why)), 0);
    assert_int_not_equal(coll_table_read(&table, "/", why, sizeof(why)), 0);
}

static bool leads(const struct coll_table *table, int nodes, int most, uint64_t bytes)
{
    const struct coll_algorithm *found = choose(table, nodes, most, bytes);
    return found && !found->pass;
}

static void test_built_in_table(void **state)
{
    (void)state;
    static struct coll_table table;
    coll_table_default(&table);
    assert_true(leads(&table, 4, 2, 65536));
    assert_false(leads(&table, 4, 2, 65535));
    for (int nodes = 1; nodes < 70; nodes++)
        for (int most = 1; most < 70; most++) {
            assert_false(leads(&table, nodes, most, 8192));
            /* The MPI libraries of today are faster then. */
            assert_false(leads(&table, nodes, most, 1 << 20));
            assert_false(leads(&table, nodes, most, 1 << 23));
            if (nodes == 1 || most == 1)
                assert_false(leads(&table, nodes, most, 65536));
        }
}

static void test_names(void **state)
{
    (void)state;
    char names[2048], *save;
    struct coll_algorithm algorithm;
    assert_true(strlen(coll_algorithm_names()) < sizeof(names));
    strcpy(names, coll_algorithm_names());
    for (char *name = strtok_r(names, " ", &save); name; name = strtok_r(NULL, " ", &save)) {
        assert_int_equal(coll_algorithm_parse(name, &algorithm), 0);
        assert_int_equal(algorithm.pass, !strcmp(name, "pass"));
        assert_true(algorithm.pass || algorithm.inter != SHAPE_NONE);
        assert_int_not_equal(algorithm.intra, SHAPE_NONE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),       cmocka_unit_test(test_bad_tables),
        cmocka_unit_test(test_table_files), cmocka_unit_test(test_built_in_table),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests_name("coll_table", tests, NULL, NULL);
}
