/* SPDX-License-Identifier: BSD-3-Clause */
#include "hostile_srun.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness.h"
#include "spank/rendezvous/credential.h"

static void put(int fd, const void *bytes, size_t length)
{
    if (send(fd, bytes, length, MSG_NOSIGNAL) < 0)
        return;
}

/* The keys of the present connection. */
static struct hmac_key step, session;

static void put_frame(int fd, uint32_t type, uint32_t length)
{
    struct wire_frame frame = { WIRE_MAGIC, type, length };
    put(fd, &frame, sizeof(frame));
}

/* Sends a message like srun's, but with this key and direction, and with one bit of the byte at
 * `flip` changed (-1: none). */
static void put_as(int fd, const struct hmac_key *key, enum wire_use from, uint32_t type,
                   const void *body, size_t length, int flip)
{
    struct wire_frame frame = { WIRE_MAGIC, type, (uint32_t)length };
    uint8_t copy[4096], tag[WIRE_TAG_SIZE];
    if (length)
        memcpy(copy, body, length);
    harness_tag(key, from, &frame, copy, tag);
    if (flip >= 0)
        copy[flip] ^= 1;
    put(fd, &frame, sizeof(frame));
    put(fd, copy, length);
    put(fd, tag, sizeof(tag));
}

static void put_message(int fd, uint32_t type, const void *body, size_t length)
{
    put_as(fd, &session, WIRE_FROM_SRUN, type, body, length, -1);
}

static void nothing(int fd, const struct wire_hello *hello)
{
    (void)fd, (void)hello;
}

static void noise(int fd, const struct wire_hello *hello)
{
    char bytes[4096];
    (void)hello;
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (char)rand();
    put(fd, bytes, sizeof(bytes));
}

static void endless(int fd, const struct wire_hello *hello)
{
    put_frame(fd, WIRE_WELCOME, UINT32_MAX);
    for (int i = 0; i < 100; i++)
        noise(fd, hello);
}

/* Sends a byte after each `pause_ms` until the node has gone, for 5 seconds at most. */
static void drip(int fd, int pause_ms)
{
    struct pollfd gone = { .fd = fd, .events = POLLRDHUP };
    for (int i = 0; i < 5000 / pause_ms && poll(&gone, 1, pause_ms) == 0; i++)
        put(fd, "\1", 1);
}

static void trickle(int fd, const struct wire_hello *hello)
{
    (void)hello;
    drip(fd, 50);
}

/* The frame announces more bytes than are sent. */
static void trickle_slice(int fd, const struct wire_hello *hello)
{
    (void)hello;
    put_frame(fd, WIRE_WELCOME, sizeof(struct wire_slice) + 4 * sizeof(double));
    drip(fd, 80);
}

/* Half a slice of four ranks, whose frame announces all of it. */
static void half_a_slice(int fd, const struct wire_hello *hello)
{
    struct wire_slice head = { 4, 0 };
    (void)hello;
    put_frame(fd, WIRE_WELCOME, sizeof(head) + 4 * sizeof(double));
    put(fd, &head, sizeof(head));
}

static void record(int fd, const struct wire_hello *hello)
{
    (void)hello;
    put_message(fd, WIRE_RECORD, NULL, 0);
}

/* --- an attacker in srun's place or between, with a right answer --- */

static void put_forged(int fd, const struct hmac_key *key, enum wire_use from, int flip)
{
    struct {
        struct wire_slice head;
        double all[4];
    } slice = { { 4, 0 }, { 1, 1, 1, 1 } };
    put_as(fd, key, from, WIRE_WELCOME, &slice, sizeof(slice), flip);
}

static void no_key(int fd, const struct wire_hello *hello)
{
    struct hmac_key other;
    (void)hello;
    hmac_key_set(&other, "guessed", 7);
    put_as(fd, &other, WIRE_FROM_SRUN, WIRE_WELCOME, NULL, 0, -1);
}

static void step_key(int fd, const struct wire_hello *h)
{
    (void)h;
    put_forged(fd, &step, WIRE_FROM_SRUN, -1);
}
static void reflected(int fd, const struct wire_hello *h)
{
    (void)h;
    put_forged(fd, &session, WIRE_FROM_NODE, -1);
}
static void flipped(int fd, const struct wire_hello *h)
{
    (void)h;
    put_forged(fd, &session, WIRE_FROM_SRUN, 12);
}

static void replayed(int fd, const struct wire_hello *hello)
{
    struct wire_hello before = *hello;
    before.nonce[0] ^= 1;
    struct hmac_key other = harness_session(&step, &before);
    put_forged(fd, &other, WIRE_FROM_SRUN, -1);
}

static void neighbours(int fd, const struct wire_hello *hello)
{
    struct wire_hello neighbour = *hello;
    neighbour.node++;
    struct hmac_key other = harness_session(&step, &neighbour);
    put_forged(fd, &other, WIRE_FROM_SRUN, -1);
}

static void put_slice(int fd, uint32_t weights, uint32_t pairs, double weight, uint32_t first)
{
    struct {
        struct wire_slice head;
        double all[4];
        struct wire_pair pair;
    } slice = { { weights, pairs }, { 1, 1, 1, weight }, { first, 1, 5 } };
    put_message(fd, WIRE_WELCOME, &slice, sizeof(slice));
}

