/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PLAN_INPUT_H
#define NUIOA_TOOL_PLAN_INPUT_H

#include "ranks/request.h"
#include "util/arena.h"

/* The request that `nuioa plan` makes from its command line: which ranks there are, where Slurm
 * would bind them, and what they communicate. */

/* The most tasks of a plan. */
#define PLAN_TASKS_MAX 65536

/* The input as it was requested. plan_input_free frees all arrays and sets: the arena owns them, or
 * for `pairs` malloc. The texts are the caller's. Sets of CPUs hold OS indexes. */
struct plan_input {
    const char *command; /* for messages */
    struct {
        const char *ranks, *allowed; /* NULL if not given */
    } text;
    uint32_t task_count;      /* 0 if not given, until plan_input_read has found it */
    uint32_t cpus_per_task;   /* 0 if not given */
    uint32_t *ranks;          /* [task_count]: global ranks */
    bool whole_job;           /* no ranks were requested: these are taken for all of the job */
    hwloc_bitmap_t allowed;   /* NULL if not given */
    const char *binding;      /* a file, "none", or NULL */
    const char *gpus;         /* as requested, such as "0;1;2,3", or NULL */
    uint32_t *gpu_list;       /* indexes into node->gpus, those of each task one after the other */
    uint32_t line_count;      /* of that file */
    hwloc_bitmap_t *cpus;     /* [line_count], later [task_count] */
    struct nuioa_task *tasks; /* [task_count] */
    struct nuioa_pair *pairs; /* [pair_count] */
    uint32_t pair_count;
    struct nuioa_arena arena;
};

/* Reads the texts of *input, and the file `binding`; all else in it must be zero. Returns 0, or an
 * exit status after a message on stderr. The caller calls plan_input_free in any case. */
int plan_input_read(struct plan_input *input);

/* Fills *request, which then points into *input, *node and *options: they must outlive it, and
 * there is nothing to free in it. Adds warnings about the hints to *warnings. Returns 0, or an exit
 * status after a message on stderr. */
int plan_input_request(struct plan_input *input, const struct nuioa_node *node,
                       const struct nuioa_options *options, struct nuioa_request *request,
                       struct nuioa_warnings *warnings);

/* Reads the list input->gpus into the tasks of *request, which is from plan_input_request with the
 * same arguments, and sets request->sees_gpu. With the option gpus=local-rank the list, or without
 * a list all GPUs of the node, are what each task sees; a task that is not the only one to see
 * these then has the GPU of its local rank, or if the order of their numbers is unknown, nobody
 * knows which. Returns 0, or an exit status after a message on stderr. */
int plan_input_gpus(struct plan_input *input, const struct nuioa_node *node,
                    const struct nuioa_options *options, struct nuioa_request *request);

/* Frees what *input owns and clears it. */
void plan_input_free(struct plan_input *input);

#endif
