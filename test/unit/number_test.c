/* SPDX-License-Identifier: BSD-3-Clause */
#include <locale.h>

#include "unit.h"
#include "util/number.h"

TEST(test_integers)
{
    static const char *const bad[] = {
        "", " 1", "1 ", "+1", "-1", "0x1", "1.0", "1e3", "11", "99", "18446744073709551626"
    };
    uint32_t value = 77;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_int_equal(nuioa_parse_u32(bad[i], 10, &value), -EINVAL);
    assert_int_equal(value, 77);
    assert_int_equal(nuioa_parse_u32("10", 10, &value), 0);
    assert_int_equal(value, 10);
    assert_int_equal(nuioa_parse_u32("0", 0, &value), 0);
    assert_int_equal(value, 0);
    assert_int_equal(nuioa_parse_u32("1", 0, &value), -EINVAL);
    assert_int_equal(nuioa_parse_u32("4294967295", UINT32_MAX, &value), 0);
    assert_int_equal(value, UINT32_MAX);
    assert_int_equal(nuioa_parse_u32("4294967296", UINT32_MAX, &value), -EINVAL);
    uint64_t wide;
    assert_int_equal(nuioa_parse_u64("18446744073709551615", UINT64_MAX, &wide), 0);
    assert_true(wide == UINT64_MAX);
    assert_int_equal(nuioa_parse_u64("18446744073709551616", UINT64_MAX, &wide), -EINVAL);
}

static void check_decimals(void)
{
    static const char *const bad[] = { "",   " 1",  "1 ",    "-1",  "+1",  "1,5",
                                       ".5", "1.",  "0x10",  "inf", "nan", "1e400",
                                       "1e", "1e+", "1.5.2", "--1", "e5" };
    double value = 77;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        if (nuioa_parse_decimal(bad[i], &value) != -EINVAL)
            fail_msg("'%s' was accepted", bad[i]);
    assert_float_equal(value, 77, 0);
    assert_int_equal(nuioa_parse_decimal("12.5", &value), 0);
    assert_float_equal(value, 12.5, 0);
    assert_int_equal(nuioa_parse_decimal("0", &value), 0);
    assert_float_equal(value, 0, 0);
    assert_int_equal(nuioa_parse_decimal("1.5e-3", &value), 0);
    assert_float_equal(value, 0.0015, 1e-12);

    char text[32];
    assert_string_equal(nuioa_print_decimal(12.5, text, sizeof(text)), "12.5");
    assert_string_equal(nuioa_print_decimal(10, text, sizeof(text)), "10");
    assert_string_equal(nuioa_print_decimal(0.1 + 0.2, text, sizeof(text)), "0.3");
    assert_string_equal(nuioa_print_decimal(524288.8, text, sizeof(text)), "524288.8");
    nuioa_print_decimal(1e300, text, sizeof(text));
    assert_int_equal(nuioa_parse_decimal(text, &value), 0);
    assert_float_equal(value, 1e300, 0);
}

TEST(test_decimals)
{
    check_decimals();
}

/* One that this machine has and whose decimal point is a comma, or NULL. */
static const char *comma_locale(void)
{
    static const char *const names[] = { "de_DE.UTF-8", "de_DE.utf8",  "de_DE",      "fr_FR.UTF-8",
                                         "fr_FR.utf8",  "es_ES.UTF-8", "it_IT.UTF-8" };
    const char *found = NULL;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !found; i++)
        if (setlocale(LC_ALL, names[i]))
            found = names[i];
    setlocale(LC_ALL, "C");
    return found;
}

/* An application or srun may have set a locale with a decimal comma. */
static void test_locale(void **state)
{
    (void)state;
    char before[32], after[32];
    assert_non_null(setlocale(LC_ALL, comma_locale()));
    assert_string_equal(localeconv()->decimal_point, ",");
    snprintf(before, sizeof(before), "%.1f", 1.5);
    check_decimals();
    snprintf(after, sizeof(after), "%.1f", 1.5);
    assert_string_equal(before, after); /* the caller's locale is as it was */
    setlocale(LC_ALL, "C");
}

/* cmocka's own skip is "not ok" in TAP. */
__attribute__((constructor(9999))) static void add_test_locale(void)
{
    if (comma_locale())
        unit_add((struct CMUnitTest)cmocka_unit_test(test_locale));
    else
        puts("# test_locale is left out: no locale with a decimal comma on this machine");
}
