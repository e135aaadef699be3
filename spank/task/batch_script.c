/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/task/batch_script.h"

#include <fcntl.h>
#include <slurm/slurm.h>
#include <stdlib.h>

#include "spank/common/other_launcher.h"
#include "spank/common/step.h"
#include "util/sysfs.h"

#define SCRIPT_MAX (64 << 10)

void batch_script_advise(spank_t spank)
{
    uint32_t id;
    int argc = 0;
    char **argv = NULL;
    if (spank_get_item(spank, S_JOB_STEPID, &id) != ESPANK_SUCCESS || id != SLURM_BATCH_SCRIPT ||
        !other_launcher_is_asked(step_environment(spank)) ||
        spank_get_item(spank, S_JOB_ARGV, &argc, &argv) != ESPANK_SUCCESS || argc < 1)
        return;
    char *script = nuioa_sysfs_lines(AT_FDCWD, SCRIPT_MAX, "%s", argv[0]);
    if (script)
        other_launcher_advise(script);
    free(script);
}
