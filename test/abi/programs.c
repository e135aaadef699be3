/* SPDX-License-Identifier: BSD-3-Clause */

/* Eight small MPI programs in one: "programs NAME" runs one of them on any number of ranks, and
 * rank 0 prints "NAME: right" if the result is right on all of them. They use what differs between
 * the ABIs of MPI: handles and constants by value, the status, callbacks with handles. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

/* Each rank as root, messages of 4 bytes to 1 MB. */
static bool bcast(void)
{
    const int counts[] = { 1, 1000, 256 * 1024 };
    int *data = malloc(256 * 1024 * sizeof(*data));
    bool right = true;
    for (int root = 0; root < size; root++)
        for (int c = 0; c < 3; c++) {
            for (int i = 0; i < counts[c]; i++)
                data[i] = rank == root ? i ^ root : -1;
            MPI_Bcast(data, counts[c], MPI_INT, root, MPI_COMM_WORLD);
            for (int i = 0; i < counts[c]; i++)
                right = right && data[i] == (i ^ root);
        }
    free(data);
    return right;
}

static void larger(void *in, void *inout, int *count, MPI_Datatype *type)
{
    long *a = in, *b = inout;
    for (int i = 0; *type == MPI_LONG && i < *count; i++)
        b[i] = a[i] > b[i] ? a[i] : b[i];
}

static bool reduce(void)
{
    long own[2] = { rank, -rank }, all[2];
    double sum, part = 0.5 * rank;
    MPI_Op op;
    MPI_Op_create(larger, 1, &op);
    MPI_Allreduce(own, all, 2, MPI_LONG, op, MPI_COMM_WORLD);
    MPI_Op_free(&op);
    MPI_Allreduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, own, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    return op == MPI_OP_NULL && all[0] == size - 1 && all[1] == 0 && own[0] == size - 1 &&
           sum == 0.25 * size * (size - 1);
}

/* To the next rank, received from anybody: what the status says. */
static bool exchange(void)
{
    int got[8], sent[3] = { rank, 2 * rank, 3 * rank }, count, before = (rank + size - 1) % size;
    MPI_Request requests[2];
    MPI_Status status[2];
    MPI_Irecv(got, 8, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(sent, 3, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, status);
    MPI_Get_count(&status[0], MPI_INT, &count);
    MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    return count == 3 && status[0].MPI_SOURCE == before && status[0].MPI_TAG == 7 &&
           got[2] == 3 * before && requests[0] == MPI_REQUEST_NULL;
}

static bool communicators(void)
{
    MPI_Comm half, copy, none;
    int value = rank, result, same;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Bcast(&value, 1, MPI_INT, 0, half);
    MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 0, &none);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_compare(copy, MPI_COMM_WORLD, &same);
    MPI_Allreduce(&rank, &result, 1, MPI_INT, MPI_MIN, copy);
    MPI_Comm_free(&half);
    MPI_Comm_free(&copy);
    int last = size - 1 - (size - 1 - rank % 2) % 2; /* the highest rank of this half */
    return value == last && none == MPI_COMM_NULL && half == MPI_COMM_NULL && result == 0 &&
           same == MPI_CONGRUENT;
}

/* Every second column of a matrix, as a type. */
static bool types(void)
{
    int matrix[6][8], combiner, a, b, c;
    MPI_Datatype column, columns;
    MPI_Type_vector(6, 1, 8, MPI_INT, &column);
    MPI_Type_create_resized(column, 0, 2 * sizeof(int), &columns);
    MPI_Type_commit(&columns);
    for (int i = 0; i < 48; i++)
        matrix[i / 8][i % 8] = rank ? -1 : i;
    MPI_Bcast(matrix, 4, columns, 0, MPI_COMM_WORLD);
    MPI_Type_get_envelope(columns, &a, &b, &c, &combiner);
    bool right = combiner == MPI_COMBINER_RESIZED;
    for (int i = 0; i < 48; i++)
        right = right && matrix[i / 8][i % 8] == (rank && i % 2 ? -1 : i);
    MPI_Type_free(&columns);
    MPI_Type_free(&column);
    return right && column == MPI_DATATYPE_NULL;
}

static int copied, deleted;
static int copy(MPI_Comm comm, int key, void *extra, void *value, void *to, int *flag)
{
    (void)key;
    copied += comm == MPI_COMM_WORLD && extra == &copied;
    *(void **)to = value;
    *flag = 1;
    return MPI_SUCCESS;
}
static int delete (MPI_Comm comm, int key, void *value, void *extra)
{
    (void)key, (void)value;
    deleted += comm != MPI_COMM_NULL && extra == &copied;
    return MPI_SUCCESS;
}

static bool attributes(void)
{
    int key, found, *tag_limit, value = 5;
    void *got = NULL;
    MPI_Comm dup;
    MPI_Comm_create_keyval(copy, delete, &key, &copied);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &value);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_get_attr(dup, key, &got, &found);
    MPI_Comm_free(&dup);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_free_keyval(&key);
    bool right = found && got == &value && copied == 1 && deleted == 2;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_limit, &found);
    return right && found && *tag_limit >= 32767 && key == MPI_KEYVAL_INVALID;
}

static int handled;
static void handle(MPI_Comm *comm, int *code, ...)
{
    int class;
    MPI_Error_class(*code, &class);
    handled += *comm == MPI_COMM_WORLD && class == MPI_ERR_ROOT;
}

static bool errors(void)
{
    MPI_Errhandler handler;
    int value = 0, class;
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Bcast(&value, 1, MPI_INT, size + 3, MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int code = MPI_Send(&value, 1, MPI_INT, size + 3, 0, MPI_COMM_WORLD);
    MPI_Error_class(code, &class);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
    return handled == 1 && class == MPI_ERR_RANK;
}

static bool window(void)
{
    int memory[2] = { 0, 0 }, own = 100 + rank, next = (rank + 1) % size;
    MPI_Win win;
    MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&own, 1, MPI_INT, next, 0, 1, MPI_INT, win);
    MPI_Accumulate(&own, 1, MPI_INT, 0, 1, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    bool right = memory[0] == 100 + (rank + size - 1) % size &&
                 memory[1] == (rank ? 0 : 100 * size + size * (size - 1) / 2);
    MPI_Win_free(&win);
    return right && win == MPI_WIN_NULL;
}

static const struct {
    const char *name;
    bool (*run)(void);
} programs[] = {
    { "bcast", bcast },       { "reduce", reduce },
    { "exchange", exchange }, { "communicators", communicators },
    { "types", types },       { "attributes", attributes },
    { "errors", errors },     { "window", window },
};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = 0, all;
    for (size_t i = 0; argc > 1 && i < sizeof(programs) / sizeof(*programs); i++)
        if (!strcmp(programs[i].name, argv[1]))
            right = programs[i].run();
    MPI_Allreduce(&right, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    if (!rank)
        printf("%s: %s\n", argc > 1 ? argv[1] : "?", all ? "right" : "wrong");
    MPI_Finalize();
    return 0;
}
