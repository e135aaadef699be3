/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PROBE_MESSAGE_H
#define NUIOA_TOOL_PROBE_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

/* What two tasks of `nuioa probe --nic --at-least` say to each other, while one of them measures
 * and the other one serves: lines of text, each a word, some numbers, and a text. */

enum probe_message_kind {
    PROBE_HELLO,   /* job, step, version: the first line of both */
    PROBE_NUMA,    /* its OS index: a NUMA node that can be used here */
    PROBE_NIC,     /* rate in Mbit/s, OS index of the NUMA node beside it; its label */
    PROBE_READY,   /* it has said all of itself */
    PROBE_SERVE,   /* OS index of the NUMA node: start a server; label of the NIC, and program */
    PROBE_LISTENS, /* its TCP port: the server waits for its client */
    PROBE_CANNOT,  /* there is no server; why */
    PROBE_STOP,    /* the client has ended */
    PROBE_STOPPED, /* so has the server; if by a fault of its own, which */
    PROBE_TURN,    /* measure now, and I serve */
    PROBE_BYE,     /* all is measured */
    PROBE_MESSAGES
};

enum { PROBE_MESSAGE_NUMBERS = 3, PROBE_MESSAGE_BYTES = 400 };

/* The first line of the two has this version of what they say. */
enum { PROBE_MESSAGE_VERSION = 1 };

struct probe_message {
    enum probe_message_kind kind;
    uint32_t numbers[PROBE_MESSAGE_NUMBERS]; /* as many as the kind has; the others are 0 */
    char text[256];                          /* "" if it has none */
};

/* Reads a line, which is changed; it has no newline. Returns 0; or -EINVAL if it is none of these
 * messages, and *message is undefined. */
int probe_message_parse(char *line, struct probe_message *message);

/* Writes a message as a line with its newline to `line`, PROBE_MESSAGE_BYTES bytes. Returns its
 * length. */
size_t probe_message_print(const struct probe_message *message, char *line);

#endif
