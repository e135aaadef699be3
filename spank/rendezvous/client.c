/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/rendezvous/client.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "spank/rendezvous/credential.h"
#include "spank/rendezvous/hello.h"
#include "spank/rendezvous/listener.h"
#include "spank/rendezvous/slice.h"
#include "spank/rendezvous/tag.h"
#include "spank/rendezvous/token.h"

/* --- bytes --- */

static int wait_for(struct client *g, short events)
{
    return deadline_wait(&g->deadline, g->fd, events, 0);
}

/* The part of the time that sending one more message may take. */
static int64_t message_us(const struct client *g)
{
    return deadline_left_us(&g->deadline) / 10;
}

/* The time left, less that for one more message. */
static unsigned remaining_ms(const struct client *g)
{
    return (unsigned)((deadline_left_us(&g->deadline) - message_us(g)) / 1000);
}

/* Sends all bytes. `flags` is MSG_MORE if more bytes of the same message follow, else 0. */
static int send_all(struct client *g, const void *bytes, size_t length, int flags)
{
    const char *from = bytes;
    while (length) {
        ssize_t done = send(g->fd, from, length, MSG_NOSIGNAL | MSG_DONTWAIT | flags);
        int rc = done < 0 ? errno == EAGAIN  ? wait_for(g, POLLOUT)
                            : errno == EINTR ? 0
                                             : -errno
                          : 0;
        from += done > 0 ? done : 0;
        length -= done > 0 ? (size_t)done : 0;
        if (!rc && length)
            rc = deadline_check(&g->deadline, 0);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int send_message(struct client *g, const struct hmac_key *key, uint32_t type,
                        const void *body, size_t length)
{
    struct wire_frame frame = { WIRE_MAGIC, type, (uint32_t)length };
    uint8_t digest[SHA256_SIZE], tag[WIRE_TAG_SIZE];
    sha256_of(body, length, digest);
    tag_make(key, WIRE_FROM_NODE, &frame, digest, tag);
    int rc = send_all(g, &frame, sizeof(frame), MSG_MORE);
    if (!rc)
        rc = send_all(g, body, length, MSG_MORE);
    return rc ? rc : send_all(g, tag, sizeof(tag), 0);
}

static int receive_all(struct client *g, void *bytes, size_t length)
{
    char *to = bytes;
    while (length) {
        ssize_t got = recv(g->fd, to, length, MSG_DONTWAIT);
        if (got == 0)
            return -ECONNRESET;
        int rc = got < 0 ? errno == EAGAIN ? wait_for(g, POLLIN) : errno == EINTR ? 0 : -errno : 0;
        to += got > 0 ? got : 0;
        length -= got > 0 ? (size_t)got : 0;
        if (!rc && length)
            rc = deadline_check(&g->deadline, 0);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Receives the body and the tag behind it: malloc'd, caller frees. Returns NULL with *rc on an
 * error. */
static char *receive_body(struct client *g, const struct wire_frame *frame, int *rc)
{
    char *body = malloc((size_t)frame->length + WIRE_TAG_SIZE);
    *rc = body ? receive_all(g, body, (size_t)frame->length + WIRE_TAG_SIZE) : -ENOMEM;
    if (!*rc && !tag_is_right(&g->session, WIRE_FROM_SRUN, frame, body))
        *rc = -EBADMSG;
    if (*rc < 0) {
        free(body);
        return NULL;
    }
    return body;
}

/* Receives WELCOME. *slice is malloc'd, caller frees; *length 0: there is no slice. Returns 0 or a
 * negative number. */
static int receive_welcome(struct client *g, char **slice, size_t *length)
{
    struct wire_frame frame;
    *slice = NULL;
    int rc = receive_all(g, &frame, sizeof(frame));
    if (!rc && (frame.magic != WIRE_MAGIC || frame.type != WIRE_WELCOME ||
                frame.length > slice_max(g->task_count)))
        rc = -EPROTO;
    if (!rc)
        *slice = receive_body(g, &frame, &rc);
    if (rc < 0)
        return rc;
    g->authenticated = true;
    *length = frame.length;
    return 0;
}

static const char *reason(int rc)
{
    switch (rc) {
    case -ETIMEDOUT: return "no answer from srun in time";
    case -EINTR: return "the step is being signalled or ended";
    case -ECONNRESET: return "srun closed the connection";
    case -EBADMSG:
        return "the answer does not come from this step's srun: it is forged or modified";
    case -EPROTO:
    case -EINVAL: return "srun sent a message of a wrong form";
    default: return strerror(-rc);
    }
}

static int fail(struct client *g, int rc, struct nuioa_error *err)
{
    client_close(g);
    return nuioa_fail(err, rc, "gather: %s", reason(rc));
}

/* --- the hello --- */

static int await_connection(struct client *g)
{
    int error = 0, rc = wait_for(g, POLLOUT);
    socklen_t size = sizeof(error);
    if (!rc && getsockopt(g->fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
        rc = -errno;
    return rc ? rc : -error;
}

/* Makes the body of HELLO (malloc'd, caller frees) and the session key. */
static void *make_hello(struct client *g, const struct client_call *call, size_t *length)
{
    struct wire_hello hello = {
        .job_id = call->job_id,
        .step_id = call->step_id,
        .node = call->node,
        .node_count = call->node_count,
        .task_count = call->task_count,
        .rank_count = call->ranks ? call->task_count : 0,
    };
    if (getrandom(hello.nonce, sizeof(hello.nonce), 0) != sizeof(hello.nonce))
        return NULL;
    tag_session(&g->session, &g->step, &hello);
    void *bytes = hello_make(&hello, call->ranks, length);
    explicit_bzero(hello.nonce, sizeof(hello.nonce));
    return bytes;
}

/* The input and the result of the child that makes the credential and sends it. */
struct hello_request {
    struct client *node;
    const struct client_call *call;
    void *hello;
    size_t length;
};

struct hello_result {
    int32_t rc;
    uint32_t told; /* 1: srun was told that there is no credential */
    struct nuioa_error err;
};

static int cannot_reach(const struct client_call *call, int rc, struct nuioa_error *err)
{
    return nuioa_fail(err, rc, "gather: cannot reach srun at %.60s: %s", call->address,
                      strerror(-rc));
}

static void send_credential(int fd, void *arg)
{
    const struct hello_request *request = arg;
    struct client *g = request->node;
    struct hello_result result = { 0 };
    char *credential = NULL;
    result.rc = credential_make_as(request->call->socket, request->call->uid, request->call->gid,
                                   request->hello, request->length, &credential, &result.err);
    int rc = await_connection(g);
    if (!rc)
        rc = credential
                 ? send_message(g, &g->step, WIRE_CREDENTIAL, credential, strlen(credential) + 1)
                 : send_message(g, &g->step, WIRE_NO_CREDENTIAL, NULL, 0);
    result.told = !rc && !credential;
    if (rc < 0 && credential)
        result.rc = cannot_reach(request->call, rc, &result.err);
    nuioa_subprocess_write(fd, &result, sizeof(result));
}

static int send_hello(struct client *g, const void *hello, size_t length)
{
    int rc = await_connection(g);
    return rc ? rc : send_message(g, &g->step, WIRE_HELLO, hello, length);
}

static int start_call(struct client *g, const struct client_call *call, const struct token *token,
                      struct nuioa_error *err)
{
    struct hello_request request = { .node = g, .call = call };
    int rc = 0;
    g->fd = listener_connect(call->address, token->port);
    if (g->fd < 0)
        return cannot_reach(call, g->fd, err);
    request.hello = make_hello(g, call, &request.length);
    if (!request.hello)
        return nuioa_fail(err, -ENOMEM, "gather: out of memory, or of random numbers");
    if (token->encrypted)
        rc = nuioa_subprocess_start(&g->hello_process, send_credential, &request, g->fd,
                                    (unsigned)(deadline_left_us(&g->deadline) / 1000));
    else
        rc = send_hello(g, request.hello, request.length);
    explicit_bzero(request.hello, request.length);
    free(request.hello);
    if (rc < 0 && !token->encrypted)
        return cannot_reach(call, rc, err);
    return rc < 0 ? nuioa_fail(err, rc, "gather: %s", strerror(-rc)) : 0;
}

/* Reads srun's token, and checks whether this node may use it. */
static int check_token(const struct client_call *call, struct token *token, struct nuioa_error *err)
{
    int rc = token_read(token, call->srun);
    if (rc == -EPROTONOSUPPORT)
        return nuioa_fail(err, rc,
                          "gather: srun speaks wire protocol %u, this node %u: install the same "
                          "build of nuioa on all hosts",
                          token->version, (unsigned)WIRE_VERSION);
    if (rc < 0 || call->node >= call->node_count || call->node_count > WIRE_NODES_MAX ||
        call->task_count > WIRE_TASKS_MAX)
        return nuioa_fail(err, -EINVAL,
                          "gather: " WIRE_VARIABLE " is not as srun writes it: is it set by hand?");
    if (call->munge && !token->encrypted)
        return nuioa_fail(
            err, -EACCES,
            "gather: plugstack.conf says auth=munge on this node and auth=key on srun's "
            "host, so srun is not called (give both the same)");
    return 0;
}

int client_call(struct client *g, const struct client_call *call, struct nuioa_error *err)
{
    struct token token;
    *g = (struct client){
        .fd = -1,
        .task_count = call->task_count,
    };
    int rc = check_token(call, &token, err);
    if (rc < 0)
        return rc;
    deadline_begin(&g->deadline, call->timeout_ms, call->is_over, call->arg);
    hmac_key_set(&g->step, token.key, sizeof(token.key));
    explicit_bzero(token.key, sizeof(token.key));
    rc = start_call(g, call, &token, err);
    if (rc < 0)
        client_close(g);
    return rc;
}

/* Waits for the child's result. A child without a result is waiting for munged, or has died. */
static int collect_result(struct client *g, struct hello_result *result)
{
    size_t length;
    void *bytes = NULL;
    int said = deadline_wait(&g->deadline, g->hello_process.fd, POLLIN, message_us(g));
    int rc = nuioa_subprocess_collect(&g->hello_process, said < 0 ? 0 : remaining_ms(g),
                                      sizeof(*result), &bytes, &length);
    if (said == -EINTR) {
        result->rc = nuioa_fail(&result->err, said, "gather: %s", reason(said));
        result->told = false;
    } else if (!rc && length == sizeof(*result)) {
        memcpy(result, bytes, sizeof(*result));
        result->err.text[sizeof(result->err.text) - 1] = '\0';
    } else {
        bool connected = !await_connection(g);
        result->rc =
            nuioa_fail(&result->err, -ETIMEDOUT, "%s",
                       connected ? "MUNGE: no answer in time" : "gather: cannot reach srun");
        result->told = connected && !send_message(g, &g->step, WIRE_NO_CREDENTIAL, NULL, 0);
    }
    free(bytes);
    return result->rc;
}

static int finish_call(struct client *g, struct nuioa_error *err)
{
    struct hello_result result;
    if (!g->hello_process.pid || collect_result(g, &result) >= 0)
        return 0;
    g->told_no_credential = result.told;
    *err = result.err;
    client_close(g);
    return result.rc;
}

void client_close(struct client *g)
{
    nuioa_subprocess_end(&g->hello_process);
    explicit_bzero(&g->step, sizeof(g->step));
    explicit_bzero(&g->session, sizeof(g->session));
    if (g->fd < 0)
        return;
    shutdown(g->fd, SHUT_RDWR); /* closing is not enough: children may hold copies */
    close(g->fd);
    g->fd = -1;
}

/* --- the slice --- */

int client_receive_slice(struct client *g, double *weights, struct nuioa_pair **pairs,
                         uint32_t *pair_count, struct nuioa_error *err)
{
    char *bytes;
    size_t length;
    *pairs = NULL;
    *pair_count = 0;
    deadline_resume(&g->deadline);
    int rc = finish_call(g, err);
    if (rc < 0)
        return rc;
    rc = receive_welcome(g, &bytes, &length);
    if (!rc && length)
        rc = slice_read(bytes, length, g->task_count, weights, pairs, pair_count);
    free(bytes);
    if (rc < 0) {
        free(*pairs);
        *pairs = NULL;
        *pair_count = 0;
        return fail(g, rc, err);
    }
    return *pairs != NULL;
}

/* --- the record --- */

bool client_is_answered(const struct client *g)
{
    int bytes = 0;
    return g->authenticated || (g->fd >= 0 && !ioctl(g->fd, FIONREAD, &bytes) && bytes > 0);
}

/* srun hangs up when it has reported. Its WELCOME is no promise then, also if it is still there to
 * be read. */
static bool has_hung_up(const struct client *g)
{
    struct pollfd end = { .fd = g->fd, .events = POLLRDHUP };
    return client_is_answered(g) && poll(&end, 1, 0) > 0;
}

int client_send_record(struct client *g, const struct wire_record *record, size_t length,
                       struct nuioa_error *err)
{
    deadline_resume(&g->deadline);
    int rc = finish_call(g, err);
    if (rc < 0)
        return rc;
    rc = has_hung_up(g) ? -ECONNRESET : send_message(g, &g->session, WIRE_RECORD, record, length);
    return rc < 0 ? fail(g, rc, err) : 0;
}

int client_receive_welcome(struct client *g, struct nuioa_error *err)
{
    char *bytes = NULL;
    size_t length;
    deadline_resume(&g->deadline);
    int rc = g->authenticated ? 0 : receive_welcome(g, &bytes, &length);
    free(bytes);
    if (rc < 0)
        return fail(g, rc, err);
    client_close(g);
    return 0;
}
