/* SPDX-License-Identifier: BSD-3-Clause */

/* A node's call to srun with auth=key. This process is the node, and srun, too, which knows the key
 * because the user does. */

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "leak_check.h"
#include "spank/rendezvous/client.h"
#include "spank/rendezvous/listener.h"
#include "spank/rendezvous/tag.h"
#include "spank/rendezvous/token.h"

#define TASKS 4
#define NODES 2
/* A limit for what hangs. */
#define HANG_MS 20000

/* srun's end of a connection. */
struct srun {
    int fd;
    struct wire_hello hello;
    struct hmac_key session;
};

static int listener;
static char text[TOKEN_TEXT_MAX];
static struct hmac_key step;

static int begin(void **state)
{
    struct token token = { .key = "the key of this step, 32 bytes." };
    (void)state;
    listener = listener_open(0, 0, &token.port);
    token_write(&token, text);
    hmac_key_set(&step, token.key, sizeof(token.key));
    return listener < 0;
}

static int end(void **state)
{
    (void)state;
    return close(listener);
}

/* A call of node 0, which asks for its slice. */
static void call(struct client *node, struct srun *srun)
{
    static const uint32_t ranks[TASKS] = { 0, 1, 2, 3 };
    const struct client_call input = { .address = "127.0.0.1",
                                       .srun = text,
                                       .socket = "",
                                       .timeout_ms = HANG_MS,
                                       .job_id = 7,
                                       .step_id = 1,
                                       .node_count = NODES,
                                       .task_count = TASKS,
                                       .ranks = ranks };
    struct wire_frame frame;
    char rest[sizeof(ranks) + WIRE_TAG_SIZE];
    struct nuioa_error err = { "" };
    struct pollfd comes = { .fd = listener, .events = POLLIN };
    if (client_call(node, &input, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(poll(&comes, 1, HANG_MS), 1);
    srun->fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    assert_true(srun->fd >= 0);
    assert_int_equal(recv(srun->fd, &frame, sizeof(frame), MSG_WAITALL), sizeof(frame));
    assert_int_equal(frame.length, sizeof(srun->hello) + sizeof(ranks));
    assert_int_equal(recv(srun->fd, &srun->hello, sizeof(srun->hello), MSG_WAITALL),
                     sizeof(srun->hello));
    assert_int_equal(recv(srun->fd, rest, sizeof(rest), MSG_WAITALL), sizeof(rest));
    tag_session(&srun->session, &step, &srun->hello);
}

static void hang_up(struct client *node, struct srun *srun)
{
    client_close(node);
    close(srun->fd);
}

static void answer(const struct srun *srun, uint32_t type, const void *body, size_t length)
{
    struct wire_frame frame = { WIRE_MAGIC, type, (uint32_t)length };
    uint8_t digest[SHA256_SIZE], tag[WIRE_TAG_SIZE];
    sha256_of(body, length, digest);
    tag_make(&srun->session, WIRE_FROM_SRUN, &frame, digest, tag);
    assert_int_equal(send(srun->fd, &frame, sizeof(frame), MSG_NOSIGNAL), sizeof(frame));
    assert_int_equal(send(srun->fd, body, length, MSG_NOSIGNAL), length);
    assert_int_equal(send(srun->fd, tag, sizeof(tag), MSG_NOSIGNAL), sizeof(tag));
}

/* With auth=munge the nonce is what nobody else knows, and it must differ in all of its bytes. */
static void test_nonce(void **state)
{
    (void)state;
    struct client node;
    struct srun srun;
    uint8_t first[WIRE_KEY_SIZE], differs[WIRE_KEY_SIZE] = { 0 };
    for (unsigned i = 0; i < 16; i++) {
        call(&node, &srun);
        if (!i)
            memcpy(first, srun.hello.nonce, sizeof(first));
        for (unsigned k = 0; k < sizeof(first); k++)
            differs[k] |= first[k] ^ srun.hello.nonce[k];
        hang_up(&node, &srun);
    }
    assert_null(memchr(differs, 0, sizeof(differs)));
}

struct slice {
    struct wire_slice head;
    double weights[TASKS];
    struct wire_pair pair;
};

static int receive(const struct slice *slice)
{
    struct client node;
    struct srun srun;
    struct nuioa_pair *pairs;
    struct nuioa_error err;
    double weights[TASKS + 1] = { [TASKS] = 77 };
    uint32_t count;
    call(&node, &srun);
    answer(&srun, WIRE_WELCOME, slice, sizeof(*slice));
    int rc = client_receive_slice(&node, weights, &pairs, &count, &err);
    assert_int_equal(count, rc > 0);
    assert_true(rc < 0 || (pairs->first < TASKS && pairs->second < TASKS));
    assert_float_equal(weights[TASKS], 77, 0);
    free(pairs);
    hang_up(&node, &srun);
    return rc;
}

/* Ranks of a pair are local ones. The others than TASKS - 1 are in the memory behind. */
static void test_slice(void **state)
{
    (void)state;
    const struct slice good = { { TASKS, 1 }, { 1, 0, 2, 1 }, { 0, TASKS - 1, 5 } };
    const double wrong[] = { -1, NAN, INFINITY, 2e30 };
    struct slice slice = good;
    assert_int_equal(receive(&good), 1);
    slice.pair.second = TASKS;
    assert_int_equal(receive(&slice), -EPROTO);
    slice.pair.second = UINT32_MAX;
    assert_int_equal(receive(&slice), -EPROTO);
    for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        slice = good;
        slice.weights[TASKS - 1] = wrong[i];
        assert_int_equal(receive(&slice), -EPROTO);
        slice = good;
        slice.pair.bytes = wrong[i];
        assert_int_equal(receive(&slice), -EPROTO);
    }
}

/* Returns what a node that has read no slice makes of this answer. */
static int welcome(uint32_t type)
{
    struct client node;
    struct srun srun;
    struct nuioa_error err;
    call(&node, &srun);
    assert_false(client_is_answered(&node));
    answer(&srun, type, NULL, 0);
    int rc = client_receive_welcome(&node, &err);
    assert_true(rc || client_is_answered(&node));
    assert_true(node.fd < 0);
    hang_up(&node, &srun);
    return rc;
}

static void test_welcome(void **state)
{
    (void)state;
    assert_int_equal(welcome(WIRE_WELCOME), 0);
    assert_int_equal(welcome(WIRE_WELCOME + 1), -EPROTO);
}

/* A program of the user's that a task becomes has no part in it. */
static void test_not_inherited(void **state)
{
    (void)state;
    struct client node;
    struct srun srun;
    call(&node, &srun);
    assert_true(fcntl(node.fd, F_GETFD) & FD_CLOEXEC);
    hang_up(&node, &srun);
}

static void test_keys_are_cleared(void **state)
{
    (void)state;
    struct client node;
    struct srun srun;
    static const struct hmac_key none;
    call(&node, &srun);
    assert_memory_not_equal(&node.step, &none, sizeof(none));
    hang_up(&node, &srun);
    assert_memory_equal(&node.step, &none, sizeof(none));
    assert_memory_equal(&node.session, &none, sizeof(none));
}

/* srun hears of the end also while a task has a copy of the connection. */
static void test_closed_for_all(void **state)
{
    (void)state;
    struct client node;
    struct srun srun;
    char byte;
    call(&node, &srun);
    pid_t task = fork();
    if (task == 0) {
        close(srun.fd);
        pause();
        _exit(0);
    }
    client_close(&node);
    struct pollfd gone = { .fd = srun.fd, .events = POLLIN };
    int ready = poll(&gone, 1, HANG_MS / 10);
    kill(task, SIGKILL);
    assert_int_equal(waitpid(task, NULL, 0), task);
    assert_int_equal(ready, 1);
    assert_int_equal(recv(srun.fd, &byte, 1, MSG_DONTWAIT), 0);
    close(srun.fd);
}

/* Sends to an srun that has gone until the kernel says so. */
static int send_in_vain(void)
{
    struct client node;
    struct srun srun;
    struct wire_record record = { .node = 0 };
    struct nuioa_error err;
    call(&node, &srun);
    close(srun.fd);
    signal(SIGPIPE, SIG_DFL);
    for (int i = 0; i < HANG_MS; i++, usleep(1000)) {
        int rc = client_send_record(&node, &record, sizeof(record), &err);
        if (rc < 0)
            return rc == -EPIPE || rc == -ECONNRESET ? 0 : 1;
    }
    return 2;
}

/* slurmstepd must not end with a connection. */
static void test_no_signal(void **state)
{
    (void)state;
    int status = -1;
    pid_t child = fork();
    if (child == 0)
        _exit(send_in_vain());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* Every test leaves the process as it was. */
static void test_nothing_left(void **state)
{
    struct leak_check before = leak_check_begin();
    test_welcome(state);
    test_slice(state);
    leak_check_end(&before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nonce),
        cmocka_unit_test(test_slice),
        cmocka_unit_test(test_welcome),
        cmocka_unit_test(test_not_inherited),
        cmocka_unit_test(test_keys_are_cleared),
        cmocka_unit_test(test_closed_for_all),
        cmocka_unit_test(test_no_signal),
        cmocka_unit_test(test_nothing_left),
    };
    return cmocka_run_group_tests_name("node_call", tests, begin, end);
}
