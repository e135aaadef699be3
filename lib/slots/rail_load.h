/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_SLOTS_RAIL_LOAD_H
#define NUIOA_SLOTS_RAIL_LOAD_H

#include "mapping/problem.h"
#include "slots/slot.h"

/* The load of the NICs. Private to the library.
 *
 * J has a term for it (struct nuioa_load in mapping/problem.h) if the rails are of 2 to
 * NUIOA_CARDS_MAX cards; two ports of a card are one resource, with the rate of the faster one.
 * Rates count only if all are known.
 *
 * The price of the load is options->load_cost, 1 by default, which means that J measures time on
 * NICs that are busy: if one has half as much again as its share, the traffic takes half as long
 * again. So it was measured: over two unlike NICs, each with its part by rate, data moved at almost
 * 2 GB/s (S. Moreaud and B. Goglin, PDCS 2007, section 4.2), and over the faster one alone at 1.2
 * GB/s (S. Moreaud, master thesis, 2007, section 2.4.2). That one then has 1.6 times its share, and
 * takes 1.6 times as long. The prices of distance were measured on busy NICs, too; on others
 * neither matters (thesis, section 2.6). */

/* Finds the load of the NICs that ranks would get (nuioa_rails_assign_all) on the CPUs of
 * placed[task_count], or where Slurm put them (NULL). A rank with several NICs uses each by its
 * rate. If J has no such term, both members of *term are 0. Returns 0 or -ENOMEM. */
int nuioa_rail_load_on(const struct nuioa_basis *basis, const struct nuioa_assignment *placed,
                       struct nuioa_load_term *term);

/* Makes the load for the mappers, with the cards that are nearest to each slot; all cards, if ranks
 * get several NICs (rails=K, K above 1). The traffic of a task with a GPU stays where it is now,
 * because its NIC is chosen by the GPU. If J has no such term, load->card_count is 0. Returns 0 or
 * -ENOMEM. */
int nuioa_rail_load_make(struct nuioa_load *load, const struct nuioa_basis *basis,
                         const struct nuioa_slots *slots);

#endif
