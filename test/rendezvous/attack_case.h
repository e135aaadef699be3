/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ATTACK_CASE_H
#define ATTACK_CASE_H

#include "harness.h"

/* A step of four nodes that somebody disturbs, what he says, and what is to come of it; TAP. */

#define NODES 4

struct attack_case {
    const char *name;
    struct harness harness;
    struct node_thread nodes[NODES];
    struct srun_result result;
    unsigned fds, children;        /* ours, before */
    struct hmac_key step, session; /* the session that node 1 has if the test plays it */
};

/* How nodes prove themselves from here on; munged: its socket. */
void case_auth(bool sealed, const char *munged);

/* Whether srun is asked for a report from here on; at first it is. */
void case_report(bool wanted);

/* A result. */
__attribute__((format(printf, 2, 3))) void ok(bool good, const char *fmt, ...);
/* The plan; what main() returns. */
int case_results(void);

void case_begin(struct attack_case *s, const char *name);
/* The same; `change` says what is special about srun. */
void case_begin_with(struct attack_case *s, const char *name, void (*change)(struct harness *));

/* The nodes of the step. The part of node 1 the test may play itself; then there are the others. */
void case_start_others(struct attack_case *s);
void case_join_others(struct attack_case *s);

void case_nothing_leaks(struct attack_case *s);
/* All four nodes from the first word to the last. */
void case_run(struct attack_case *s);
/* Ends the case: they have their table, srun has reported, and has nothing to complain of. */
void case_ends_well(struct attack_case *s);
/* Both. */
void case_is_well(struct attack_case *s);

/* What is said to srun. */
struct message {
    uint32_t type;
    void *bytes; /* malloc'd; case_send does not free it */
    size_t length;
    const struct hmac_key *key;                          /* NULL: the step's */
    enum wire_use from;                                  /* 0: the node */
    void (*spoil)(struct wire_frame *frame, char *body); /* once it has its tag; NULL: nothing */
};

/* What node 1 says but for what `change` (NULL: nothing) does; if hellos are sealed, by `uid`. */
struct message case_hello(struct attack_case *s, uid_t uid, void (*change)(struct wire_hello *));
/* The same as a site with the other auth= has it said. */
struct message case_other_hello(struct attack_case *s);
void case_send(const struct attack_case *s, int fd, const struct message *m);

/* Says hello as node 1, but for what `change` (NULL: nothing) does, and is known. */
int case_accepted_node(struct attack_case *s, void (*change)(struct wire_hello *));
void case_send_record(const struct attack_case *s, int fd, uint32_t node,
                      uint32_t table_timeout_ms);

/* True if srun ends the connection within `ms`. */
bool case_is_disconnected(int fd, int ms);
/* Says it, sees that srun refuses it, and frees it. */
void case_is_refused(struct attack_case *s, struct message m, const char *what);

void hang_up(int fd);

#endif
