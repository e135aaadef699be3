#ifndef NUIOA_PLACE_BISECT_H
#define NUIOA_PLACE_BISECT_H

#include "cut.h"

/* Halves the machine and the tasks together until each part is one class: the NIC, and the neighbours that
 * already went elsewhere, pull each task to one side; `cutter` decides. Repeats with other guesses and
 * random numbers while the budget lasts, at most `rounds` times, improves each result by swaps and leaves
 * the best in slot_of. 0, -ENOMEM, or -EINVAL if tasks do not fit. */
int nuioa_bisection(const struct nuioa_problem *problem, nuioa_cutter *cutter, uint32_t rounds,
                    uint32_t *slot_of, struct nuioa_budget *budget);

#endif
