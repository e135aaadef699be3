#ifndef SPANK_LAUNCHER_H
#define SPANK_LAUNCHER_H

#include "context.h"
#include "doors.h"

/* In the user's own program: srun, or sbatch and salloc (allocator.c). Only here may the plugin end the
 * process: a flag typed wrong is an error before anything is allocated, and help starts nothing. */

/* Reads the doors into context->options; does not return if a flag is wrong or asks for help. */
void launcher_read(struct context *context, const struct doors *doors, struct complaints *complaints);

#endif
