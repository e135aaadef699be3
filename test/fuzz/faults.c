/* SPDX-License-Identifier: BSD-3-Clause */
#include "faults.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "input.h"

/* The most calls that are made, in all runs of one input together, roughly. */
#define CALLS_MAX 4000000u

static jmp_buf input_ends;
static struct fault_counts counts;
static unsigned long failed; /* calls, in all runs */

/* The linker hands libFuzzer's calls of the target to __wrap_LLVMFuzzerTestOneInput. */
int __real_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int __wrap_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

bool faults_hit(void)
{
    return fault_counts_now() && counts.hits;
}

void faults_end_input(void)
{
    longjmp(input_ends, 1);
}

/* Stops the process with a finding if the decoder has not given back its memory. */
static void check_memory(const struct fault_plan *plan)
{
    char text[512];
    ledger_read(text, sizeof(text));
    if (!*text)
        return;
    fprintf(stderr, "this does not hold: no memory is left when %s call %u fails%s: %s\n",
            fault_names[plan->kind], plan->number, plan->all ? " and all after it" : "", text);
    abort();
}

/* Runs the target once. What it has when it ends early is lost. */
static void run(const uint8_t *data, size_t size, const struct fault_plan *plan)
{
    ledger_clear();
    memset(&counts, 0, sizeof(counts));
    fault_begin(plan, &counts);
    if (!setjmp(input_ends)) {
        __real_LLVMFuzzerTestOneInput(data, size);
        check_memory(plan);
    }
    failed += counts.hits > 0;
    fault_end();
}

static void fail_each(const uint8_t *data, size_t size, enum fault_kind kind, uint32_t most)
{
    struct fault_plan plan = { kind, 0, false };
    run(data, size, &plan);
    uint32_t last = counts.calls[kind], stride = (last + most - 1) / most;
    /* An input with very many calls takes long each time. */
    if (stride && last / stride > CALLS_MAX / last)
        stride = last / (CALLS_MAX / last + 1) + 1;
    /* With a stride the calls that fail are others for each input. */
    for (plan.number = stride ? 1 + (uint32_t)(size % stride) : 1; plan.number <= last;
         plan.number += stride)
        for (int all = 0; all < 2; all++) {
            plan.all = all;
            run(data, size, &plan);
        }
}

static void print_failed(void)
{
    fprintf(stderr, "stat::failed_calls: %lu\n", failed);
}

int __wrap_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *most = getenv("NUIOA_FUZZ_FAULTS");
    __real_LLVMFuzzerTestOneInput(data, size);
    if (!most)
        return 0;
    static bool prints;
    if (!prints)
        prints = !atexit(print_failed);
    fail_each(data, size, FAULT_MEMORY, (uint32_t)atoi(most));
    fail_each(data, size, FAULT_HWLOC, (uint32_t)atoi(most));
    return 0;
}
