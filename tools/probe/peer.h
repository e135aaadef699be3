/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PROBE_PEER_H
#define NUIOA_TOOL_PROBE_PEER_H

#include "tools/probe/message.h"
#include "tools/probe/step.h"
#include "util/error.h"

/* The connection between the two tasks of a step, each on its node. All waits have a limit, and end
 * early with -EINTR if a signal comes (process.h). The functions return 0, or a negative errno and
 * *err names the other node: -ETIMEDOUT, -ECONNRESET if it has closed the connection or says what
 * is no message, or that of a call. */
struct probe_peer {
    const char *name; /* of the other node; the caller's */
    char address[64]; /* its numeric address, for programs */
    int fd;           /* the socket; -1: none */
    char input[2 * PROBE_MESSAGE_BYTES];
    size_t length; /* bytes in `input` that no message was made of yet */
};

/* Meets the other task: that of the first node listens on a TCP port that follows from job and
 * step, and the other one connects. Both must have said hello for the same step within a minute.
 * *peer is overwritten; the caller closes it in every case. */
int probe_peer_meet(struct probe_peer *peer, const struct probe_step *step,
                    struct nuioa_error *err);

int probe_peer_send(struct probe_peer *peer, const struct probe_message *message,
                    struct nuioa_error *err);

/* Waits for the next message for at most `timeout_ms`; 0: takes it if it is there, and returns
 * -EAGAIN without *err if it is not. */
int probe_peer_receive(struct probe_peer *peer, unsigned timeout_ms, struct probe_message *message,
                       struct nuioa_error *err);

void probe_peer_close(struct probe_peer *peer);

#endif
