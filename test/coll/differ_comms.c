/* SPDX-License-Identifier: BSD-3-Clause */

/* Communicators of all kinds, made and freed at random; who is in them is computed, not asked. */
#include <stdlib.h>
#include <string.h>

#include "differ.h"

/* In Open MPI 4.1 itself the messages of MPI_Comm_create_group match the user's receives with any
 * tag, and what is under way when a communicator is freed may match those on the next one. */
#ifdef OPEN_MPI
enum { MEMBERS_ALONE = false, FREES_BUSY = false };
#else
enum { MEMBERS_ALONE = true, FREES_BUSY = true };
#endif

_Thread_local int comms_handler_calls;

static void handle(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    comms_handler_calls++;
}

static int attribute_gone(MPI_Comm comm, int keyval, void *value, void *extra)
{
    int size;
    (void)keyval;
    (void)value;
    MPI_Comm_size(comm, &size); /* the communicator must still be whole */
    ((struct comms *)extra)->attributes_deleted++;
    return MPI_SUCCESS;
}

static int find(const int *members, int n, int rank)
{
    for (int i = 0; i < n; i++)
        if (members[i] == rank)
            return i;
    return -1;
}

/* A duplicate has the handler of the old one; MPICH 4.0 gives no other communicator that. */
static void settle(struct comms *c, struct slot *s, const char *kind, int errors)
{
    s->used = true;
    s->kind = kind;
    s->me = find(s->member, s->size, c->rank);
    s->inside_b = s->me < 0 && s->remote > 0 && find(s->remote_member, s->remote, c->rank) >= 0;
    if (s->inside_b)
        s->me = find(s->remote_member, s->remote, c->rank);
    s->errors = errors;
    if (s->comm != MPI_COMM_NULL) {
        int rank, size;
        MPI_Comm_rank(s->comm, &rank);
        MPI_Comm_size(s->comm, &size);
        if (rank != s->me || size != (s->inside_b ? s->remote : s->size))
            abort(); /* what was computed of its members is wrong */
    }
    c->made += s->comm != MPI_COMM_NULL;
}

void comms_begin(struct comms *c, MPI_Comm world)
{
    MPI_Comm node;
    memset(c, 0, sizeof(*c));
    c->world = world;
    MPI_Comm_rank(world, &c->rank);
    MPI_Comm_size(world, &c->size);
    if (c->size > RANKS_MAX)
        MPI_Abort(world, 2);
    PMPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    int lowest = c->rank;
    PMPI_Bcast(&lowest, 1, MPI_INT, 0, node);
    PMPI_Comm_free(&node);
    PMPI_Allgather(&lowest, 1, MPI_INT, c->node, 1, MPI_INT, world);
    MPI_Comm_create_errhandler(handle, &c->handler);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, attribute_gone, &c->keyval, c);
    struct slot *s = &c->slot[0];
    s->comm = world;
    s->size = c->size;
    for (int i = 0; i < c->size; i++)
        s->member[i] = i;
    settle(c, s, "world", 0);
    for (int i = 1; i < SLOTS; i++)
        c->slot[i].comm = MPI_COMM_NULL;
}

static void drop(struct comms *c, struct slot *s)
{
    if (s->comm != MPI_COMM_NULL) {
        MPI_Comm_free(&s->comm);
        c->freed++;
    }
    memset(s, 0, sizeof(*s));
    s->comm = MPI_COMM_NULL;
}

