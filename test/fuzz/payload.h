/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_FUZZ_PAYLOAD_H
#define TEST_FUZZ_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>

#include "topology/node.h"

/* The size of the header that node_serialize.c puts before the fields of a node. */
#define PAYLOAD_HEADER 56

/* Writes the header that belongs before these bytes: random bytes never have the right sum. */
void payload_header(uint8_t header[PAYLOAD_HEADER], const uint8_t *payload, uint64_t length);

/* Reads a node from its fields, with the header that belongs to them. Returns what
 * nuioa_node_deserialize returns; the caller frees *node in both cases. */
int payload_read(struct nuioa_node *node, const uint8_t *payload, size_t length);

#endif
