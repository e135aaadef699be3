/* SPDX-License-Identifier: BSD-3-Clause */

/* The traffic of the NAS benchmark lu.C.8, as the slides on TreeMatch show it: a stencil on a grid
 * of 2 x 4 ranks, and a little more. One byte for each kilobyte there, in messages of 16 KiB. Rank
 * 0 prints the pairs of the profile that a trace of it must give. */
#include "known.h"

enum { RANKS = 8, MESSAGE = 16384 };

static const int volume[RANKS][RANKS] = {
    { 0, 311811, 1, 0, 157979, 0, 0, 0 },      { 311811, 0, 311810, 1, 0, 159986, 0, 0 },
    { 1, 311810, 0, 311811, 0, 0, 153832, 0 }, { 0, 1, 311811, 0, 0, 0, 0, 151825 },
    { 157979, 0, 0, 0, 0, 311811, 1, 0 },      { 0, 159986, 0, 0, 311811, 0, 311810, 1 },
    { 0, 0, 153832, 0, 1, 311810, 0, 311811 }, { 0, 0, 0, 151825, 0, 1, 311811, 0 },
};

int main(int argc, char **argv)
{
    static char out[MESSAGE], in[MESSAGE];
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != RANKS)
        MPI_Abort(MPI_COMM_WORLD, 2);
    /* The ranks exchange in pairs; each step has other pairs. */
    for (int step = 1; step < RANKS; step++)
        for (int other = rank ^ step, left = volume[rank][other]; left > 0; left -= MESSAGE) {
            int bytes = left < MESSAGE ? left : MESSAGE;
            MPI_Sendrecv(out, bytes, MPI_BYTE, other, 0, in, bytes, MPI_BYTE, other, 0,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            sent_by(rank, other, bytes);
        }
    print_known(rank, size);
    MPI_Finalize();
    return 0;
}
