/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/probe/link_group.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Far pairs cross a link inside of a group more than near ones. So they are of another kind if
 * their mean is at least FARTHER links above that of the near ones, and a gap of GAP links between
 * the two is empty. The trials of test/unit/link_graph_test.c have determined these values. */
#define FARTHER 0.8
#define GAP 0.25

static struct nuioa_link_between *find(struct nuioa_link_between *all, uint32_t n, uint32_t a,
                                       uint32_t b)
{
    return &all[a < b ? (size_t)a * n + b : (size_t)b * n + a];
}

static void count(struct nuioa_link_between *b, double mean, double cut_ns)
{
    if (mean < cut_ns) {
        b->last_near = fmax(b->last_near, mean);
        b->near_sum += mean;
        b->near++;
    } else {
        b->first_far = b->near < b->pairs ? fmin(b->first_far, mean) : mean;
    }
    b->sum += mean;
    b->pairs++;
}

static bool are_alike(const struct nuioa_link_between *b, double link_ns)
{
    uint32_t far = b->pairs - b->near;
    if (!b->near || b->pairs < 2)
        return false;
    double more = far ? (b->sum - b->near_sum) / far - b->near_sum / b->near : 0;
    return more < FARTHER * link_ns || b->first_far - b->last_near < GAP * link_ns;
}

void nuioa_link_group_judge(const double *mean, uint32_t n, const uint32_t *group, double cut_ns,
                            double link_ns, struct nuioa_link_between *between, double *alike_ns)
{
    memset(between, 0, (size_t)n * n * sizeof(*between));
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i + 1; j < n; j++)
            if (group[i] != group[j])
                count(find(between, n, group[i], group[j]), mean[(size_t)i * n + j], cut_ns);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            const struct nuioa_link_between *b = find(between, n, group[i], group[j]);
            if (group[i] != group[j] && are_alike(b, link_ns))
                alike_ns[(size_t)i * n + j] = b->sum / b->pairs;
        }
}
