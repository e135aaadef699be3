/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PLAN_GPUS_H
#define NUIOA_TOOL_PLAN_GPUS_H

#include "tools/plan_input.h"

/* The GPUs of the ranks that `nuioa plan` makes a plan for. */

/* Reads the list input->gpus into the tasks of *request, which is from plan_input_request with the
 * same arguments, and sets request->sees_gpu. With the option gpus=local-rank the list, or without
 * a list all GPUs of the node, are what each task sees; a task that is not the only one to see
 * these then has the GPU of its local rank, or if the order of their numbers is unknown, nobody
 * knows which. Returns 0, or an exit status after a message on stderr. */
int plan_gpus_find(struct plan_input *input, const struct nuioa_node *node,
                   const struct nuioa_options *options, struct nuioa_request *request);

#endif
