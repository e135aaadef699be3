/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/coll/type.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/coll/device.h"

uint64_t coll_bytes(int count, MPI_Datatype type)
{
    int size = 0;
    if (count <= 0 || type == MPI_DATATYPE_NULL || PMPI_Type_size(type, &size) != MPI_SUCCESS ||
        size <= 0)
        return 0;
    uint64_t bytes = (uint64_t)count * (uint64_t)size;
    return bytes <= INT_MAX ? bytes : 0;
}

/* Types such as MPI_DOUBLE_INT have gaps. */
static bool is_dense(MPI_Datatype type)
{
    MPI_Aint low, extent;
    int size;
    return PMPI_Type_size(type, &size) == MPI_SUCCESS &&
           PMPI_Type_get_extent(type, &low, &extent) == MPI_SUCCESS && !low && extent == size;
}

/* A predefined type without gaps is contiguous, and so is MPI_Type_contiguous or MPI_Type_dup of
 * it. */
static bool is_contiguous(MPI_Datatype type)
{
    int integers, addresses, types, combiner, length;
    MPI_Datatype inner;
    if (PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS)
        return false;
    if (combiner == MPI_COMBINER_NAMED)
        return is_dense(type);
    if ((combiner != MPI_COMBINER_CONTIGUOUS && combiner != MPI_COMBINER_DUP) || integers > 1 ||
        addresses || types != 1 ||
        PMPI_Type_get_contents(type, integers, 0, 1, &length, NULL, &inner) != MPI_SUCCESS)
        return false;
    int inside = MPI_COMBINER_NAMED;
    PMPI_Type_get_envelope(inner, &integers, &addresses, &types, &inside);
    if (inside == MPI_COMBINER_NAMED)
        return is_dense(inner);
    PMPI_Type_free(&inner);
    return false;
}

/* Returns true if elements of this type in `buffer` are plain bytes for the CPU: the type is
 * contiguous, and the buffer is in the memory of the host. */
static bool is_plain(const void *buffer, MPI_Datatype type)
{
    return is_contiguous(type) && !coll_device_holds(buffer);
}

bool coll_type_packs_plainly(void)
{
    int numbers[3] = { 1, -2, 3 }, place = 0;
    char packed[sizeof(numbers)];
    return PMPI_Pack(numbers, 3, MPI_INT, packed, sizeof(packed), &place, MPI_COMM_SELF) ==
               MPI_SUCCESS &&
           place == sizeof(packed) && !memcmp(numbers, packed, sizeof(packed));
}

int coll_view_open(struct coll_view *view, const void *buffer, int count, MPI_Datatype type,
                   enum coll_access access)
{
    int place = 0, rc = MPI_SUCCESS;
    *view = (struct coll_view){ .buffer = (void *)(uintptr_t)buffer, .count = count, .type = type };
    view->bytes = coll_bytes(count, type);
    view->packed = view->bytes && !is_plain(buffer, type);
    view->data = view->buffer;
    if (!view->packed)
        return MPI_SUCCESS;
    view->data = malloc(view->bytes);
    if (!view->data)
        return MPI_ERR_NO_MEM;
    if (access == COLL_READ)
        rc = PMPI_Pack(buffer, count, type, view->data, (int)view->bytes, &place, MPI_COMM_SELF);
    if (rc != MPI_SUCCESS)
        free(view->data);
    return rc;
}

int coll_view_close(struct coll_view *view, enum coll_access access)
{
    int place = 0, rc = MPI_SUCCESS;
    if (!view->packed)
        return MPI_SUCCESS;
    if (access == COLL_WRITE)
        rc = PMPI_Unpack(view->data, (int)view->bytes, &place, view->buffer, view->count,
                         view->type, MPI_COMM_SELF);
    free(view->data);
    return rc;
}
