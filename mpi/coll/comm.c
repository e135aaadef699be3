/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/coll/comm.h"

#include "mpi/coll/device.h"
#include "mpi/coll/job.h"
#include "mpi/coll/memory.h"

#include <errno.h>
#include <stdlib.h>

#include "pmix/client/nuioa-client.h"

/* MPI libraries take a lock to find an attribute, so each thread keeps a cache of some of them. An
 * entry is valid only if its `when` is equal to `deleted`, which grows when an attribute is
 * deleted. */
struct cached {
    MPI_Comm comm;
    unsigned when;
    struct coll_comm *state; /* NULL: pass all calls on */
};
static int key = MPI_KEYVAL_INVALID; /* valid between MPI_Init and MPI_Finalize */
static unsigned deleted = 1;
static bool other_worlds; /* a communicator may have ranks of another MPI_COMM_WORLD */
static _Thread_local struct cached cache[8];

/* Returns the entry for this handle, which is a number or an address: Fibonacci hashing (D. Knuth,
 * "The Art of Computer Programming", volume 3, section 6.4, 1973). */
static struct cached *cached_of(MPI_Comm comm)
{
    uint64_t handle = (uint64_t)(uintptr_t)comm;
    return &cache[handle * UINT64_C(0x9e3779b97f4a7c15) >> 61];
}

static void free_comm(MPI_Comm *comm)
{
    if (*comm != MPI_COMM_NULL)
        PMPI_Comm_free(comm);
}

static void put_away(struct coll_comm *c)
{
    coll_window_give(c->window);
    free_comm(&c->node);
    free_comm(&c->own);
    coll_map_clear(&c->map);
    free(c->table);
    c->window = NULL;
    c->table = NULL;
}

static void invalidate_caches(void)
{
    __atomic_fetch_add(&deleted, 1, __ATOMIC_ACQ_REL);
}

static int delete_attribute(MPI_Comm comm, int which, void *value, void *extra)
{
    (void)comm, (void)which, (void)extra;
    invalidate_caches();
    put_away(value);
    free(value);
    return MPI_SUCCESS;
}

void coll_comm_open(void)
{
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_attribute, &key, NULL);
}

void coll_comm_allow_other_worlds(void)
{
    __atomic_store_n(&other_worlds, true, __ATOMIC_RELAXED);
}

static void delete_of(MPI_Comm comm)
{
    void *value;
    int found = 0;
    PMPI_Comm_get_attr(comm, key, &value, &found);
    if (found)
        PMPI_Comm_delete_attr(comm, key);
}

void coll_comm_close(void)
{
    if (key == MPI_KEYVAL_INVALID)
        return;
    delete_of(MPI_COMM_WORLD);
    delete_of(MPI_COMM_SELF);
    PMPI_Comm_free_keyval(&key); /* sets the key to MPI_KEYVAL_INVALID */
}

/* --- making ---------------------------------------------------------------------------------- */

/* Splits the real nodes into pretended nodes of consecutive ranks. */
static int pretend(struct coll_comm *c, int world)
{
    MPI_Comm part;
    int size;
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    int color = (int)((int64_t)world * coll_job.pretend / size);
    int rc = PMPI_Comm_split(c->node, color, c->me, &part);
    if (rc != MPI_SUCCESS)
        return rc;
    free_comm(&c->node);
    c->node = part;
    return MPI_SUCCESS;
}

static int split(struct coll_comm *c, MPI_Comm comm, int world)
{
    int rc = PMPI_Comm_rank(comm, &c->me);
    /* not MPI_Comm_dup, which would copy the program's attributes */
    if (rc == MPI_SUCCESS)
        rc = PMPI_Comm_split(comm, 0, c->me, &c->own);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Comm_set_errhandler(c->own, MPI_ERRORS_RETURN);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Comm_split_type(c->own, MPI_COMM_TYPE_SHARED, c->me, MPI_INFO_NULL, &c->node);
    if (rc == MPI_SUCCESS && coll_job.pretend && world != MPI_UNDEFINED)
        rc = pretend(c, world);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Comm_set_errhandler(c->node, MPI_ERRORS_RETURN);
    return rc;
}

