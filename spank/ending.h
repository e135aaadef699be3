/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_ENDING_H
#define SPANK_ENDING_H

#include <slurm/spank.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Detects that a step which is being launched is to end. slurmstepd carries out no signal and no
 * scancel before its tasks run, so a hook that waits must find out by itself and stop waiting. */

struct ending {
    char socket[32]; /* end of the name of the step's socket; "": not known */
    ino_t request;   /* inode of a connection to it; 0: none was seen */
    unsigned looks;  /* how often that connection was seen in a row */
    bool over;       /* ending_mark_over() was called */
};

/* Prepares ending_is_requested() for the step of `spank`. The caller sets *ending to zeros before,
 * and has nothing to free. Without this call, or if Slurm does not tell the job and step,
 * ending_is_requested() sees no request of slurmd. */
void ending_watch(struct ending *ending, spank_t spank);

/* Marks the step as over. Any thread may call it. */
void ending_mark_over(struct ending *ending);

/* Returns true once the step is over, or slurmd has waited for some time to signal or end it. One
 * thread calls this about ten times a second; `arg` is a struct ending. */
bool ending_is_requested(void *arg);

#endif
