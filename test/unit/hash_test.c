/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "util/hash.h"

/* The values are from the test vectors of the FNV authors. */
static void test_vectors(void **state)
{
    (void)state;
    assert_true(nuioa_hash(NUIOA_HASH_START, "", 0) == UINT64_C(0xcbf29ce484222325));
    assert_true(nuioa_hash(NUIOA_HASH_START, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(nuioa_hash(NUIOA_HASH_START, "foobar", 6) == UINT64_C(0x85944171f73967e8));
}

static void test_chain(void **state)
{
    (void)state;
    uint64_t ab = nuioa_hash(NUIOA_HASH_START, "ab", 3);
    assert_true(nuioa_hash_text(NUIOA_HASH_START, "ab") == ab);
    assert_true(nuioa_hash(nuioa_hash(NUIOA_HASH_START, "a", 1), "b", 2) == ab);
    assert_true(nuioa_hash_text(ab, "c") !=
                nuioa_hash_text(nuioa_hash_text(NUIOA_HASH_START, "a"), "bc"));
}

static void test_numbers(void **state)
{
    (void)state;
    assert_true(nuioa_hash_u32(NUIOA_HASH_START, 0x64636261) ==
                nuioa_hash(NUIOA_HASH_START, "abcd", 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_chain),
        cmocka_unit_test(test_numbers),
    };
    return cmocka_run_group_tests_name("hash", tests, NULL, NULL);
}