static int index_in(const uint32_t *ranks, size_t count, uint32_t rank)
{
    for (size_t i = 0; i < count; i++)
        if (ranks[i] == rank)
            return (int)i;
    return -1;
}

/* Fills in the advice of libnuioa-client, if it is the same on all ranks of this node that are in
 * the communicator. Collective over them. Returns an MPI error code. */
static int advise(struct coll_comm *c, struct coll_record *record)
{
    struct nuioa_client *client = nuioa_client_open();
    uint32_t world = (uint32_t)record->world, leader;
    const uint32_t *ranks;
    uint64_t vote[2];
    nuioa_client_vote(client, NUIOA_CLIENT_NODE, vote);
    int rc = PMPI_Allreduce(MPI_IN_PLACE, vote, 2, MPI_UINT64_T, MPI_MAX, c->node);
    if (rc == MPI_SUCCESS && nuioa_client_agreed(vote)) {
        size_t count = nuioa_client_order(client, &ranks);
        int order = index_in(ranks, count, world);
        if (!count && !nuioa_client_leader(client, &leader) && leader == world)
            order = 0;
        record->order = order < 0 ? COLL_ORDER_UNKNOWN : order;
        record->level = nuioa_client_level(client);
        count = nuioa_client_rail_leaders(client, &ranks);
        record->rail = index_in(ranks, count, world);
    }
    if (record->level < 0)
        record->level = -1;
    nuioa_client_close(client);
    return rc;
}

/* Returns this process's rank in MPI_COMM_WORLD, or MPI_UNDEFINED. */
static int world_rank(MPI_Comm comm)
{
    MPI_Group group, world;
    int me, mine = MPI_UNDEFINED;
    PMPI_Comm_rank(comm, &me);
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_translate_ranks(group, 1, &me, world, &mine);
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    return mine;
}

/* Returns whether all members are in this process's MPI_COMM_WORLD: others may not have this
 * library. The result is the same on all ranks and costs no message. The groups are compared only
 * if there can be members of other worlds. */
static bool is_of_one_world(MPI_Comm comm, int size)
{
    MPI_Group group, world, common;
    int found = 0;
    if (!__atomic_load_n(&other_worlds, __ATOMIC_RELAXED))
        return true;
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_intersection(group, world, &common);
    PMPI_Group_size(common, &found);
    PMPI_Group_free(&common);
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    return found == size;
}

static int exchange(struct coll_comm *c, int world)
{
    struct coll_record record = {
        .level = -1,
        .order = COLL_ORDER_UNKNOWN,
        .rail = -1,
        .world = world,
        .node = c->me,
    };
    record.numa = coll_numa(record.distance, COLL_NUMA_MAX);
    record.cpu_count = coll_cpus(&record.cpu);
    int rc = PMPI_Bcast(&record.node, 1, MPI_INT32_T, 0, c->node);
    if (rc == MPI_SUCCESS)
        rc = advise(c, &record);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Allgather(&record, sizeof(record), MPI_BYTE, c->map.records, sizeof(record),
                            MPI_BYTE, c->own);
    return rc;
}

/* Returns whether leading can gain anything, and notes why not. It cannot if ranks share CPUs: each
 * of them waits until it is scheduled, so each further step through a rank costs time. */
static bool is_worth_it(const struct coll_map *map)
{
    enum coll_reason reason = map->node_count < 2        ? COLL_ONE_NODE
                              : map->most < 2            ? COLL_ONE_RANK
                              : !map->advised            ? COLL_NO_ADVICE
                              : coll_map_is_crowded(map) ? COLL_CROWDED
                                                         : COLL_NO_CALL;
    coll_job_note(coll_job.force ? COLL_NO_CALL : reason);
    return coll_job.force || reason == COLL_NO_CALL;
}

