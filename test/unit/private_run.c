/* SPDX-License-Identifier: BSD-3-Clause */
#include "private_run.h"

#include <sched.h>
#include <sys/mount.h>

#include "unit.h"

void private_run(void)
{
    if (!unshare(CLONE_NEWNS) && !mount("none", "/", "", MS_REC | MS_PRIVATE, NULL) &&
        !mount("none", "/run", "tmpfs", 0, "mode=755,size=1m"))
        return;
    print_message("# /run is not replaced: %s\n", strerror(errno));
    skip();
}
