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
bool coll_type_is_contiguous(MPI_Datatype type)
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

bool coll_type_is_plain(const void *buffer, MPI_Datatype type)
{
    return coll_type_is_contiguous(type) && !coll_device_holds(buffer);
}

bool coll_type_packs_plainly(void)
{
    int numbers[3] = { 1, -2, 3 }, place = 0;
    char packed[sizeof(numbers)];
    return PMPI_Pack(numbers, 3, MPI_INT, packed, sizeof(packed), &place, MPI_COMM_SELF) ==
               MPI_SUCCESS &&
           place == sizeof(packed) && !memcmp(numbers, packed, sizeof(packed));
}

int coll_pack(const void *buffer, int count, MPI_Datatype type, char *bytes)
{
    int place = 0;
    uint64_t size = coll_bytes(count, type);
    if (!size)
        return MPI_SUCCESS;
    if (!coll_type_is_plain(buffer, type))
        return PMPI_Pack(buffer, count, type, bytes, (int)size, &place, MPI_COMM_SELF);
    memmove(bytes, buffer, size); /* not memcpy: with MPI_IN_PLACE both may be one buffer */
    return MPI_SUCCESS;
}

int coll_unpack(const char *bytes, void *buffer, int count, MPI_Datatype type)
{
    int place = 0;
    uint64_t size = coll_bytes(count, type);
    if (!size)
        return MPI_SUCCESS;
    if (!coll_type_is_plain(buffer, type))
        return PMPI_Unpack(bytes, (int)size, &place, buffer, count, type, MPI_COMM_SELF);
    memmove(buffer, bytes, size);
    return MPI_SUCCESS;
}

int coll_view_open(struct coll_view *view, const void *buffer, int count, MPI_Datatype type,
                   enum coll_access access)
{
    int rc = MPI_SUCCESS;
    *view = (struct coll_view){ .buffer = (void *)(uintptr_t)buffer, .count = count, .type = type };
    view->bytes = coll_bytes(count, type);
    view->packed = view->bytes && !coll_type_is_plain(buffer, type);
    view->data = view->buffer;
    if (!view->packed)
        return MPI_SUCCESS;
    view->data = malloc(view->bytes);
    if (!view->data)
        return MPI_ERR_NO_MEM;
    if (access & COLL_READ)
        rc = coll_pack(buffer, count, type, view->data);
    if (rc != MPI_SUCCESS)
        free(view->data);
    return rc;
}

int coll_view_close(struct coll_view *view, enum coll_access access)
{
    int rc = MPI_SUCCESS;
    if (!view->packed)
        return MPI_SUCCESS;
    if (access & COLL_WRITE)
        rc = coll_unpack(view->data, view->buffer, view->count, view->type);
    free(view->data);
    return rc;
}

/* --- operations ------------------------------------------------------------------------------ */

enum { OTHER = 0, INTEGER = 1, FLOATING = 2, COMPLEX = 4, BYTES = 8, PAIR = 16 };

#define OF(class_id, ...) \
    do { \
        const MPI_Datatype list[] = { __VA_ARGS__ }; \
        for (size_t i = 0; i < sizeof(list) / sizeof(*list); i++) \
            if (type == list[i]) \
                return class_id; \
    } while (0)

/* Returns the class of a type that programs often reduce, or OTHER. */
static int class_of(MPI_Datatype type)
{
    OF(FLOATING, MPI_DOUBLE, MPI_FLOAT, MPI_DOUBLE_PRECISION, MPI_REAL, MPI_LONG_DOUBLE);
    OF(INTEGER, MPI_INT, MPI_LONG, MPI_LONG_LONG, MPI_UNSIGNED, MPI_UNSIGNED_LONG, MPI_INTEGER,
       MPI_UNSIGNED_LONG_LONG, MPI_INT64_T, MPI_UINT64_T, MPI_INT32_T, MPI_UINT32_T, MPI_SHORT,
       MPI_UNSIGNED_SHORT, MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_INT8_T, MPI_UINT8_T, MPI_INT16_T,
       MPI_UINT16_T);
    OF(COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_C_FLOAT_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX);
    OF(BYTES, MPI_BYTE);
    OF(PAIR, MPI_2INT, MPI_DOUBLE_INT, MPI_FLOAT_INT, MPI_LONG_INT, MPI_SHORT_INT,
       MPI_LONG_DOUBLE_INT);
    return OTHER;
}

/* Returns the classes for which MPI allows the operation (MPI 3.1, sections 5.9.2 and 5.9.4). */
static int classes_for(MPI_Op op)
{
    if (op == MPI_SUM || op == MPI_PROD)
        return INTEGER | FLOATING | COMPLEX;
    if (op == MPI_MAX || op == MPI_MIN)
        return INTEGER | FLOATING;
    if (op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR)
        return INTEGER;
    if (op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR)
        return INTEGER | BYTES;
    return op == MPI_MAXLOC || op == MPI_MINLOC ? PAIR : OTHER;
}

bool coll_op_is_plain(MPI_Op op, MPI_Datatype type)
{
    return type != MPI_DATATYPE_NULL && (classes_for(op) & class_of(type));
}
