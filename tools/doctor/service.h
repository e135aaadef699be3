/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_DOCTOR_SERVICE_H
#define NUIOA_DOCTOR_SERVICE_H

struct doctor;

/* Checks of what the plugin needs. doctor.h says what holds for all checks. They report: */

/* a plugin that Slurm cannot load */
void doctor_check_loading(struct doctor *d);
/* where Slurm uses MUNGE, a library or a munged that cannot sign and check */
void doctor_check_munge(struct doctor *d);
/* no PMIx plugin, a PMIx that is missing, cannot publish or has errors, and an mpi.conf with which
 * Slurm gives the topology to every rank; sets d->pmix */
void doctor_check_pmix(struct doctor *d);
/* a cache that is missing, out of date or refused (topology/cache.h); NICs of it that are gone */
void doctor_check_cache(struct doctor *d);
/* a distance file of the site that is refused, or does not describe this node */
void doctor_check_distances(struct doctor *d);

#endif
