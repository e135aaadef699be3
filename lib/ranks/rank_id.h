/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_RANKS_RANK_ID_H
#define NUIOA_RANKS_RANK_ID_H

/* The characters of an ID, with the NUL. */
#define NUIOA_RANK_ID_SIZE 17

/* Writes an ID of the calling process among those that launchers have started: a hash of the
 * variables in which they give its rank and its job. It is the same in what the process starts, as
 * long as no launcher starts ranks of its own there. `nuioa exec` leaves it in NUIOA_EXEC, so that
 * a reader knows whether the variables of nuioa beside it are those of its own rank. `environment`
 * has the form of util/variable.h. */
void nuioa_rank_id(char *const *environment, char id[NUIOA_RANK_ID_SIZE]);

#endif
