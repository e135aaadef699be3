/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit.h"
#include "util/text.h"
#include "util/variable.h"
#include "util/word.h"

TEST(test_words)
{
    char line[] = " \tone  two,three\t";
    char *rest = line;
    assert_string_equal(nuioa_next_word(&rest, " \t"), "one");
    assert_string_equal(rest, " two,three\t");
    assert_string_equal(nuioa_next_word(&rest, " \t,"), "two");
    assert_string_equal(nuioa_next_word(&rest, " \t,"), "three");
    assert_null(nuioa_next_word(&rest, " \t,"));
    assert_null(nuioa_next_word(&rest, " \t,"));
}

TEST(test_index)
{
    assert_int_equal(nuioa_word_index("a|bc||d", "a"), 0);
    assert_int_equal(nuioa_word_index("a|bc||d", "bc"), 1);
    assert_int_equal(nuioa_word_index("a|bc||d", ""), 2);
    assert_int_equal(nuioa_word_index("a|bc||d", "d"), 3);
    assert_int_equal(nuioa_word_index("a|bc||d", "b"), -1);
    assert_int_equal(nuioa_word_index("a|bc||d", "bcd"), -1);
    assert_int_equal(nuioa_word_index("a|bc||d", "a|bc"), -1);
    assert_int_equal(nuioa_word_index("a|bc", ""), -1);
}

TEST(test_text)
{
    char array[8] = "old";
    struct nuioa_text t = nuioa_text_in(array, sizeof(array));
    assert_string_equal(array, "");
    assert_false(nuioa_text_is_whole(&t));
    nuioa_text_add(&t, "%s%d", "a", 12);
    nuioa_text_add(&t, "%s", "bcde");
    assert_string_equal(array, "a12bcde");
    assert_true(nuioa_text_is_whole(&t));
    nuioa_text_add(&t, "f");
    nuioa_text_add(&t, "%s", "");
    assert_string_equal(array, "a12bcde");
    assert_true(t.lost && t.used == 7 && !nuioa_text_is_whole(&t));
}

TEST(test_variables)
{
    char ab[] = "AB=1", a[] = "A=2=3", c[] = "C", d[] = "D=";
    char *environment[] = { ab, a, c, d, NULL };
    assert_string_equal(nuioa_variable(environment, "A"), "2=3");
    assert_string_equal(nuioa_variable(environment, "AB"), "1");
    assert_string_equal(nuioa_variable(environment, "D"), "");
    assert_null(nuioa_variable(environment, "C"));
    assert_null(nuioa_variable(environment, "B"));
    assert_null(nuioa_variable(NULL, "A"));
}
