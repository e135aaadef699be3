/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/stepd/faults.h"

#include "spank/common/log.h"
#include "spank/stepd/rendezvous_stepd.h"

/* What is printed for the user goes to slurmd.log, too. */
void faults_print(struct stepd_context *c)
{
    char host[64];
    const struct nuioa_warnings *faults = &c->faults;
    unsigned first = rendezvous_stepd_faults_told(c);
    unsigned further = faults->count + faults->lost - first - 1;
    log_host(host, sizeof(host));
    if (first < faults->count && further)
        log_line("%s: %s (and %u more in the node's slurmd log)", host, faults->text[first],
                 further);
    else if (first < faults->count)
        log_line("%s: %s", host, faults->text[first]);
    for (unsigned i = 0; i < faults->count; i++)
        if (i != first)
            slurm_info("nuioa: %s", faults->text[i]);
    nuioa_warnings_clear(&c->faults);
}
