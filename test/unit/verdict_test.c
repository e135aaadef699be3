/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "rounds.h"
#include "tools/compare/verdict.h"

/* --- series that are drawn -------------------------------------------------------------------- */

static uint64_t state = 88172645463325252ULL;

static double uniform(void) /* xorshift64 */
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(2 * acos(-1) * uniform());
}

/* One comparison of a program whose runs vary by `noise` with one that takes `factor` times as
 * long; `pairs` as typed, or 0. Returns how many pairs it made. */
static unsigned compare(double factor, double noise, unsigned pairs, struct verdict *v)
{
    double without[VERDICT_PAIRS_MAX], with[VERDICT_PAIRS_MAX];
    unsigned wanted = pairs ? pairs : VERDICT_PAIRS_MIN, made = 0;
    for (;;) {
        for (; made < wanted; made++) {
            without[made] = exp(noise * normal());
            with[made] = factor * exp(noise * normal());
        }
        verdict_judge(without, with, made, pairs, v);
        if (!pairs)
            wanted = verdict_next_look(v, made);
        if (made == wanted)
            return made;
    }
}

/* Returns which share of so many comparisons says `word`. */
static double share(enum verdict_word word, double factor, double noise, unsigned pairs,
                    unsigned comparisons)
{
    struct verdict v;
    unsigned count = 0;
    for (unsigned i = 0; i < comparisons; i++) {
        compare(factor, noise, pairs, &v);
        count += v.word == word;
    }
    return (double)count / comparisons;
}

/* --- the test --------------------------------------------------------------------------------- */

/* p by its definition, for few pairs. */
static double by_definition(const double *logs, unsigned count)
{
    double sum = 0;
    unsigned far = 0;
    for (unsigned i = 0; i < count; i++)
        sum += logs[i];
    for (unsigned pattern = 0; pattern < 1U << count; pattern++) {
        double turned = 0;
        for (unsigned i = 0; i < count; i++)
            turned += pattern >> i & 1 ? -logs[i] : logs[i];
        far += fabs(turned) >= fabs(sum) - 1e-12;
    }
    return (double)far / (1U << count);
}

static void test_exact(void **unused)
{
    (void)unused;
    for (unsigned round = 0; round < rounds(200); round++) {
        double logs[10], without[10], with[10];
        unsigned count = 6 + round % 5;
        for (unsigned i = 0; i < count; i++) {
            /* Every fourth series has equal logarithms, whose sums are ties. */
            logs[i] = round % 4 ? normal() : i > 1 ? (uniform() < 0.5 ? -0.1 : 0.2) : 0.3 * i - 0.1;
            without[i] = 1 + uniform();
            with[i] = without[i] * exp(logs[i]);
        }
        struct verdict v;
        verdict_judge(without, with, count, true, &v);
        assert_float_equal(v.p, by_definition(logs, count), 1e-9);
        /* The interval is what the same test does not refuse. */
        for (unsigned end = 0; end < 2; end++) {
            double limit = log(end ? v.high : v.low), step = end ? 1e-6 : -1e-6, moved[10];
            for (unsigned i = 0; i < count; i++)
                moved[i] = logs[i] - limit - step;
            assert_true(by_definition(moved, count) <= 0.05);
            for (unsigned i = 0; i < count; i++)
                moved[i] = logs[i] - limit + step;
            assert_true(by_definition(moved, count) > 0.05);
        }
    }
}

static void test_words(void **unused)
{
    (void)unused;
    double one[VERDICT_PAIRS_MAX], less[VERDICT_PAIRS_MAX];
    struct verdict v;
    for (unsigned i = 0; i < VERDICT_PAIRS_MAX; i++) {
        one[i] = 10 + 0.01 * i;
        less[i] = 9 + 0.02 * i;
    }
    verdict_judge(one, less, 6, false, &v);
    assert_int_equal(v.word, VERDICT_FASTER);
    assert_float_equal(v.p, 2.0 / 64, 1e-9);
    assert_true(v.ratio > 0.9 && v.ratio < 0.91 && v.low < v.ratio && v.ratio < v.high &&
                v.high < 1);
    assert_int_equal(verdict_next_look(&v, 6), 6);
    verdict_judge(less, one, 24, true, &v);
    assert_int_equal(v.word, VERDICT_SLOWER);
    assert_true(v.low > 1);
    /* Equal times: nothing can be told, and no more pairs are made. */
    verdict_judge(one, one, 6, false, &v);
    assert_int_equal(v.word, VERDICT_CANNOT_TELL);
    assert_float_equal(v.ratio, 1, 1e-12);
    assert_int_equal(verdict_next_look(&v, 6), 6);
}

/* Two equal programs: as many wrong verdicts as promised, whatever the noise. */
static void test_equal_programs(void **unused)
{
    (void)unused;
    static const double noises[] = { 0.01, 0.03, 0.1 };
    for (unsigned i = 0; i < 3; i++) {
        unsigned wrong = 0, comparisons = (unsigned)rounds(1000);
        struct verdict v;
        for (unsigned k = 0; k < comparisons; k++) {
            compare(1, noises[i], 0, &v);
            wrong += v.word != VERDICT_CANNOT_TELL;
        }
        print_message("# noise %g: %u of %u\n", noises[i], wrong, comparisons);
        assert_true(wrong <= 0.065 * comparisons);
    }
    for (unsigned pairs = VERDICT_PAIRS_MIN; pairs <= VERDICT_PAIRS_MAX; pairs += 9)
        assert_true(share(VERDICT_CANNOT_TELL, 1, 0.03, pairs, 400) > 0.91);
}

/* What is said to be seen is seen by 4 of 5 comparisons. The noise is that of runs; a pair has
 * sqrt(2) times as much. */
static void test_power(void **unused)
{
    (void)unused;
    double noise = 0.02;
    unsigned comparisons = (unsigned)rounds(800);
    for (unsigned pairs = 0; pairs <= VERDICT_PAIRS_MAX; pairs += pairs ? 9 : 6) {
        struct verdict v;
        double sum = 0;
        for (unsigned i = 0; i < comparisons / 4; i++) {
            compare(1, noise, pairs, &v);
            sum += log(1 - v.detectable) / (comparisons / 4);
        }
        double seen = share(VERDICT_FASTER, exp(sum), noise, pairs, comparisons);
        print_message("# %u pairs: %.3f seen by %.3f\n", pairs, 1 - exp(sum), seen);
        if (comparisons == 800)
            assert_true(fabs(seen - 0.8) <= 0.05);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_equal_programs),
        cmocka_unit_test(test_power),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
