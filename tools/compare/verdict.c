/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/compare/verdict.h"

#include <math.h>
#include <string.h>

enum { HALF_MAX = VERDICT_PAIRS_MAX / 2, SUMS_MAX = 1 << HALF_MAX };

/* The logarithms of the ratios, and how they are judged. */
struct series {
    double logs[VERDICT_PAIRS_MAX];
    unsigned count;
    double level;
};

double verdict_level(unsigned pairs, bool typed)
{
    if (typed)
        return 0.05;
    return pairs <= VERDICT_PAIRS_MIN ? 2.0 / 64 : 0.0093;
}

/* --- the exact test --------------------------------------------------------------------------- */

/* Writes the sums of all subsets of `count` numbers, in ascending order. Returns how many. */
static unsigned subset_sums(const double *numbers, unsigned count, double *sums)
{
    double without[SUMS_MAX / 2];
    unsigned size = 1;
    sums[0] = 0;
    for (unsigned i = 0; i < count; i++, size *= 2) {
        /* The subsets without this number, and the same with it, are two ascending lists. */
        memcpy(without, sums, size * sizeof(*sums));
        for (unsigned k = 0, plain = 0, more = 0; k < 2 * size; k++)
            if (more == size || (plain < size && without[plain] <= without[more] + numbers[i]))
                sums[k] = without[plain++];
            else
                sums[k] = without[more++] + numbers[i];
    }
    return size;
}

/* Returns the share of all patterns of signs whose sum is at least the sum of the logarithms less
 * `centre` each. A pattern turns the signs of a subset, and is counted if the sum of that subset is
 * not above 0: each of the sums of one half goes with a first part of those of the other half. */
static double upper_share(const struct series *s, double centre)
{
    double shifted[VERDICT_PAIRS_MAX], sums[2][SUMS_MAX], scale = 0, counted = 0;
    unsigned half = s->count / 2;
    for (unsigned i = 0; i < s->count; i++) {
        shifted[i] = s->logs[i] - centre;
        scale += fabs(shifted[i]);
    }
    unsigned first = subset_sums(shifted, half, sums[0]);
    unsigned second = subset_sums(shifted + half, s->count - half, sums[1]);
    double zero = 1e-12 * scale; /* sums of equal numbers differ by rounding */
    for (unsigned i = 0, k = second; i < first; i++) {
        while (k && sums[0][i] + sums[1][k - 1] > zero)
            k--;
        counted += k;
    }
    return counted / ((double)first * second);
}

static double mean(const struct series *s)
{
    double sum = 0;
    for (unsigned i = 0; i < s->count; i++)
        sum += s->logs[i];
    return sum / s->count;
}

/* Returns the least centre that the test does not refuse, or with sign -1 that of the logarithms
 * with the other sign: the share grows with the centre. */
static double low_end(const struct series *s, double sign)
{
    struct series turned = *s;
    double low = INFINITY;
    for (unsigned i = 0; i < s->count; i++) {
        turned.logs[i] = sign * s->logs[i];
        low = fmin(low, turned.logs[i]);
    }
    double high = mean(&turned);
    for (unsigned round = 0; round < 40; round++) {
        double middle = (low + high) / 2;
        if (2 * upper_share(&turned, middle) > s->level)
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* --- what can be seen ------------------------------------------------------------------------- */

/* The difference that 4 of 5 comparisons see, in standard deviations of the logarithm of a pair's
 * ratio, if that is distributed normally: found by simulation, which test/unit/verdict_test.c
 * repeats. For 6, 7, ... 24 typed pairs; and without a typed number. */
static const double typed_power[] = {
    1.80,  1.33,  1.20, 1.09,  1.01, 0.94, 0.89,  0.845, 0.805, 0.78,
    0.745, 0.715, 0.70, 0.685, 0.66, 0.64, 0.625, 0.615, 0.605,
};
static const double looks_power = 0.79;

static double deviation(const struct series *s)
{
    double centre = mean(s), sum = 0;
    for (unsigned i = 0; i < s->count; i++)
        sum += (s->logs[i] - centre) * (s->logs[i] - centre);
    /* The mean of the root is less than that of the noise, which matters for few pairs. */
    return sqrt(sum / (s->count - 1)) * (4 * s->count - 3) / (4 * s->count - 4);
}

static double power(unsigned pairs, bool typed)
{
    return typed ? typed_power[pairs - VERDICT_PAIRS_MIN] : looks_power;
}

static double share_of_time(double logarithm)
{
    return 1 - exp(-logarithm);
}

void verdict_judge(const double *without, const double *with, unsigned pairs, bool typed,
                   struct verdict *verdict)
{
    struct series s = { .count = pairs, .level = verdict_level(pairs, typed) };
    for (unsigned i = 0; i < pairs; i++)
        s.logs[i] = log(with[i] / without[i]);
    double centre = mean(&s), above = upper_share(&s, 0);
    struct series turned = s;
    for (unsigned i = 0; i < pairs; i++)
        turned.logs[i] = -s.logs[i];
    double below = upper_share(&turned, 0);
    *verdict = (struct verdict){
        .p = fmin(1, 2 * fmin(above, below)),
        .ratio = exp(centre),
        .low = exp(low_end(&s, 1)),
        .high = exp(-low_end(&s, -1)),
        .detectable = share_of_time(power(pairs, typed) * deviation(&s)),
    };
    if (verdict->p <= s.level)
        verdict->word = centre < 0 ? VERDICT_FASTER : VERDICT_SLOWER;
}

unsigned verdict_next_look(const struct verdict *verdict, unsigned pairs)
{
    if (verdict->word != VERDICT_CANNOT_TELL || pairs >= VERDICT_PAIRS_MAX)
        return pairs;
    if (fabs(log(verdict->ratio)) <= -log(1 - verdict->detectable) / 3)
        return pairs;
    return pairs < 12 ? 12 : VERDICT_PAIRS_MAX;
}

double verdict_best(const struct verdict *verdict, unsigned pairs, bool typed)
{
    double noise = -log(1 - verdict->detectable) / power(pairs, typed);
    return share_of_time(power(VERDICT_PAIRS_MAX, true) * noise);
}
