/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/hints_from_profile.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/number.h"
#include "util/text.h"

/* A stride with fewer ranks is no shorter than a list of them. */
#define STRIDE_MIN 3

/* --- a list from weights ---------------------------------------------------------------------- */

struct writer {
    const double *weight;
    bool *done;
    uint32_t count;
    struct nuioa_text list;
};

static int compare_weights(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int most_common(const double *weight, uint32_t count, double *common)
{
    double *sorted = malloc((count ? count : 1) * sizeof(*sorted));
    if (!sorted)
        return -ENOMEM;
    if (count) {
        memcpy(sorted, weight, count * sizeof(*sorted));
        qsort(sorted, count, sizeof(*sorted), compare_weights);
    }
    uint32_t best = 0, run = 0;
    for (uint32_t i = 0; i < count; i++) {
        run = i && sorted[i] == sorted[i - 1] ? run + 1 : 1;
        if (run > best) {
            best = run;
            *common = sorted[i];
        }
    }
    free(sorted);
    return 0;
}

static bool same(const struct writer *w, uint64_t rank, uint32_t as)
{
    return rank < w->count && !w->done[rank] && w->weight[rank] == w->weight[as];
}

/* Finds the ranks first, first + *stride, first + 2 * *stride, ... that have the same weight;
 * returns their number. *stride is the step to the next rank of that weight. */
static uint32_t progression(const struct writer *w, uint32_t first, uint32_t *stride)
{
    uint64_t next = (uint64_t)first + 1;
    while (next < w->count && !same(w, next, first))
        next++;
    *stride = (uint32_t)(next - first);
    uint32_t length = 1;
    while (same(w, first + (uint64_t)length * *stride, first))
        length++;
    return length >= STRIDE_MIN || *stride == 1 ? length : 1;
}

static int put(struct writer *w, const char *ranks, double weight)
{
    char number[32];
    nuioa_text_add(&w->list, "%s%s:%s", w->list.used ? "," : "", ranks,
                   nuioa_print_decimal(weight, number, sizeof(number)));
    return w->list.lost ? -E2BIG : 0;
}

static int put_from(struct writer *w, uint32_t first)
{
    char ranks[48];
    uint32_t stride, length = progression(w, first, &stride);
    uint32_t last = first + (length - 1) * stride;
    for (uint32_t i = 0; i < length; i++)
        w->done[first + i * stride] = true;
    if (length == 1)
        snprintf(ranks, sizeof(ranks), "%u", first);
    else if (stride == 1)
        snprintf(ranks, sizeof(ranks), "%u-%u", first, last);
    else
        snprintf(ranks, sizeof(ranks), "%u-%u:%u", first, last, stride);
    return put(w, ranks, w->weight[first]);
}

int nuioa_hints_from_weights(const double *weight, uint32_t count, char *list, size_t size)
{
    double rest = 0;
    struct writer w = { weight, calloc(count ? count : 1, sizeof(bool)), count,
                        nuioa_text_in(list, size) };
    int rc = w.done ? most_common(weight, count, &rest) : -ENOMEM;
    for (uint32_t rank = 0; rank < count && !rc; rank++)
        if (!w.done[rank] && weight[rank] != rest)
            rc = put_from(&w, rank);
    if (!rc)
        rc = put(&w, "rest", rest);
    free(w.done);
    return rc;
}

/* --- weights from a profile ------------------------------------------------------------------- */

/* Each rank weighs what it exchanges if all others are on other nodes. */
static int weigh_all(const struct nuioa_profile *profile, enum nuioa_policy policy, double *weight)
{
    struct nuioa_traffic *traffic = calloc(profile->rank_count, sizeof(*traffic));
    int rc = traffic ? nuioa_profile_traffic(profile, NULL, traffic) : -ENOMEM;
    bool has_large = false;
    for (uint32_t rank = 0; !rc && rank < profile->rank_count; rank++)
        has_large = has_large || traffic[rank].large_recv_bytes > 0;
    for (uint32_t rank = 0; !rc && rank < profile->rank_count; rank++)
        weight[rank] = nuioa_traffic_weight(&traffic[rank], policy, has_large);
    free(traffic);
    return rc;
}

static void round_to(double *weight, uint32_t count, int digits)
{
    for (uint32_t i = 0; i < count; i++) {
        if (weight[i] <= 0)
            continue;
        double unit = pow(10, floor(log10(weight[i])) + 1 - digits);
        weight[i] = round(weight[i] / unit) * unit;
    }
}

/* Rounds the weights to fewer and fewer digits until the list fits. */
static int fit(double *weight, uint32_t count, char *list, size_t size)
{
    static const int digits[] = { 15, 4, 3, 2, 1 };
    int rc = -E2BIG;
    for (size_t i = 0; i < sizeof(digits) / sizeof(*digits) && rc == -E2BIG; i++) {
        round_to(weight, count, digits[i]);
        rc = nuioa_hints_from_weights(weight, count, list, size);
    }
    return rc;
}

int nuioa_hints_from_profile(const struct nuioa_profile *profile, enum nuioa_policy policy,
                             char *list, size_t size, struct nuioa_error *err)
{
    double *weight = calloc(profile->rank_count ? profile->rank_count : 1, sizeof(*weight));
    int rc = weight ? weigh_all(profile, policy, weight) : -ENOMEM;
    if (!rc)
        rc = fit(weight, profile->rank_count, list, size);
    if (rc == -E2BIG)
        nuioa_fail(err, rc, "too irregular for the %zu bytes of a hints list", size - 1);
    else if (rc)
        nuioa_fail(err, rc, "%s", strerror(-rc));
    free(weight);
    return rc;
}
