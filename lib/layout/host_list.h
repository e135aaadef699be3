/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_LAYOUT_HOST_LIST_H
#define NUIOA_LAYOUT_HOST_LIST_H

#include <stdint.h>

#include "util/error.h"

/* Limits: nodes of a list, and bytes of a node's name with its NUL. */
#define NUIOA_HOSTS_MAX 65536
#define NUIOA_HOST_BYTES 64

/* A list of nodes in its order. All zeros is an empty one. */
struct nuioa_host_list {
    uint32_t count;
    char (*names)[NUIOA_HOST_BYTES]; /* [count]; letters, digits, '.', '_' and '-' */
};

/* Reads a list as Slurm writes it, such as "n[1-3,08-11],m7", where a name has at most one pair of
 * brackets, at its end. *list is overwritten. Returns 0, and the caller frees the list with
 * nuioa_host_list_free; or with *err and an empty list -EINVAL if it is malformed or a name too
 * long, -E2BIG above NUIOA_HOSTS_MAX, or -ENOMEM. */
int nuioa_host_list_parse(const char *text, struct nuioa_host_list *list, struct nuioa_error *err);

/* Fills the caller's node_of[list->count] with a number for each name, from 0, the same for equal
 * names. Returns 0 or -ENOMEM. */
int nuioa_host_list_number(const struct nuioa_host_list *list, uint32_t *node_of);

/* Frees the names and makes the list empty. */
void nuioa_host_list_free(struct nuioa_host_list *list);

/* Reads numbers of tasks on each of `node_count` nodes: one number for all, or one for each, with
 * commas between them, where "3(x2)" is 3 on each of two nodes. Fills the caller's
 * tasks[node_count]. Returns 0; or -EINVAL with *err, and tasks[] is undefined. */
int nuioa_task_counts_parse(const char *text, uint32_t node_count, uint32_t *tasks,
                            struct nuioa_error *err);

#endif