/* Frees a communicator that is in use: operations that have begun must still end. */
static void drop_busy(struct comms *c, struct slot *s)
{
    MPI_Request requests[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    int out = 1, in = 0;
    if (s->comm != MPI_COMM_NULL && !s->remote) {
        PMPI_Barrier(s->comm); /* a receive with any tag may still be there */
        MPI_Irecv(&in, 1, MPI_INT, (s->me + 1) % s->size, 3, s->comm, &requests[0]);
        MPI_Isend(&out, 1, MPI_INT, (s->me + s->size - 1) % s->size, 3, s->comm, &requests[1]);
    }
    drop(c, s);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}

/* --- the kinds -------------------------------------------------------------------------------- */

static void copy_members(struct slot *to, const struct slot *from)
{
    to->size = from->size;
    to->remote = from->remote;
    memcpy(to->member, from->member, sizeof(to->member));
    memcpy(to->remote_member, from->remote_member, sizeof(to->remote_member));
}

static void duplicate(struct comms *c, struct slot *s, const struct slot *from, bool later)
{
    copy_members(s, from);
    if (from->comm != MPI_COMM_NULL && later) {
        MPI_Request request;
        MPI_Comm_idup(from->comm, &s->comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (from->comm != MPI_COMM_NULL) {
        MPI_Comm_dup(from->comm, &s->comm);
    }
    settle(c, s, later ? "idup" : "dup", later ? 0 : from->errors);
}

/* Lists the members of one colour, ordered by key, then by old rank. */
static void divide(struct slot *to, const struct slot *from, const int *color, const int *key,
                   int wanted)
{
    int place[RANKS_MAX], n = 0;
    for (int i = 0; i < from->size; i++) {
        if (color[i] != wanted)
            continue;
        int k = n++;
        for (; k > 0 && key[place[k - 1]] > key[i]; k--)
            place[k] = place[k - 1];
        place[k] = i;
    }
    to->size = n;
    for (int i = 0; i < n; i++)
        to->member[i] = from->member[place[i]];
}

/* Makes two communicators at once, one in each slot. A rank with colour 2 gets none. */
static void split(struct comms *c, struct slot *one, struct slot *two, const struct slot *from,
                  struct draw *d, bool reversed)
{
    int color[RANKS_MAX], key[RANKS_MAX], colors = reversed ? 1 : 1 + draw_below(d, 3);
    MPI_Comm made = MPI_COMM_NULL;
    for (int i = 0; i < from->size; i++) {
        color[i] = draw_below(d, colors);
        key[i] = reversed ? -i : draw_below(d, 4);
    }
    divide(one, from, color, key, 0);
    divide(two, from, color, key, 1);
    if (from->comm != MPI_COMM_NULL)
        MPI_Comm_split(from->comm, color[from->me] < 2 ? color[from->me] : MPI_UNDEFINED,
                       key[from->me], &made);
    one->comm = two->comm = MPI_COMM_NULL;
    if (made != MPI_COMM_NULL)
        (color[from->me] == 0 ? one : two)->comm = made;
    if (one->size)
        settle(c, one, reversed ? "reversed" : "split", 0);
    if (two->size)
        settle(c, two, "split", 0);
}

/* Makes a communicator from a group, called by its members only or by all ranks. */
static void subset(struct comms *c, struct slot *s, const struct slot *from, struct draw *d,
                   bool alone)
{
    int ranks[RANKS_MAX], n = 0, first = draw_below(d, from->size), step = 1 + draw_below(d, 2);
    MPI_Group all, some;
    for (int i = first; i < from->size; i += step) {
        s->member[n] = from->member[i];
        ranks[n++] = i;
    }
    s->size = n;
    if (from->comm != MPI_COMM_NULL) {
        MPI_Comm_group(from->comm, &all);
        MPI_Group_incl(all, n, ranks, &some);
        if (!alone)
            MPI_Comm_create(from->comm, some, &s->comm);
        else if (find(ranks, n, from->me) >= 0)
            MPI_Comm_create_group(from->comm, some, 5, &s->comm);
        MPI_Group_free(&some);
        MPI_Group_free(&all);
    }
    settle(c, s, alone ? "create_group" : "create", 0);
}

/* Makes a communicator for each rank, in which it is the only member. */
static void self(struct comms *c, struct slot *s)
{
    MPI_Comm_dup(MPI_COMM_SELF, &s->comm);
    s->size = 1;
    s->member[0] = c->rank;
    settle(c, s, "self", 0);
}

static void node(struct comms *c, struct slot *s, const struct slot *from)
{
    MPI_Comm_split_type(from->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &s->comm);
    s->size = 0;
    for (int i = 0; i < from->size; i++)
        if (c->node[from->member[i]] == c->node[c->rank])
            s->member[s->size++] = from->member[i];
    settle(c, s, "node", 0);
}

static void grid(struct comms *c, struct slot *s, const struct slot *from)
{
    int sides[2] = { 0, 0 }, around[2] = { 1, 0 };
    copy_members(s, from);
    MPI_Dims_create(from->size, 2, sides);
    if (from->comm != MPI_COMM_NULL)
        MPI_Cart_create(from->comm, 2, sides, around, 0, &s->comm);
    settle(c, s, "grid", 0);
}

static void inter(struct comms *c, struct slot *s, const struct slot *from, struct draw *d)
{
    int cut = 1 + draw_below(d, from->size - 1);
    MPI_Comm half;
    s->size = cut;
    s->remote = from->size - cut;
    memcpy(s->member, from->member, sizeof(*s->member) * (size_t)cut);
    memcpy(s->remote_member, from->member + cut, sizeof(*s->member) * (size_t)s->remote);
    if (from->comm != MPI_COMM_NULL) {
        bool first = from->me < cut;
        MPI_Comm_split(from->comm, first, from->me, &half);
        MPI_Intercomm_create(half, 0, from->comm, first ? cut : 0, 9, &s->comm);
        MPI_Comm_free(&half);
    }
    settle(c, s, "inter", 0);
}

/* --- at random -------------------------------------------------------------------------------- */

static void make(struct comms *c, struct draw *d, const char **what)
{
    int one = 1 + draw_below(d, SLOTS - 1), two = 1 + draw_below(d, SLOTS - 1);
    int from_at = draw_below(d, SLOTS), kind = draw_below(d, 10);
    static const char *const names[] = { "dup",          "idup", "split", "reversed", "create",
                                         "create_group", "self", "node",  "grid",     "inter" };
    bool busy = draw_percent(d, 30);
    *what = names[kind];
    struct slot old;
    if (two == one)
        two = 1 + one % (SLOTS - 1);
    struct slot *from = &c->slot[from_at];
    /* "self" and "node" differ from rank to rank: nothing that all must know is made of them. */
    if (!from->used || from->remote || !strcmp(from->kind, "self") || !strcmp(from->kind, "node"))
        from = &c->slot[0];
    old = *from; /* `from` may be the one that is freed */
    struct slot *dropped[] = { &c->slot[one], kind == 2 || kind == 3 ? &c->slot[two] : NULL };
    MPI_Comm keep = MPI_COMM_NULL;
    if (from != &c->slot[0] && (from == dropped[0] || from == dropped[1])) {
        from->used = false;
        keep = from->comm;
        from->comm = MPI_COMM_NULL;
    }
    for (int i = 0; i < 2; i++)
        if (dropped[i])
            (busy && FREES_BUSY ? drop_busy : drop)(c, dropped[i]);
    struct slot *s = dropped[0];
    bool narrow = old.size < 2;
    switch (kind) {
    case 0: duplicate(c, s, &old, false); break;
    case 1: duplicate(c, s, &old, true); break;
    case 2: split(c, s, dropped[1], &old, d, false); break;
    case 3: split(c, s, dropped[1], &old, d, true); break;
    case 4: subset(c, s, &old, d, false); break;
    case 5: subset(c, s, &old, d, MEMBERS_ALONE); break;
    case 6: self(c, s); break;
    case 7: node(c, s, &c->slot[0]); break;
    case 8: grid(c, s, &old); break;
    default:
        if (narrow)
            duplicate(c, s, &old, false);
        else
            inter(c, s, &old, d);
    }
    if (keep != MPI_COMM_NULL) { /* it was kept until its child was made */
        MPI_Comm_free(&keep);
        c->freed++;
    }
}

static void set_errors(struct slot *s, int errors, MPI_Errhandler handler)
{
    if (!s->used)
        return;
    s->errors = errors;
    if (s->comm != MPI_COMM_NULL)
        MPI_Comm_set_errhandler(s->comm, errors == 0   ? MPI_ERRORS_ARE_FATAL
                                         : errors == 1 ? MPI_ERRORS_RETURN
                                                       : handler);
}

void comms_step(struct comms *c, struct draw *d, const char **what_is_done)
{
    int what = draw_below(d, 100), at = 1 + draw_below(d, SLOTS - 1), errors = draw_below(d, 3);
    *what_is_done = "communicators";
    if (what < 12) {
        make(c, d, what_is_done);
    } else if (what < 14) {
        *what_is_done = "MPI_Comm_free";
        drop(c, &c->slot[at]);
    } else if (what < 20) {
        set_errors(&c->slot[at], errors, c->handler);
    } else if (what < 23 && c->slot[at].comm != MPI_COMM_NULL) {
        void *value;
        int there;
        MPI_Comm_get_attr(c->slot[at].comm, c->keyval, &value, &there);
        if (!there) {
            MPI_Comm_set_attr(c->slot[at].comm, c->keyval, c);
            c->attributes_set++;
        }
    }
}

void comms_end(struct comms *c)
{
    for (int i = SLOTS - 1; i > 0; i--)
        drop(c, &c->slot[i]);
    MPI_Comm_free_keyval(&c->keyval);
    MPI_Errhandler_free(&c->handler);
}
