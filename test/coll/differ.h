/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_COLL_DIFFER_H
#define TEST_COLL_DIFFER_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The randomised comparison of MPI_Bcast, which a preloaded library may have overridden, with
 * PMPI_Bcast, which it has not. All ranks draw the same numbers, so that each knows what the others
 * do. */

/* --- numbers ---------------------------------------------------------------------------------- */

/* xorshift64*; never 0. */
struct draw {
    uint64_t state;
};

uint64_t draw_next(struct draw *d);
static inline int draw_below(struct draw *d, int n)
{
    return (int)(draw_next(d) % (unsigned)n);
}
static inline bool draw_percent(struct draw *d, int percent)
{
    return draw_below(d, 100) < percent;
}

/* A number that depends on all four. */
uint64_t draw_hash(uint64_t a, uint64_t b, uint64_t c, uint64_t d);

/* --- types ------------------------------------------------------------------------------------ */

/* The base elements of a message. MIXED is an int32 and a double. */
enum base {
    BASE_U8,
    BASE_I32,
    BASE_U32,
    BASE_I64,
    BASE_F32,
    BASE_F64,
    BASE_2INT,
    BASE_MIXED,
    BASES
};

#define LAYOUT_FOLD_MAX 5

/* A datatype of `fold` base elements, in the order of its signature at `at` (bytes). */
struct layout {
    MPI_Datatype type;
    const char *name;
    enum base base;
    int fold;
    ptrdiff_t lower, extent;
    ptrdiff_t at[LAYOUT_FOLD_MAX];
};

#define LAYOUTS_PER_BASE 8

/* Zero-initialise; layout 0 of each base is the plain type. */
struct types {
    struct layout of[BASES][LAYOUTS_PER_BASE];
};

void types_make(struct types *types);
void types_free(struct types *types);

/* Picks a layout whose fold divides `unit`. */
const struct layout *types_pick(const struct types *types, enum base base, int unit,
                                uint64_t number);

/* Writes `count` elements at origin; element i of the base gets a small integer made of seed and
 * first + i. */
void layout_fill(const struct layout *layout, char *origin, int count, uint64_t seed,
                 uint64_t first);

/* --- communicators ---------------------------------------------------------------------------- */

#define RANKS_MAX 64
#define SLOTS 10

/* Every rank knows the members of every communicator, also where it is none (comm is NULL then). */
struct slot {
    bool used;
    const char *kind;
    MPI_Comm comm;
    int size;              /* number of ranks in the group; in an inter-communicator in group A */
    int member[RANKS_MAX]; /* ranks of the context's world */
    int remote;            /* number of ranks in group B; 0: no inter-communicator */
    int remote_member[RANKS_MAX];
    int me; /* my rank in my group; -1: none */
    bool inside_b;
    int errors; /* 0: fatal, 1: MPI_ERRORS_RETURN, 2: a handler of ours */
};

struct comms {
    MPI_Comm world;
    int rank, size;
    int node[RANKS_MAX];     /* lowest rank on the same node */
    struct slot slot[SLOTS]; /* the first is the world itself */
    MPI_Errhandler handler;
    int keyval; /* of an attribute that some have */
    int attributes_set, attributes_deleted;
    int made, freed;
};

void comms_begin(struct comms *comms, MPI_Comm world);
/* Makes, frees, or sets something on one communicator, which all ranks draw alike. *what: a word
 * for it, for the watchdog. */
void comms_step(struct comms *comms, struct draw *draw, const char **what);
void comms_end(struct comms *comms);

/* The number of calls of our error handler in this thread. */
extern _Thread_local int comms_handler_calls;

/* --- calls ------------------------------------------------------------------------------------ */

struct context {
    struct comms comms;
    struct types types;
    struct draw draw;
    uint64_t seed;
    size_t max_bytes;
    long step, differences;
    long comparisons; /* pairs of calls this rank took part in */
    bool verbose;
    int (*choose)(const char *collective, const char *algorithm); /* the library's; may be NULL */
    const char *(*algorithms)(const char *collective);
    const char *before; /* what was done to communicators before it, for the watchdog */
    char what[512];     /* the call that runs, for the watchdog too; empty between calls */
};

/* Makes one broadcast, drawn at random, by both names. */
void call_step(struct context *context);

#endif
