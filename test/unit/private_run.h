/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_PRIVATE_RUN_H
#define TEST_PRIVATE_RUN_H

/* Puts an empty directory in the place of /run, for this process only: standard paths are there.
 * Calls skip() of cmocka if that may not be done: it needs root. */
void private_run(void);

#endif
