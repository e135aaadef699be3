/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/rendezvous/munge_worker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spank/rendezvous/credential.h"
#include "util/descriptors.h"
#include "util/subprocess.h"

/* --- the child --- */

static void decode(const char *socket, const char *credential, struct munge_answer *answer)
{
    struct nuioa_error err = { "" };
    void *bytes;
    size_t length;
    memset(answer, 0, offsetof(struct munge_answer, bytes));
    answer->rc = credential_decode(socket, credential, &answer->uid, &bytes, &length, &err);
    if (!answer->rc && length > sizeof(answer->bytes))
        answer->rc = nuioa_fail(
            &err, -EFBIG, "MUNGE: a credential holds more bytes than a node sends: it is refused");
    if (!answer->rc) {
        answer->length = (uint32_t)length;
        memcpy(answer->bytes, bytes, length);
    }
    nuioa_copy(answer->error, sizeof(answer->error), err.text);
    free(bytes);
}

static _Noreturn void serve(int fd, const char *socket)
{
    char *credential = malloc(MUNGE_WORKER_BYTES_MAX + 1);
    struct munge_answer *answer = malloc(sizeof(*answer));
    if (!credential || !answer)
        _exit(1);
    for (;;) {
        ssize_t got = recv(fd, credential, MUNGE_WORKER_BYTES_MAX, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            _exit(0);
        credential[got] = '\0';
        decode(socket, credential, answer);
        if (nuioa_subprocess_write(fd, answer,
                                   offsetof(struct munge_answer, bytes) + answer->length) < 0)
            _exit(1);
    }
}

/* The child closes srun's descriptors, because other processes wait for their end. It ignores ^C
 * from the terminal, because srun decides what that means. */
static _Noreturn void run_child(int fd, const char *socket, pid_t parent)
{
    sigset_t none;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    signal(SIGTSTP, SIG_IGN);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (dup2(fd, 3) < 0)
        _exit(1);
    int null = open("/dev/null", O_RDWR);
    for (int i = 0; i < 3; i++)
        dup2(null, i);
    nuioa_close_descriptors(4, UINT_MAX);
    serve(3, socket);
}

/* --- the parent --- */

int munge_worker_start(struct munge_worker *worker, const char *socket)
{
    int ends[2], size = 4 * MUNGE_WORKER_BYTES_MAX;
    *worker = (struct munge_worker){ 0, -1 };
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return -errno;
    for (int i = 0; i < 2; i++)
        setsockopt(ends[i], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        run_child(ends[1], socket, parent);
    int rc = pid < 0 ? -errno : 0;
    close(ends[1]);
    if (rc < 0) {
        close(ends[0]);
        return rc;
    }
    *worker = (struct munge_worker){ pid, ends[0] };
    return 0;
}

void munge_worker_close(struct munge_worker *worker)
{
    if (worker->fd >= 0)
        close(worker->fd);
    worker->fd = -1;
}

void munge_worker_stop(struct munge_worker *worker)
{
    munge_worker_close(worker);
    /* The pid is used only before the child is reaped: afterwards another process may have it. */
    if (worker->pid > 0 && waitpid(worker->pid, NULL, WNOHANG) == 0) {
        kill(worker->pid, SIGKILL);
        while (waitpid(worker->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    *worker = (struct munge_worker){ 0, -1 };
}

int munge_worker_ask(const struct munge_worker *worker, const char *credential, size_t length)
{
    ssize_t done;
    do
        done = send(worker->fd, credential, length, MSG_NOSIGNAL);
    while (done < 0 && errno == EINTR);
    return done < 0 ? -errno : 0;
}

int munge_worker_answer(const struct munge_worker *worker, struct munge_answer *answer)
{
    ssize_t got;
    do
        got = recv(worker->fd, answer, sizeof(*answer), 0);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return -errno;
    if ((size_t)got < offsetof(struct munge_answer, bytes) ||
        (size_t)got != offsetof(struct munge_answer, bytes) + answer->length)
        return -EPIPE;
    return 0;
}
