/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_REPORT_SENDER_H
#define SPANK_REPORT_SENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spank/report/wire.h"

/* A node's side of a report (wire.h): a child that has become the job's user waits for the record,
 * seals it, sends it to srun, and prints the node's own report if srun does not take it.
 * slurmstepd and the child share memory for the record, and a pair of sockets: what slurmstepd does
 * with them never waits. */

/* How long the child waits for srun's answer: so long, and SENDER_NODE_MS more for each node of the
 * step; but SENDER_ENDED_MS at most when the node's last task has ended. */
#define SENDER_MS 2000
#define SENDER_NODE_MS 1
#define SENDER_ENDED_MS 300

/* In a step of more nodes only the first one prints its own report. */
#define SENDER_NODES_MAX 8

/* The largest size in bytes of the text with a node's own report, with its NUL; a longer one is
 * cut. */
#define SENDER_TEXT_MAX (256u << 10)

/* The memory that is shared: pages that nobody writes cost nothing. */
struct sender_memory {
    uint32_t decided; /* 1: who prints is decided; read and written atomically */
    uint32_t record_length;
    union {
        struct wire_record head;
        char record[WIRE_RECORD_MAX];
    };
    char text[SENDER_TEXT_MAX];
};

struct sender {
    struct sender_memory *memory; /* NULL: there is none */
    int control;                  /* slurmstepd's end of the pair; -1: none */
    int child_control;            /* the child's end; -1: closed */
};

/* The value without memory and sockets. */
#define SENDER_NONE \
    { \
        NULL, -1, -1 \
    }

/* The child's task. The texts must stay valid until it is forked. */
struct sender_call {
    const struct sender *sender;
    const char *address; /* of srun: a numeric one (listener.h) */
    uint16_t port;
    const char *socket; /* the path of munged's socket, "" for the default one */
};

/* Makes the memory and the sockets. Returns 0 and *sender, which sender_close() frees; or -errno,
 * and there is none. */
int sender_open(struct sender *sender);

/* The work of the child, for nuioa_subprocess_start() with `keep` sender->child_control. `arg` is a
 * struct sender_call. It writes a byte to `fd` when it has nothing more to do with the descriptor
 * that sender_hand_over() gave it. */
void sender_work(int fd, void *arg);

/* When the child is forked: closes the child's end here, so that sender_hand_over() sees whether
 * the child is still there. */
void sender_forked(struct sender *sender);

/* Gives the child the record of `length` bytes, which the caller has written into memory->record;
 * the text with the node's own report, "" for none; and `output`, where it prints that. Returns 0;
 * -EALREADY if a call was made before; or another -errno if the child has gone. */
int sender_hand_over(struct sender *sender, size_t length, const char *text, int output);

/* Tells the child that the node's last task has ended. */
void sender_tell_end(const struct sender *sender);

/* Decides who prints the text. By slurmstepd, when the child is late, or has gone: returns true if
 * the caller must print it, which the child then never does. False: srun has the record, or the
 * child is printing, or has printed. */
bool sender_decide(const struct sender *sender);

/* Closes the sockets and frees the memory. Without them it does nothing. */
void sender_close(struct sender *sender);

#endif
