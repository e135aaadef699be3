/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_DOCTOR_SERVICE_H
#define NUIOA_DOCTOR_SERVICE_H

/* Checks. What the plugin needs: that Slurm can load it, its cache, the site's distances. */

struct doctor;

void doctor_check_loading(struct doctor *d);
void doctor_check_cache(struct doctor *d);
void doctor_check_distances(struct doctor *d);

#endif
