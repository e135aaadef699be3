/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_STEPD_USER_CHILD_H
#define SPANK_STEPD_USER_CHILD_H

#include <slurm/spank.h>
#include <stddef.h>
#include <stdint.h>

#include "util/become_user.h"
#include "util/subprocess.h"

/* A child of slurmstepd that has become the job's user, for work with what is the user's. It begins
 * in init_post_opt: under contain_spank later hooks run in children of slurmstepd, which share its
 * memory, but have copies of its descriptors, and are not the parent of this child.
 *
 * A child that has done its work does not end by itself: Slurm waits for any child that ends, and
 * looks for tasks that have ended a tenth of a second later then. slurmstepd ends it before the
 * last task's hook task_exit returns. */

struct user_child {
    struct nuioa_subprocess process;
    int pidfd;          /* -1: none, or Linux before 5.3 */
    int64_t started_ms; /* by nuioa_clock_ms() */
};

/* The value without a child. */
#define USER_CHILD_NONE \
    { \
        NUIOA_SUBPROCESS_NONE, -1, 0 \
    }

/* Fills *user with the job's user, and his groups as Slurm has them, which Slurm owns. Returns 0;
 * -EPERM if he is root, for whom there is no child; or -ENODATA if Slurm does not tell. */
int user_child_user(spank_t spank, struct nuioa_user *user);

/* A child with this errand becomes *user, and runs work(fd, arg), as nuioa_subprocess_start() does,
 * with the descriptor `keep`, or without one if that is -1. */
struct user_errand {
    const struct nuioa_user *user;
    nuioa_subprocess_work *work;
    void *arg;
    int keep;
};

/* In init_post_opt: forks a child for this errand, which lives for `life_ms` at most. Its standard
 * files are /dev/null, unless they are `keep`. If it cannot become the user, it does nothing.
 * Returns 0 and *child, which user_child_end() ends; or -errno, and there is none. The errand is
 * the caller's. */
int user_child_start(struct user_child *child, struct user_errand *errand, unsigned life_ms);

/* In any later hook: reads what the child writes, until it closes its end of the pipe, or
 * `limit_ms` have passed since its start; if it has written something by then, for another 100 ms.
 * Returns 0 and *bytes, which the caller frees, and their *length; or what nuioa_subprocess_read()
 * returns. The bytes are the user's, who may have written anything. */
int user_child_read(struct user_child *child, unsigned limit_ms, size_t max, void **bytes,
                    size_t *length);

/* In any later hook: kills the child, and waits until it is dead, for `wait_ms` at most. At the end
 * of a step Slurm waits a second, then two, four and so on, while a process is left in slurmstepd's
 * cgroup. Linux before 5.3 kills in slurmstepd itself only, and does not wait. */
void user_child_kill(const struct user_child *child, int wait_ms);

/* In slurmstepd itself: kills the child, closes the pipe, and takes its status. It waits for that
 * half a second at most. Of a child that has written nothing, and may hang in the kernel, it waits
 * 20 ms, then moves it out of the step's cgroup and leaves it behind. Without a child it does
 * nothing. */
void user_child_end(struct user_child *child);

#endif
