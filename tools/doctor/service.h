/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_DOCTOR_SERVICE_H
#define NUIOA_DOCTOR_SERVICE_H

/* Checks of `nuioa doctor`: what the plugin needs: that Slurm can load it, its cache, the site's
 * distances. doctor.h says what holds for all checks. */

struct doctor;

/* Reports if the plugin cannot be loaded. */
void doctor_check_loading(struct doctor *d);

/* Reports if the cache of the node is missing, out of date or refused (topology/cache.h), or if a
 * NIC that it describes is gone. */
void doctor_check_cache(struct doctor *d);

/* Reports if the site's distance file is refused, or does not describe this node. */
void doctor_check_distances(struct doctor *d);

#endif
