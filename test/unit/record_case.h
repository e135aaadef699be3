/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TEST_RECORD_CASE_H
#define NUIOA_TEST_RECORD_CASE_H

#include <stddef.h>
#include <stdint.h>

#include "spank/report/wire.h"

/* Records of nodes, as they come over the network, for tests. */

/* Returns the record of node `node`, named "n1" for 0: one NIC in this state and on this NUMA node,
 * and `count` ranks in a row each. Sets *length to its bytes. The caller frees it. */
void *make_record(uint32_t node, uint32_t state, const char *numa, uint32_t count, size_t *length);

/* Sets the number at an offset of a record. */
void set_u32(char *bytes, size_t offset, uint32_t value);

/* The offset of a fact of the first NIC of a record. */
#define NIC(field) (sizeof(struct wire_record) + offsetof(struct wire_nic, field))

#endif
