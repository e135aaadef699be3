/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/stepd/faults.h"

#include "spank/common/log.h"

void faults_print(struct stepd_context *c)
{
    char host[64];
    const struct nuioa_warnings *faults = &c->faults;
    unsigned further = faults->count + faults->lost - 1;
    if (!faults->count)
        return;
    log_host(host, sizeof(host));
    if (further)
        log_line("%s: %s (and %u more in the node's slurmd log)", host, faults->text[0], further);
    else
        log_line("%s: %s", host, faults->text[0]);
    for (unsigned i = 1; i < faults->count; i++)
        slurm_info("nuioa: %s", faults->text[i]);
    nuioa_warnings_clear(&c->faults);
}
