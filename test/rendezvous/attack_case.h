/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ATTACK_CASE_H
#define ATTACK_CASE_H

#include "harness.h"

/* A test case: a step of four nodes that an attacker or a bad node disturbs. The test may play node
 * 1 itself, message by message. Results are TAP. */

#define NODES 4

struct attack_case {
    const char *name;
    struct harness harness;
    struct node_thread nodes[NODES];
    struct srun_result result;
    unsigned fds, children;        /* of this process before the case */
    struct hmac_key step, session; /* node 1's session, if the test plays it */
};

/* Sets the authentication of all following cases. `munged` is munged's socket. */
void case_auth(bool encrypted, const char *munged);

/* Prints a result. */
__attribute__((format(printf, 2, 3))) void ok(bool good, const char *fmt, ...);

/* Prints the number of results. Returns the exit status of main(). */
int case_results(void);

/* Starts srun for a new case. `change` alters the settings before that; NULL: nothing. */
void case_begin(struct attack_case *s, const char *name);
void case_begin_with(struct attack_case *s, const char *name, void (*change)(struct harness *));

/* Starts the nodes 0, 2 and 3, and waits for their end. */
void case_start_others(struct attack_case *s);
void case_join_others(struct attack_case *s);

/* Runs all four nodes, from the hello until srun has answered. */
void case_run(struct attack_case *s);

/* Checks that srun and this process have no descriptor, thread or child left. */
void case_nothing_leaks(struct attack_case *s);

/* Ends the case, and checks that all nodes were answered and srun has reported all of them without
 * a warning. */
void case_ends_well(struct attack_case *s);

/* case_run() and case_ends_well(). */
void case_is_well(struct attack_case *s);

/* A message to srun. */
struct message {
    uint32_t type;
    void *bytes; /* malloc'd; case_send() does not free it */
    size_t length;
    const struct hmac_key *key; /* NULL: the step's */
    enum wire_use from;         /* 0: WIRE_FROM_NODE */
    void (*spoil)(struct wire_frame *frame,
                  char *body); /* changes frame, body, tag; NULL: nothing */
};

/* Node 1's first message, changed by `change` (NULL: nothing). With auth=munge the credential is
 * that of user `uid`. The caller frees its bytes. */
struct message case_hello(struct attack_case *s, uid_t uid, void (*change)(struct wire_hello *));

/* The first message of `node`, which asks for the slice of ranks[4]. The caller frees its bytes. */
struct message case_asking_hello(struct attack_case *s, uint32_t node, const uint32_t *ranks);

/* Node 1's first message with the other auth= than srun's. The caller frees its bytes. */
struct message case_other_hello(struct attack_case *s);

/* Sends a message with its tag. */
void case_send(const struct attack_case *s, int fd, const struct message *m);

/* Connects and sends the hello of node 1, changed by `change` (NULL: nothing), and waits for
 * WELCOME. Returns the connection. */
int case_accepted_node(struct attack_case *s, void (*change)(struct wire_hello *));

/* Sends the record of `node` with the session's key of node 1. */
void case_send_record(const struct attack_case *s, int fd, uint32_t node);

/* Returns true if srun ends the connection within `ms` milliseconds. */
bool case_is_disconnected(int fd, int ms);

/* Sends a message in a new connection, checks that srun refuses it, and frees its bytes. */
void case_is_refused(struct attack_case *s, struct message m, const char *what);

/* Closes a connection; -1: nothing. */
void hang_up(int fd);

#endif
