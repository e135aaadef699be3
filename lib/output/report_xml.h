/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_OUTPUT_REPORT_XML_H
#define NUIOA_OUTPUT_REPORT_XML_H

#include "plan/plan.h"
#include "topology/node_load.h"

/* Writes the topology that `source` names as hwloc XML to the file `path`. Annotations make `lstopo
 * -i FILE` draw the ranks in their CPUs, coloured by weight, mark the leader and the chosen NICs,
 * and say beside each GPU which NICs are nearest to it. `plan` and `node` belong together; nothing
 * of them is changed. Returns 0; or with *err -EINVAL if the topology lacks CPUs of a rank,
 * -ENOMEM, or what nuioa_hwloc_open (whose limit of one thread holds here, too) or
 * nuioa_new_file_open and _close return. */
int nuioa_report_xml(const struct nuioa_plan *plan, const struct nuioa_node *node,
                     const struct nuioa_source *source, const char *path, struct nuioa_error *err);

#endif
