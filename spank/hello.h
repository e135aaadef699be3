#ifndef SPANK_HELLO_H
#define SPANK_HELLO_H

#include <stdbool.h>
#include <stddef.h>

#include "wire.h"

/* What srun demands of a node that calls. */
struct hello_wanted {
    uint8_t key[WIRE_KEY_SIZE]; /* of the step */
    uint32_t job_id, step_id;
    bool any_job;
    uint32_t node_count;        /* 0: not known yet */
};

/* Reads what a node has said; its ranks stay in `bytes`, and are all different. False: it is not a node of this
 * step. */
bool hello_read(const struct hello_wanted *wanted, const void *bytes, size_t length, struct wire_hello *hello);

#endif
