/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/stepd/faults.h"

#include <stdio.h>

#include "spank/common/log.h"

/* So many nodes tell the user: most faults of many nodes are the same on all. */
#define NODES_MAX 8

void faults_line(const struct step_run *c, char *line, size_t size)
{
    char host[64];
    const struct nuioa_warnings *faults = &c->faults;
    unsigned further = faults->count + faults->lost - 1;
    log_host(host, sizeof(host));
    *line = '\0';
    if (faults->count && further)
        snprintf(line, size, "%s: %s (and %u more in the node's slurmd log)", host, faults->text[0],
                 further);
    else if (faults->count)
        snprintf(line, size, "%s: %s", host, faults->text[0]);
}

void faults_print(struct step_run *c)
{
    char line[512];
    faults_line(c, line, sizeof(line));
    if (*line && c->facts->step.node_id < NODES_MAX)
        log_line("%s", line);
    faults_log(c);
}

void faults_log(struct step_run *c)
{
    for (unsigned i = 0; i < c->faults.count; i++)
        slurm_info("nuioa: %s", c->faults.text[i]);
    nuioa_warnings_clear(&c->faults);
}
