/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_COMPARE_VERDICT_H
#define NUIOA_TOOL_COMPARE_VERDICT_H

#include <stdbool.h>

/* Whether a program takes another time with a change than without it, from pairs of runs.
 *
 * The unit is the logarithm of the ratio of a pair, with over without: noise of a machine is a
 * share of the time. The test is the exact sign-flip test of R. A. Fisher (The Design of
 * Experiments, 1935, section 21): if the change does nothing, the logarithm of a pair could as well
 * have had the other sign. Of all patterns of signs, p is the share whose sum is at least as far
 * from zero as that of the runs. It supposes nothing about the form of the noise.
 *
 * A number of pairs that was typed is judged once, at a level of 5 %. Without it there are three
 * looks: after 6, 12 and 24 pairs, at the levels 2/64, 0.0093 and 0.0093, whose sum is below 5 %.
 * So of two programs that are equally fast at most 1 comparison in 20 says otherwise, however often
 * it has looked (Bonferroni's inequality). Stopping early without a verdict does not raise that. */

enum { VERDICT_PAIRS_MIN = 6, VERDICT_PAIRS_MAX = 24 };

enum verdict_word { VERDICT_CANNOT_TELL, VERDICT_FASTER, VERDICT_SLOWER };

struct verdict {
    enum verdict_word word;
    double p;          /* of the sign-flip test, two-sided */
    double ratio;      /* with over without: the geometric mean of the pairs' ratios */
    double low, high;  /* the ratios that the test at this level does not refuse */
    double detectable; /* the least difference that 4 of 5 comparisons would see with as much noise
                        * and the same rule, as a share of the time: 0.05 is 5 % */
};

/* Returns the level of the test for so many pairs, from VERDICT_PAIRS_MIN to VERDICT_PAIRS_MAX.
 * `typed`: the user has said how many; else it is a look after 6, 12 or 24 of them. */
double verdict_level(unsigned pairs, bool typed);

/* Judges so many pairs of times above 0, in any unit, from VERDICT_PAIRS_MIN to VERDICT_PAIRS_MAX.
 * It cannot fail. */
void verdict_judge(const double *without, const double *with, unsigned pairs, bool typed,
                   struct verdict *verdict);

/* Returns how many pairs there are to be in all, without a typed number: `pairs` if it has been
 * decided, or if more of them could hardly decide it, because the difference found so far is below
 * a third of what can be seen; else the number of the next look. */
unsigned verdict_next_look(const struct verdict *verdict, unsigned pairs);

/* Returns the difference that 4 of 5 comparisons of VERDICT_PAIRS_MAX typed pairs would see, if
 * those of `verdict`, so many and typed or not, have as much noise. */
double verdict_best(const struct verdict *verdict, unsigned pairs, bool typed);

#endif
