#ifndef SPANK_RENDEZVOUS_NODE_DIFF_H
#define SPANK_RENDEZVOUS_NODE_DIFF_H

#include "spank/rendezvous/record.h"

/* What an administrator wants to see: in what a node is not like the others. */

/* Equal for nodes with the same NUMA nodes, cores and NICs, in the same states and places. */
uint64_t differ_digest(const struct record *record);

#define DIFFER_TEXT 128

/* Fills texts[max], one for each difference: "no mlx5_0:1", "mlx5_0:1 is down". Returns how many. */
unsigned differ_texts(const struct record *usual, const struct record *other, char (*texts)[DIFFER_TEXT],
                      unsigned max);

/* FNV-1a over bytes; begin with DIFFER_BASIS. */
#define DIFFER_BASIS 0xcbf29ce484222325u
uint64_t differ_add(uint64_t digest, const void *bytes, size_t length);
uint64_t differ_add_text(uint64_t digest, const char *text);

#endif
