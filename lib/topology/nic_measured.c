/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology/nic_measured.h"

#include <math.h>

double nuioa_measured_error(double mad, uint32_t n)
{
    return 1.2533 * 1.4826 * mad / sqrt(n);
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
    double doubt =
        NUIOA_MEASURED_ERRORS * hypot(nuioa_measured_error(measured[k].mad, measured[k].n),
                                      nuioa_measured_error(measured[best].mad, measured[best].n));
    return most - here < doubt * most ? 1 : most / here;
}
