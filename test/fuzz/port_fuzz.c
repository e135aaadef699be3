/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "spank/report/listener.h"
#include "input.h"

/* The variable by which srun tells its port: slurmstepd reads it as root. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    struct nuioa_error err;
    uint16_t port;
    char *text = input_text(&in);
    if (listener_read_port(text, &port, &err))
        INPUT_CHECK(*err.text);
    else
        INPUT_CHECK(port);
    free(text);
    return 0;
}
