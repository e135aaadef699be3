/* SPDX-License-Identifier: BSD-3-Clause */

/* Random numbers, datatypes, and values for their elements. */
#include <string.h>

#include "differ.h"

uint64_t draw_next(struct draw *d)
{
    uint64_t x = d->state;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    d->state = x;
    return (x * 0x2545f4914f6cdd1dULL) >> 16;
}

uint64_t draw_hash(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    uint64_t x =
        a * 0x9e3779b97f4a7c15ULL + b * 0xc2b2ae3d27d4eb4fULL + c * 0x165667b19e3779f9ULL + d;
    x ^= x >> 31;
    x *= 0xbf58476d1ce4e5b9ULL;
    return x ^ x >> 29;
}

/* --- types ------------------------------------------------------------------------------------ */

static const MPI_Aint plain_size[BASES] = { 1, 4, 4, 8, 4, 8, 8, 16 };

static MPI_Datatype mixed(MPI_Aint second, MPI_Aint extent)
{
    int lengths[] = { 1, 1 };
    MPI_Aint at[] = { 0, second };
    MPI_Datatype parts[] = { MPI_INT32_T, MPI_DOUBLE }, made, resized;
    MPI_Type_create_struct(2, lengths, at, parts, &made);
    MPI_Type_create_resized(made, 0, extent, &resized);
    MPI_Type_free(&made);
    return resized;
}

static MPI_Datatype plain_type(enum base base)
{
    MPI_Datatype duplicate;
    switch (base) {
    case BASE_U8: return MPI_UINT8_T;
    case BASE_I32: return MPI_INT32_T;
    case BASE_U32: return MPI_UINT32_T;
    case BASE_I64: return MPI_INT64_T;
    case BASE_F32: return MPI_FLOAT;
    case BASE_F64: return MPI_DOUBLE;
    case BASE_2INT: return MPI_2INT;
    default: duplicate = mixed(8, 16); return duplicate;
    }
}

/* `fold` elements at the places `at`, in that order, in an extent of its own */
static void put(struct layout *l, const char *name, const struct layout *plain, int fold,
                const int *at, int lower, int extent)
{
    int ones[LAYOUT_FOLD_MAX] = { 1, 1, 1, 1, 1 };
    MPI_Aint e = plain_size[plain->base], places[LAYOUT_FOLD_MAX];
    MPI_Datatype made;
    *l = (struct layout){
        .name = name,
        .base = plain->base,
        .fold = fold,
        .lower = lower * e,
        .extent = extent * e,
    };
    for (int i = 0; i < fold; i++)
        places[i] = l->at[i] = at[i] * e;
    MPI_Type_create_hindexed(fold, ones, places, plain->type, &made);
    MPI_Type_create_resized(made, lower * e, extent * e, &l->type);
    MPI_Type_free(&made);
    MPI_Type_commit(&l->type);
}

static void made_by(struct layout *l, const char *name, const struct layout *plain, int fold,
                    int stride, MPI_Datatype type)
{
    MPI_Aint e = plain_size[plain->base];
    *l = (struct layout){
        .type = type,
        .name = name,
        .base = plain->base,
        .fold = fold,
        .extent = ((fold - 1) * stride + 1) * e,
    };
    for (int i = 0; i < fold; i++)
        l->at[i] = i * stride * e;
    MPI_Type_commit(&l->type);
}

void types_make(struct types *types)
{
    for (int b = 0; b < BASES; b++) {
        struct layout *l = types->of[b];
        MPI_Datatype type;
        l[0] = (struct layout){
            .type = plain_type(b),
            .name = "plain",
            .base = b,
            .fold = 1,
            .extent = plain_size[b],
        };
        MPI_Type_commit(&l[0].type);
        MPI_Type_contiguous(3, l[0].type, &type);
        made_by(&l[1], "contiguous", &l[0], 3, 1, type);
        MPI_Type_vector(4, 1, 2, l[0].type, &type);
        made_by(&l[2], "vector", &l[0], 4, 2, type);
        MPI_Type_contiguous(2, l[0].type, &type);
        made_by(&l[3], "pair", &l[0], 2, 1, type);
        put(&l[4], "hole", &l[0], 2, (int[]){ 0, 3 }, 0, 5);
        put(&l[5], "shuffled", &l[0], 3, (int[]){ 2, 0, 4 }, 0, 5);
        put(&l[6], "negative", &l[0], 2, (int[]){ -1, 1 }, -1, 3);
        MPI_Type_dup(l[0].type, &type);
        made_by(&l[7], "duplicate", &l[0], 1, 1, type);
    }
}

void types_free(struct types *types)
{
    for (int b = 0; b < BASES; b++)
        for (int i = b == BASE_MIXED ? 0 : 1; i < LAYOUTS_PER_BASE; i++)
            MPI_Type_free(&types->of[b][i].type);
}

const struct layout *types_pick(const struct types *types, enum base base, int unit,
                                uint64_t number)
{
    const struct layout *l = &types->of[base][number % LAYOUTS_PER_BASE];
    return unit % l->fold == 0 ? l : &types->of[base][0];
}

static void put_value(enum base base, char *at, uint64_t number)
{
    uint32_t u = (uint32_t)number;
    switch (base) {
    case BASE_U8: *at = (char)u; break;
    case BASE_I32: memcpy(at, &(int32_t){ (int32_t)(u % 200) - 100 }, 4); break;
    case BASE_U32: memcpy(at, &u, 4); break;
    case BASE_I64: memcpy(at, &(int64_t){ (int64_t)(number % 2000) - 1000 }, 8); break;
    case BASE_F32: memcpy(at, &(float){ (float)(u % 64) }, 4); break;
    case BASE_F64: memcpy(at, &(double){ (double)(u % 4096) - 2048 }, 8); break;
    case BASE_2INT: memcpy(at, (int[2]){ (int)(u % 5), (int)(u >> 8 & 1023) }, 8); break;
    default: memcpy(at, &(int32_t){ (int32_t)u }, 4); memcpy(at + 8, &(double){ u % 77 }, 8);
    }
}

void layout_fill(const struct layout *l, char *origin, int count, uint64_t seed, uint64_t first)
{
    for (int i = 0; i < count; i++)
        for (int k = 0; k < l->fold; k++)
            put_value(l->base, origin + i * l->extent + l->at[k],
                      draw_hash(seed, first + (uint64_t)i * (uint64_t)l->fold + (uint64_t)k, 7, 1));
}
