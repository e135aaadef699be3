/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_STEPD_ENDING_H
#define SPANK_STEPD_ENDING_H

#include <slurm/spank.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Detects that a step which is being launched is to end. slurmstepd carries out no signal and no
 * scancel before its tasks run, so a hook that waits must find out by itself and stop waiting. */

struct ending {
    char socket[32]; /* the end of the name of the step's socket; "" if it is not known */
    ino_t request;   /* the inode of a connection to the socket; 0 if none was seen */
    unsigned looks;  /* how often that connection was seen in a row */
    bool over;       /* true after ending_mark_over() */
};

/* Makes ending_is_requested() look for requests of slurmd to the step of `spank`. The caller sets
 * *ending to zeros before, and has nothing to free. Without this call, or if Slurm does not tell
 * the job and step, such requests are not seen. */
void ending_watch(struct ending *ending, spank_t spank);

/* Marks the step as over, for good: ending_is_requested() returns true from now on. Any thread may
 * call it. */
void ending_mark_over(struct ending *ending);

/* Returns true once the step is marked as over, or if slurmd has been waiting to signal or end it
 * during the last three calls. `arg` is a struct ending. One thread calls this while it waits,
 * about ten times a second. It takes no lock and does not wait. */
bool ending_is_requested(void *arg);

#endif
