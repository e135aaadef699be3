/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_HOOKS_FAULTS_H
#define TEST_HOOKS_FAULTS_H

/* Launches once for each call that can fail, and prints TAP. */

/* Every `step`-th call of each kind fails, in each program; then all calls from it on. Writes the
 * counts to the file `tsv` too, unless it is NULL. Returns an exit status. */
int faults_run(unsigned step, const char *tsv);

/* Shows one launch: the words are variant, program, kind, number, "once" or "on". */
int faults_show(char **words);

#endif
