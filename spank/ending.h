/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_ENDING_H
#define SPANK_ENDING_H

#include <slurm/spank.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Whether a step that is being launched is to end. slurmstepd carries out no signal, and no end,
 * until its tasks run: as long as a hook waits, scancel does. */

struct ending {
    char socket[32]; /* how the name of the step's own socket ends; "" unknown */
    ino_t request;   /* a connection to it; 0: none was seen */
    unsigned looks;  /* that have seen it */
    bool begun;
};

void ending_watch(struct ending *ending, spank_t spank);

/* The tasks are gone. From any thread. */
void ending_mark_over(struct ending *ending);

/* To be asked now and then, by one thread, as `arg` a struct ending: true once the step is over, or
 * slurmd has been waiting for it to run so that it can be signalled or ended. */
bool ending_is_requested(void *arg);

#endif