/* Makes the rest of the description. All ranks return the same state: if one of them has no memory,
 * all of them pass the calls on. If one of them is likely to use a GPU, all of them ask. */
static enum coll_state make(struct coll_comm *c)
{
    int world = world_rank(c->comm);
    bool good = !coll_map_room(&c->map, c->size);
    c->table = malloc(sizeof(*c->table));
    good = good && c->table && split(c, c->comm, world) == MPI_SUCCESS;
    coll_device_look();
    int worst[2] = { !good, coll_device_is_likely() };
    if (c->own == MPI_COMM_NULL ||
        PMPI_Allreduce(MPI_IN_PLACE, worst, 2, MPI_INT, MPI_MAX, c->own) != MPI_SUCCESS ||
        worst[0] || exchange(c, world) != MPI_SUCCESS)
        return COLL_PASSED;
    c->asks = worst[1];
    coll_map_make(&c->map);
    coll_table_narrow(c->table, &coll_job.table, c->map.node_count, c->map.most);
    return is_worth_it(&c->map) ? COLL_READY : COLL_PASSED;
}

void coll_comm_pass(struct coll_comm *c)
{
    c->state = COLL_PASSED;
    put_away(c);
    invalidate_caches();
}

bool coll_comm_ready(struct coll_comm *c)
{
    if (c->state == COLL_AGREED && (coll_job.force || ++c->large_calls >= COLL_CALLS_MIN)) {
        c->state = make(c);
        if (c->state == COLL_PASSED)
            coll_comm_pass(c);
    }
    return c->state == COLL_READY;
}

/* --- looking up ------------------------------------------------------------------------------ */

static struct coll_comm *first_look(MPI_Comm comm)
{
    int inter = 0;
    struct coll_comm *c = calloc(1, sizeof(*c));
    if (!c)
        abort(); /* if this rank alone passed its calls on, the others would wait for ever */
    c->comm = comm;
    c->own = c->node = MPI_COMM_NULL;
    PMPI_Comm_test_inter(comm, &inter);
    PMPI_Comm_size(comm, &c->size);
    c->state = inter || c->size < 2 || !is_of_one_world(comm, c->size) ? COLL_PASSED : COLL_NEW;
    if (PMPI_Comm_set_attr(comm, key, c) != MPI_SUCCESS)
        abort();
    return c;
}

static struct coll_comm *look(MPI_Comm comm, uint64_t bytes)
{
    struct coll_comm *c = NULL;
    int found = 0;
    if (PMPI_Comm_get_attr(comm, key, &c, &found) != MPI_SUCCESS)
        return NULL;
    if (!found)
        c = first_look(comm);
    if (c->state == COLL_NEW && (++c->calls >= COLL_CALLS_MIN || bytes >= COLL_LARGE))
        c->state = coll_job_agree(comm) ? COLL_AGREED : COLL_PASSED;
    return c;
}

struct coll_comm *coll_comm(MPI_Comm comm, uint64_t bytes)
{
    unsigned when = __atomic_load_n(&deleted, __ATOMIC_ACQUIRE);
    struct cached *cached = cached_of(comm);
    if (cached->when == when && cached->comm == comm)
        return cached->state;
    if (comm == MPI_COMM_NULL || key == MPI_KEYVAL_INVALID)
        return NULL;
    struct coll_comm *c = look(comm, bytes);
    if (!c || c->state == COLL_NEW)
        return NULL;
    *cached = (struct cached){ comm, when, c->state == COLL_PASSED ? NULL : c };
    return cached->state;
}

struct coll_window *coll_comm_window(struct coll_comm *c)
{
    if (!c->window_asked) {
        c->window_asked = true;
        c->window =
            coll_map_count(&c->map, c->map.node[c->me]) > 1 ? coll_window_take(c->node) : NULL;
    }
    return c->window;
}
