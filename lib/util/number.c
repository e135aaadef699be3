/* SPDX-License-Identifier: BSD-3-Clause */
#include "util/number.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int nuioa_parse_u64(const char *text, uint64_t max, uint64_t *value)
{
    uint64_t sum = 0;
    if (!*text)
        return -EINVAL;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return -EINVAL;
        unsigned digit = (unsigned)(*text - '0');
        if (digit > max || sum > (max - digit) / 10)
            return -EINVAL;
        sum = sum * 10 + digit;
    }
    *value = sum;
    return 0;
}

int nuioa_parse_u32(const char *text, uint32_t max, uint32_t *value)
{
    uint64_t wide;
    if (nuioa_parse_u64(text, max, &wide))
        return -EINVAL;
    *value = (uint32_t)wide;
    return 0;
}

/* Steps behind the digits at *c. Returns false if there are none. */
static bool skip_digits(const char **c)
{
    size_t count = strspn(*c, "0123456789");
    *c += count;
    return count;
}

/* Checks for the form DIGITS[.DIGITS][e[+-]DIGITS]. strtod alone would accept blanks, signs,
 * hexadecimal numbers and words. */
static bool is_decimal(const char *c)
{
    if (!skip_digits(&c) || (*c == '.' && (c++, !skip_digits(&c))))
        return false;
    if (*c == 'e' || *c == 'E') {
        c++;
        c += *c == '+' || *c == '-';
        if (!skip_digits(&c))
            return false;
    }
    return !*c;
}

/* Between enter_c and leave_c the calling thread uses the C locale, or, without memory for it, its
 * own one still: uselocale() of no locale only asks. Other threads are not affected. */
static locale_t enter_c(locale_t *before)
{
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    *before = uselocale(c_locale);
    return c_locale;
}

static void leave_c(locale_t c_locale, locale_t before)
{
    uselocale(before);
    if (c_locale)
        freelocale(c_locale);
}

int nuioa_parse_decimal(const char *text, double *value)
{
    if (!is_decimal(text))
        return -EINVAL;
    locale_t before, c_locale = enter_c(&before);
    double result = strtod(text, NULL);
    leave_c(c_locale, before);
    if (!isfinite(result))
        return -EINVAL;
    *value = result;
    return 0;
}

const char *nuioa_print_decimal(double value, char *text, size_t size)
{
    locale_t before, c_locale = enter_c(&before);
    snprintf(text, size, "%.15g", value);
    leave_c(c_locale, before);
    return text;
}