/* Sends a slice of four ranks with these pairs. */
static void put_pairs(int fd, const uint32_t (*pairs)[2], uint32_t count)
{
    struct {
        struct wire_slice head;
        double all[4];
        struct wire_pair pairs[8];
    } slice = { { 4, count }, { 1, 1, 1, 1 }, { { 0 } } };
    for (uint32_t i = 0; i < count; i++)
        slice.pairs[i] = (struct wire_pair){ pairs[i][0], pairs[i][1], 5 };
    put_message(fd, WIRE_WELCOME, &slice,
                offsetof(__typeof__(slice), pairs) + count * sizeof(struct wire_pair));
}

static void slice_twice(int fd, const struct wire_hello *h)
{
    (void)h;
    put_pairs(fd, (const uint32_t[][2]){ { 0, 1 }, { 0, 2 }, { 0, 2 } }, 3);
}

static void slice_unsorted(int fd, const struct wire_hello *h)
{
    (void)h;
    put_pairs(fd, (const uint32_t[][2]){ { 0, 1 }, { 2, 3 }, { 0, 1 } }, 3);
}

static void slice_turned(int fd, const struct wire_hello *h)
{
    (void)h;
    put_pairs(fd, (const uint32_t[][2]){ { 1, 0 } }, 1);
}

static void slice_more(int fd, const struct wire_hello *h)
{
    (void)h;
    put_pairs(fd,
              (const uint32_t[][2]){
                  { 0, 1 }, { 0, 2 }, { 0, 3 }, { 1, 2 }, { 1, 3 }, { 2, 3 }, { 2, 3 } },
              7);
}

static void slice_counts(int fd, const struct wire_hello *h)
{
    (void)h;
    put_slice(fd, 1000, 1, 1, 0);
}
static void slice_pairs(int fd, const struct wire_hello *h)
{
    (void)h;
    put_slice(fd, 4, UINT32_MAX, 1, 0);
}
static void slice_nan(int fd, const struct wire_hello *h)
{
    (void)h;
    put_slice(fd, 4, 1, 0.0 / 0.0, 0);
}
static void slice_negative(int fd, const struct wire_hello *h)
{
    (void)h;
    put_slice(fd, 4, 1, -1, 0);
}
static void slice_rank(int fd, const struct wire_hello *h)
{
    (void)h;
    put_slice(fd, 4, 1, 1, 4);
}

#define ENDED "the step is being signalled or ended"
#define FORGED "the answer does not come from this step's srun"

const struct hostile_case hostile_cases[] = {
    { "silence", NULL, false, true, nothing, false },
    { "hanging up", NULL, false, false, nothing, false },
    { "noise", NULL, false, false, noise, false },
    { "a message of 4 GB", NULL, false, false, endless, false },
    { "a byte now and then", NULL, false, false, trickle, false },
    { "a slice, byte by byte", ENDED, true, false, trickle_slice, true },
    { "half a slice", NULL, true, true, half_a_slice, false },
    { "a message that only nodes send", NULL, false, false, record, false },
    { "a slice for other ranks", NULL, true, true, slice_counts, false },
    { "a slice of 4 billion pairs", NULL, true, true, slice_pairs, false },
    { "a weight that is no number", NULL, true, true, slice_nan, false },
    { "a negative weight", NULL, true, true, slice_negative, false },
    { "a pair with a rank of another node", NULL, true, true, slice_rank, false },
    { "a pair twice", NULL, true, true, slice_twice, false },
    { "a pair again after another one", NULL, true, true, slice_unsorted, false },
    { "a pair the other way round", NULL, true, true, slice_turned, false },
    { "more pairs than there are", NULL, true, true, slice_more, false },
    { "a welcome without the step's key", FORGED, false, true, no_key, false },
    { "a right answer with the step's key only", FORGED, false, true, step_key, false },
    { "a right answer that was changed on the way", FORGED, false, true, flipped, false },
    { "a right answer for another connection", FORGED, false, true, replayed, false },
    { "a right answer for another node", FORGED, false, true, neighbours, false },
    { "a right answer with the node's direction", FORGED, false, true, reflected, false },
};

const size_t hostile_case_count = sizeof(hostile_cases) / sizeof(*hostile_cases);

void *hostile_srun_run(void *arg)
{
    struct fake_srun *srun = arg;
    struct wire_frame frame;
    struct nuioa_error err;
    char body[8192];
    struct wire_hello hello = { .job_id = JOB };
    void *bytes = body;
    uid_t uid;
    struct pollfd wait = { .fd = srun->listener, .events = POLLIN };
    poll(&wait, 1, 2000);
    int fd = accept(srun->listener, NULL, NULL);
    bool heard = recv(fd, &frame, sizeof(frame), MSG_WAITALL) == sizeof(frame) &&
                 frame.length < sizeof(body) &&
                 recv(fd, body, frame.length, MSG_WAITALL) == (ssize_t)frame.length;
    size_t length = frame.length;
    struct token token;
    token_read(&token, srun->text);
    srun->key_exposed = heard && memmem(body, length, token.key, sizeof(token.key));
    if (heard && srun->encrypted)
        heard = !credential_decode(srun->socket, body, &uid, &bytes, &length, &err);
    if (heard && length >= sizeof(hello))
        memcpy(&hello, bytes, sizeof(hello));
    else
        printf("# no hello\n");
    if (bytes != body)
        free(bytes);
    step = harness_key(srun->text);
    session = harness_session(&step, &hello);
    char tag[WIRE_TAG_SIZE];
    if (recv(fd, tag, sizeof(tag), MSG_WAITALL) != sizeof(tag))
        printf("# no tag\n");
    srun->which->answer(fd, &hello);
    struct pollfd end = { .fd = fd, .events = POLLRDHUP };
    if (srun->which->stays_connected)
        poll(&end, 1, 3000);
    close(fd);
    return NULL;
}
