/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology/nic_measured.h"

#include <math.h>

/* How many standard errors of their difference two medians must differ by to be believed. */
#define ERRORS 4

/* Returns the standard error of a median of normal noise, in the unit of `mad`: 1.4826 mad is the
 * standard deviation, and a median is 1.2533 times as uncertain as a mean. */
static double error_of(const struct nuioa_nic_measured *m)
{
    return 1.2533 * 1.4826 * m->mad / sqrt(m->n);
}

/* How good it is: a rate, or what messages take turned over. 0: unknown. */
static double worth(const struct nuioa_nic_measured *m, enum nuioa_policy policy)
{
    if (!m->n)
        return 0;
    if (policy == NUIOA_POLICY_LATENCY)
        return m->latency_ns > 0 ? 1 / m->latency_ns : 0;
    return m->write_mb_s;
}

double nuioa_measured_price(const struct nuioa_nic_measured *measured, uint32_t count, uint32_t k,
                            enum nuioa_policy policy)
{
    uint32_t best = k;
    double here = worth(&measured[k], policy);
    if (!(here > 0))
        return 0;
    for (uint32_t i = 0; i < count; i++)
        if (worth(&measured[i], policy) > worth(&measured[best], policy))
            best = i;
    double most = worth(&measured[best], policy);
    if (measured[k].n < 2 || measured[best].n < 2)
        return 1; /* one value does not tell how values spread */
    double doubt = ERRORS * hypot(error_of(&measured[k]), error_of(&measured[best]));
    return most - here < doubt * most ? 1 : most / here;
}
