#ifndef SPANK_HOSTS_H
#define SPANK_HOSTS_H

#include <stdint.h>

/* Lists of nodes as Slurm writes them into a step's environment. */

/* Position of `host` in "n[1-3],m7", or -ENOENT. */
int hosts_find(const char *list, const char *host);

/* Reads "1(x2),3", tasks of each node: *before are those of the nodes before `position`, *there
 * those of that node. 0 or -EINVAL. */
int hosts_tasks(const char *list, uint32_t position, uint32_t *before, uint32_t *there);

#endif
