/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit.h"
#include "util/hash.h"

/* The values are from the test vectors of the FNV authors. */
TEST(test_vectors)
{
    assert_true(nuioa_hash(NUIOA_HASH_START, "", 0) == UINT64_C(0xcbf29ce484222325));
    assert_true(nuioa_hash(NUIOA_HASH_START, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(nuioa_hash(NUIOA_HASH_START, "foobar", 6) == UINT64_C(0x85944171f73967e8));
}

TEST(test_chain)
{
    uint64_t ab = nuioa_hash(NUIOA_HASH_START, "ab", 3);
    assert_true(nuioa_hash_text(NUIOA_HASH_START, "ab") == ab);
    assert_true(nuioa_hash(nuioa_hash(NUIOA_HASH_START, "a", 1), "b", 2) == ab);
    assert_true(nuioa_hash_text(ab, "c") !=
                nuioa_hash_text(nuioa_hash_text(NUIOA_HASH_START, "a"), "bc"));
}

TEST(test_numbers)
{
    assert_true(nuioa_hash_u32(NUIOA_HASH_START, 0x64636261) ==
                nuioa_hash(NUIOA_HASH_START, "abcd", 4));
}
