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

/* The two sides of a rendezvous without Slurm. srun is a child process of an ordinary user; the
 * nodes are threads of this process, which is root. munged is real. A failure of the harness itself
 * ends the process. */

#define USER_UID 65534
#define OTHER_UID 1
#define JOB 77
#define STEP 3

struct harness {
    /* Settings */
    bool encrypted;          /* auth=munge */
    const char *socket;      /* munged's */
    const char *srun_socket; /* of srun's munged; NULL: the same */
    unsigned timeout_ms;     /* 0: 500 */
    unsigned accept_ms;      /* how long srun accepts connections; 0: no limit */
    bool threadless;         /* srun can start no thread: its user has too many processes */
    uint32_t node_count;     /* that srun knows; 0: none, as in a heterogeneous job */
    uint32_t room;           /* connections that srun may have open; 0: any number */
    bool forks;              /* srun forks a process that inherits its descriptors */

    /* Set by harness_open() */
    pid_t srun; /* 0: none */
    int to_srun, from_srun;
    char text[TOKEN_TEXT_MAX]; /* the token */
};

/* srun's result at its end. */
struct srun_result {
    struct server_counts counts;
    unsigned warnings, reports;
    char warning[400]; /* the last one */
    unsigned fds_before, fds_after, threads_after, children_after;
    unsigned close_ms; /* time for joining the thread and freeing the server */
    unsigned cpu_ms;   /* processor time of all threads */
    long rss_kb;       /* largest resident size */
};

/* Starts srun, and waits for its token. */
void harness_open(struct harness *s);

/* Ends srun and reads its result. harness_close() ends it at once; harness_finish() first waits
 * until its thread has ended by itself. Both return false if srun is gone. */
bool harness_close(struct harness *s, struct srun_result *result);
bool harness_finish(struct harness *s, struct srun_result *result);

/* Returns a correct call for node `node` of `count`. */
struct client_call harness_call(const struct harness *s, uint32_t node, uint32_t count);

/* Returns a correct record (malloc'd, caller frees) with four ranks from 4 * node on, the first of
 * which is the leader. */
void *harness_record(uint32_t node, size_t *length);

/* Returns the hello of a call; its random bytes are the same for each node. */
struct wire_hello harness_hello(const struct client_call *call);

/* Returns the step's key, from the token. */
struct hmac_key harness_key(const char *text);

/* Returns the session's key. */
struct hmac_key harness_session(const struct hmac_key *step, const struct wire_hello *hello);

/* Computes the tag of a message. */
void harness_tag(const struct hmac_key *key, enum wire_use from, const struct wire_frame *frame,
                 const void *body, uint8_t tag[WIRE_TAG_SIZE]);

/* A complete node in a thread. */
struct node_thread {
    /* Settings */
    unsigned delay_ms;        /* before it connects */
    unsigned record_delay_ms; /* between hello and record */
    bool ignores_slice;       /* it asks for a slice and does not read it */

    /* Results */
    int rc; /* of the first function that failed; 0: srun has answered */
    int64_t took_ms;
    struct nuioa_error err;

    struct client_call call;
    struct client node;
    unsigned long thread;
};

void node_thread_start(struct node_thread *a, const struct harness *s, uint32_t node,
                       uint32_t count);
void node_thread_join(struct node_thread *a);

/* Connect to srun. Return a descriptor, which the caller closes, or -errno. harness_connect_begin()
 * does not wait. */
int harness_connect(const struct harness *s);
int harness_connect_begin(const struct harness *s);

/* The monotonic time in milliseconds. */
int64_t harness_ms(void);

/* The numbers of open descriptors and of children of this process. */
unsigned harness_fds(void);
unsigned harness_children(void);

#endif
