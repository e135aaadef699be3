/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOPOLOGY_NIC_ROLE_H
#define NUIOA_TOPOLOGY_NIC_ROLE_H

#include "topology/node.h"

/* What the site, or the user, says that NICs are for: the option nic_role, such as
 * "mlx5_8:storage,mlx5_bf*:management". Each item is a pattern for nuioa_nic_matches with the
 * wildcards '*' and '?', a colon, and a role. The last item that matches a NIC counts. */

/* Checks the form of such a list, which must not be empty. Returns 0, or -EINVAL with *err. */
int nuioa_nic_roles_check(const char *list, struct nuioa_error *err);

/* Sets the roles of all NICs of which the list says something, takes back those that an earlier
 * list has set, and judges the NICs anew. "" says nothing, and neither does a list of another form.
 */
void nuioa_nic_roles_set(struct nuioa_node *node, const char *list);

#endif
