/* SPDX-License-Identifier: BSD-3-Clause */

/* Threads that use a communicator, or with "window" a window, for the first time at the same
 * moment, again and again. Each rank sends to itself. Prints what a profile must have. */
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 10000, EACH = 4 };

static MPI_Comm comm;
static MPI_Win window;
static int rank, windows, arrived, gone;
static char ours[THREADS], theirs[THREADS];

/* Waits until all threads have called it as often. None of them sleeps, so they go on at the same
 * moment. */
static void meet(int *count, int round)
{
    __atomic_fetch_add(count, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(count, __ATOMIC_ACQUIRE) < THREADS * round)
        sched_yield();
}

static void use(int thread)
{
    MPI_Request request;
    if (windows) {
        MPI_Put(&ours[thread], 1, MPI_CHAR, rank, thread, 1, MPI_CHAR, window);
        return;
    }
    MPI_Irecv(&theirs[thread], 1, MPI_CHAR, rank, thread, comm, &request);
    MPI_Send(&ours[thread], 1, MPI_CHAR, rank, thread, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void begin(void)
{
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (windows) {
        MPI_Win_create(theirs, sizeof(theirs), 1, MPI_INFO_NULL, comm, &window);
        MPI_Win_lock_all(0, window);
    }
}

static void end(void)
{
    if (windows) {
        MPI_Win_unlock_all(window);
        MPI_Win_free(&window);
    }
    MPI_Comm_free(&comm);
}

static void *run(void *arg)
{
    int thread = (int)(size_t)arg;
    for (int round = 1; round <= ROUNDS; round++) {
        if (thread == 0)
            begin();
        meet(&arrived, round);
        for (int i = 0; i < EACH; i++)
            use(thread);
        meet(&gone, round);
        if (thread == 0)
            end();
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level != MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    windows = argc > 1 && !strcmp(argv[1], "window");
    for (size_t t = 1; t < THREADS; t++)
        pthread_create(&threads[t], NULL, run, (void *)t);
    run(NULL);
    for (int t = 1; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    printf("pair %d %d %d %d 0\n", rank, rank, ROUNDS * THREADS * EACH, ROUNDS * THREADS * EACH);
    MPI_Finalize();
    return 0;
}
