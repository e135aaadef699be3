/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "spank/rendezvous/hello.h"
#include "input.h"

/* The body of HELLO, which srun reads from the network or out of a credential. The first byte says
 * what srun knows of the step already, the rest is the body. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    uint8_t known = input_byte(&in);
    struct hello_wanted wanted = { .job_id = 7, .any_job = known & 1, .step_id = 0 };
    wanted.node_count = known & 2 ? 4 : 0;
    struct wire_hello hello;
    size_t length = in.size, made;
    void *body = input_block(&in, &length);
    if (hello_read(&wanted, body, length, &hello)) {
        INPUT_CHECK(hello.node < hello.node_count && hello.node_count <= WIRE_NODES_MAX);
        INPUT_CHECK(hello.rank_count <= WIRE_TASKS_MAX);
        void *again = hello_make(&hello, (const uint32_t *)((char *)body + sizeof(hello)), &made);
        if (INPUT_HOLDS(again != NULL))
            INPUT_CHECK(made == length && !memcmp(again, body, length));
        free(again);
    }
    free(body);
    return 0;
}
