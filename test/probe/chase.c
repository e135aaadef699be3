/* SPDX-License-Identifier: BSD-3-Clause */

/* The loop of nuioa probe over a buffer of any size: chase BYTES [CPU]. Prints ns a load. */

#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/probe/measure.h"

int main(int argc, char **argv)
{
    struct probe_buffer buffer;
    struct nuioa_error err;
    size_t bytes = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    if (argc > 2) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(atoi(argv[2]), &set);
        sched_setaffinity(0, sizeof(set), &set);
    }
    if (bytes < 4096 || probe_buffer_open(&buffer, bytes, -1, &err)) {
        fprintf(stderr, "chase: %s\n", bytes < 4096 ? "chase BYTES [CPU]" : err.text);
        return 1;
    }
    probe_buffer_chase(&buffer, 256); /* everything that fits is in the caches now */
    printf("%.2f\n", probe_buffer_chase(&buffer, 256));
    probe_buffer_close(&buffer);
    return 0;
}
