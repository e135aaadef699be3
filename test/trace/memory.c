/* SPDX-License-Identifier: BSD-3-Clause */

/* The memory of the trace's counters, by their real code: bytes for each pair that communicates. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "mpi/trace/trace.h"

static double each(int ranks, int neighbours)
{
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    int pairs = 0;
    srand(1);
    trace_table_open(ranks, false);
    for (int i = 0; i < neighbours; i++)
        trace_add(TRACE_TO, rand() % ranks, 8, 1);
    size_t used = mallinfo2().uordblks + mallinfo2().hblkhd - before;
    for (int i = 0; i < ranks; i++)
        pairs += trace_counted(TRACE_TO, i) != NULL;
    trace_table_close();
    return (double)used / pairs;
}

int main(void)
{
    static const int sizes[][2] = { { 64, 63 },     { 1000, 8 },     { 1000, 50 },
                                    { 10000, 8 },   { 10000, 50 },   { 100000, 50 },
                                    { 1000000, 1 }, { 1000000, 50 }, { 8000000, 1 } };
    printf("%8s %11s %12s\n", "ranks", "neighbours", "bytes/pair");
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
        printf("%8d %11d %12.0f\n", sizes[i][0], sizes[i][1], each(sizes[i][0], sizes[i][1]));
    return 0;
}
