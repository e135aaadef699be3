/* SPDX-License-Identifier: BSD-3-Clause */

/* One text, read as each kind of number, and as words. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "util/number.h"
#include "util/word.h"

static void check_decimal(const char *text)
{
    double value = -1, again = -1;
    char printed[32];
    if (nuioa_parse_decimal(text, &value)) {
        INPUT_CHECK(value == -1);
        return;
    }
    INPUT_CHECK(value >= 0 && isfinite(value));
    nuioa_print_decimal(value, printed, sizeof(printed));
    /* 15 digits may round the largest double up to infinity. */
    if (value < 1.79769313486231e308) {
        INPUT_CHECK(!nuioa_parse_decimal(printed, &again));
        INPUT_CHECK(again <= value * (1 + 1e-14) && again >= value * (1 - 1e-14) - 1e-320);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = { data, size };
    uint32_t limit = input_below(&input, 65536), small = 0;
    uint64_t large = 0;
    char *text = input_text(&input), *rest = text;
    int rc = nuioa_parse_u32(text, limit, &small);
    INPUT_CHECK(rc ? small == 0 : small <= limit);
    rc = nuioa_parse_u64(text, UINT64_MAX, &large);
    INPUT_CHECK(rc || strspn(text, "0123456789") == strlen(text));
    check_decimal(text);
    for (char *word; (word = nuioa_next_word(&rest, " \t"));)
        INPUT_CHECK(*word && !strpbrk(word, " \t"));
    free(text);
    return 0;
}
