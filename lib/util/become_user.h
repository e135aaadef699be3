/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_UTIL_BECOME_USER_H
#define NUIOA_UTIL_BECOME_USER_H

#include <sys/types.h>

/* A child of root's process that becomes a job's user, before it touches anything of his. */

struct nuioa_user {
    uid_t uid;
    gid_t gid;
    const gid_t *groups; /* [group_count]: the supplementary groups; not owned */
    int group_count;
};

/* Changes the whole process to *user for good: real, effective and saved ids, and the supplementary
 * groups. It keeps no right of root's. After that the user's other processes cannot read its memory
 * (PR_SET_DUMPABLE), it leaves no core file, and it maps at most 512 MB more than now, unless
 * /proc/self/statm cannot be read. The signal that comes when the parent dies stays set, although a
 * change of user removes it. A process that is not root's keeps its groups, and can become only the
 * user that it is.
 *
 * It must be the only thread of its process. Returns 0; or -EPERM if the user is root, or if an id
 * is not his afterwards; -ESRCH if the parent has died meanwhile; or another negative errno. After
 * an error the process must end: its ids may be of both. */
int nuioa_become_user(const struct nuioa_user *user);

#endif
