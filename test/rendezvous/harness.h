/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HARNESS_H
#define HARNESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "spank/rendezvous/client.h"
#include "spank/rendezvous/hello.h"
#include "spank/rendezvous/server.h"
#include "spank/rendezvous/tag.h"
#include "spank/rendezvous/token.h"

/* The two sides of a rendezvous without Slurm: srun in a child process that is an ordinary user,
 * nodes in this one, which is root. munged is real. */

#define USER_UID 65534
#define OTHER_UID 1
#define JOB 77
#define STEP 3

struct harness {
    bool sealed;        /* auth=munge */
    const char *socket; /* munged's */
    pid_t srun;         /* 0: none */
    int to_srun, from_srun;
    char text[TOKEN_TEXT_MAX]; /* WIRE_VARIABLE */
    const char *srun_socket;   /* srun's munged, if it is another one */
    unsigned timeout_ms;
    bool unreported;     /* srun is not asked for a report */
    unsigned accept_ms;  /* of server_config */
    bool threadless;     /* srun may have no thread: its user has too many processes */
    uint32_t node_count; /* that srun knows; 0: it does not, as of a heterogeneous job */
    /* srun forks a process that holds a copy of all it has, as the real one may */
    bool forks;
};

/* What srun says when it ends. */
struct srun_result {
    struct server_counts counts;
    unsigned warnings, reports;
    char warning[400];
    unsigned fds_before, fds_after, threads_after, children_after;
    unsigned close_ms; /* to join the thread */
    unsigned cpu_ms;   /* processor time of all */
    long rss_kb;
};

void harness_open(struct harness *s);
/* Ends srun's side and says how it went. False: srun is gone. */
bool harness_close(struct harness *s, struct srun_result *result);
/* Waits for the thread first. */
bool harness_finish(struct harness *s, struct srun_result *result);

/* A call that is right in all respects for node `node` of `count`. */
struct client_call harness_call(const struct harness *s, uint32_t node, uint32_t count);

/* A record, with four ranks from 4 * node on, that is led by the first. malloc'd. */
void *harness_record(uint32_t node, size_t *length);

/* A hello as that call would make it, and its bytes (hello_make). Each node draws the same `fresh`
 * here. */
struct wire_hello harness_hello(const struct client_call *call);

/* The step's key. */
struct hmac_key harness_key(const char *text);
struct hmac_key harness_session(const struct hmac_key *step, const struct wire_hello *hello);
/* The tag of a whole message. */
void harness_tag(const struct hmac_key *key, enum wire_use from, const struct wire_frame *frame,
                 const void *body, uint8_t tag[WIRE_TAG_SIZE]);

/* A whole node in a thread. */
struct node_thread {
    struct client_call call;
    struct client node;
    int rc; /* of the first function that failed, or client_await's */
    int64_t took_ms;
    uint32_t *leaders;
    struct nuioa_error err;
    unsigned long thread;
    unsigned delay_ms;        /* before it begins */
    bool early_leader;        /* its leader */
    unsigned record_delay_ms; /* before it tells its record */
    bool withdraws;           /* its record says that nobody leads */
    bool no_record;           /* no record */
    /* asks for one and does not read it, as a node does that stands down */
    bool ignores_slice;
};

void node_thread_start(struct node_thread *a, const struct harness *s, uint32_t node,
                       uint32_t count);
void node_thread_join(struct node_thread *a);

int harness_connect(const struct harness *s);
int harness_connect_begin(const struct harness *s); /* does not wait */
int64_t harness_ms(void);
unsigned harness_fds(void); /* open in this process */
unsigned harness_children(void);

#endif
