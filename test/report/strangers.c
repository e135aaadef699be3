/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

/* srun's collector with strangers at its port, nodes that go, and a munged that fails: it stays
 * small, and prints what it has. Usage: strangers SOCKET OTHER PID [PART]: the sockets of two
 * munged with different keys, and the second one's process, which is killed. */

static const char *munged, *other_munged;
static pid_t other_pid;

/* --- strangers --- */

/* Those of the header, which this test must not follow. */
enum { STRANGERS = 64, REFUSED = 100, STRANGER_MS = 1000 };
enum { COUNT = 80 }; /* more than there may be, less than close the port */

static void crowd(void)
{
    static char bytes[WIRE_SEALED_MAX - 1];
    struct srun s = { 0 };
    int fds[COUNT];
    unsigned most = 0, closed = 0;
    memset(bytes, 'x', sizeof(bytes));
    srun_begin(&s, munged, 2);
    for (int i = 0; i < COUNT; i++) {
        fds[i] = peer_connect(s.port);
        peer_put(fds[i], bytes, i % 2 ? sizeof(bytes) : 1);
    }
    for (int64_t until = clock_ms() + STRANGER_MS * 8 / 10; clock_ms() < until;) {
        unsigned now = count_fds(s.collector);
        most = now > most ? now : most;
    }
    /* The listener, the control, stdin and the others, and one that is on its way. */
    ok(most <= STRANGERS + 6, "%d strangers: %u descriptors", COUNT, most);
    for (int i = 0; i < COUNT; i++)
        closed += peer_end(fds[i]) == 0;
    ok(closed == COUNT, "%d strangers: all are refused", COUNT);
    ok(ends_well(munged, &s), "%d strangers: the report is right", COUNT);
}

static void silent(void)
{
    struct srun s = { 0 };
    int fds[COUNT];
    srun_begin(&s, munged, 2);
    for (int i = 0; i < COUNT; i++)
        fds[i] = peer_connect(s.port);
    ok(ends_well(munged, &s), "%d strangers that say nothing: the report is right", COUNT);
    for (int i = 0; i < COUNT; i++)
        close(fds[i]);
}

/* Its time does not begin anew with each byte. */
static void slow(void)
{
    struct srun s = { 0 };
    char *credential = right(munged, 1);
    srun_begin(&s, munged, 2);
    int fd = peer_connect(s.port), sent = 0;
    char byte;
    int64_t until = clock_ms() + HANG_MS;
    while (clock_ms() < until && send(fd, &credential[sent], 1, MSG_NOSIGNAL) == 1 &&
           recv(fd, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN) {
        usleep(300000);
        sent++;
    }
    ok(clock_ms() < until, "a byte now and then: it is refused (after %d)", sent);
    close(fd);
    ok(ends_well(munged, &s), "a byte now and then: the report is right");
    free(credential);
}

#define CLOSED "srun's port had 100 unknown connections, and is closed"

static void closes_port(void)
{
    struct srun s = { 0 };
    srun_begin(&s, munged, 2);
    for (int i = 1; i < REFUSED; i++)
        tell(&s, "x");
    ok(tell_right(munged, &s, 0), "99 were refused: a node is taken");
    tell(&s, "x");
    ok(srun_wait(&s), "100 were refused: the collector prints");
    ok(peer_connect(s.port) == -ECONNREFUSED, "100 were refused: the port is closed");
    srun_end(&s);
    ok(strstr(s.text, "say: report: " CLOSED) && strstr(s.text, "node1") && !s.result.rc &&
           srun_is_clean(&s),
       "100 were refused: srun says so, and prints what it has");
    srun_free(&s);
}

/* A stranger who is late counts as refused, too. */
static void late_ones(void)
{
    struct srun s = { 0 };
    int fds[2 * COUNT];
    srun_begin(&s, munged, 2);
    for (int i = 0; i < 2 * COUNT; i++)
        peer_put(fds[i] = peer_connect(s.port), "x", 1);
    ok(srun_wait(&s) && peer_connect(s.port) == -ECONNREFUSED, "100 were late: the port is closed");
    srun_end(&s);
    for (int i = 0; i < 2 * COUNT; i++)
        close(fds[i]);
    srun_free(&s);
}

enum { HELD = 200, PROCESSES = 4 };

static pid_t start_flood(uint16_t port)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    static char bytes[WIRE_SEALED_MAX];
    int held[HELD] = { 0 };
    for (unsigned i = 0;; i = (i + 1) % HELD) {
        if (held[i] > 0)
            close(held[i]);
        held[i] = peer_connect(port);
        memset(bytes, 'x', sizeof(bytes));
        bytes[i] = i % 3 ? 'x' : '\0';
        if (held[i] > 0)
            send(held[i], bytes, sizeof(bytes) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    }
}

static void flood(void)
{
    struct srun s = { 0 };
    pid_t floods[PROCESSES];
    srun_begin(&s, munged, 2);
    ok(tell_right(munged, &s, 0), "a flood: a node that was earlier is taken");
    for (int i = 0; i < PROCESSES; i++)
        floods[i] = start_flood(s.port);
    ok(srun_wait(&s), "a flood: the collector prints");
    for (int i = 0; i < PROCESSES; i++) {
        kill(floods[i], SIGKILL);
        waitpid(floods[i], NULL, 0);
    }
    srun_end(&s);
    ok(strstr(s.text, CLOSED) && strstr(s.text, "node1") && srun_is_clean(&s),
       "a flood: srun says so, prints what it has, and was small (%ld KB)", s.result.rss_kb);
    srun_free(&s);
}

/* --- the step's own nodes and srun --- */

static void gone(void)
{
    struct srun s = { 0 };
    char *credential = right(munged, 0);
    srun_begin(&s, munged, 2);
    int fd = peer_connect(s.port);
    peer_put(fd, credential, strlen(credential) + 1);
    close(fd);
    ok(tell_right(munged, &s, 1), "a node that does not wait for the answer: the other is taken");
    srun_end(&s);
    ok(strstr(s.text, "say: report: no record from node1;"),
       "a node that does not wait for the answer: it prints its own, so srun does not");
    srun_free(&s);
    free(credential);
}

/* The rest of a record comes when srun already knows that the step is over. */
static void on_its_way(void)
{
    struct srun s = { 0 };
    char *credential = right(munged, 1);
    size_t length = strlen(credential) + 1;
    srun_begin(&s, munged, 2);
    ok(tell_right(munged, &s, 0), "a record on its way: the first node's is taken");
    int fd = peer_connect(s.port);
    peer_put(fd, credential, length / 2);
    usleep(100000);
    fflush(NULL);
    pid_t late = fork();
    if (!late) {
        usleep(50000);
        peer_put(fd, credential + length / 2, length - length / 2);
        _exit(peer_end(fd) == WIRE_TAKEN ? 0 : 1);
    }
    int status;
    srun_end(&s);
    waitpid(late, &status, 0);
    ok(!status && !strcmp(s.text, right_text), "a record on its way: it is in the report");
    close(fd);
    srun_free(&s);
    free(credential);
}

static void signals(void)
{
    struct srun s = { 0 };
    srun_begin(&s, munged, 2);
    ok(tell_right(munged, &s, 0), "^C: before");
    /* stdin and the others, the port and the control; and the connection for a moment */
    for (int i = 0; i < 1000 && count_fds(s.collector) > 5; i++)
        usleep(1000);
    ok(count_fds(s.collector) == 5, "the collector has %u descriptors", count_fds(s.collector));
    kill(s.collector, SIGINT);
    kill(s.collector, SIGQUIT);
    kill(s.collector, SIGPIPE);
    ok(tell_right(munged, &s, 1), "^C: after");
    srun_end(&s);
    ok(!strcmp(s.text, right_text), "^C: the report is right");
    srun_free(&s);
    srun_begin(&s, munged, 2);
    kill(s.collector, SIGSTOP);
    srun_end(&s);
    ok(s.result.rc == -ETIMEDOUT && !s.result.children_after,
       "the collector is stopped: it is killed");
    srun_free(&s);
    srun_begin(&s, munged, 2);
    kill(s.pid, SIGKILL);
    ok(srun_wait(&s), "srun is killed: the collector dies");
    ok(peer_connect(s.port) == -ECONNREFUSED, "srun is killed: its port is closed");
    srun_end(&s);
    srun_free(&s);
}

/* --- munged of srun's host --- */

/* Sends a record to a collector whose munged is the other one. */
static int begin_with_other(struct srun *s)
{
    char *credential = right(munged, 0);
    srun_begin(s, other_munged, 2);
    int fd = peer_connect(s->port);
    peer_put(fd, credential, strlen(credential) + 1);
    free(credential);
    return fd;
}

static void munged_fails(void)
{
    struct srun s = { 0 };
    ok(!peer_end(begin_with_other(&s)), "munged of another key: the record is refused");
    srun_end(&s);
    ok(strstr(s.text, "say: report: no record from node[1-2]") &&
           strstr(s.text, "Invalid credential") && srun_is_clean(&s),
       "munged of another key: srun says so");
    srun_free(&s);
    char *second = right(other_munged, 1);
    srun_begin(&s, other_munged, 2);
    bool taken = tell_right(other_munged, &s, 0);
    kill(other_pid, SIGSTOP);
    int fd = peer_connect(s.port);
    peer_put(fd, second, strlen(second) + 1);
    free(second);
    srun_end(&s);
    ok(s.result.rc == 0 && srun_is_clean(&s), "munged is stopped: srun ends all the same");
    ok(taken && strstr(s.text, "nuioa: node1, "), "munged is stopped: what was taken is printed");
    ok(strstr(s.text, "say: report: munged does not answer on srun's host: the missing nodes"),
       "munged is stopped: srun says so");
    ok(!peer_end(fd), "munged is stopped: the node is not answered");
    srun_free(&s);
    fd = begin_with_other(&s);
    usleep(100000); /* the collector has seen that srun lives */
    kill(s.pid, SIGKILL);
    bool died = srun_wait(&s);
    srun_end(&s);
    close(fd);
    ok(died && !*s.text, "munged is stopped, srun is killed: the collector dies");
    srun_free(&s);
    kill(other_pid, SIGKILL);
    kill(other_pid, SIGCONT);
    fd = begin_with_other(&s);
    ok(srun_wait(&s), "munged is dead: the collector prints");
    ok(!peer_end(fd), "munged is dead: the node is not answered");
    ok(peer_connect(s.port) == -ECONNREFUSED, "munged is dead: no other node waits");
    srun_end(&s);
    ok(strstr(s.text, "say: report: MUNGE: ") && srun_is_clean(&s), "munged is dead: srun says so");
    printf("# %s", s.text);
    srun_free(&s);
}

int main(int argc, char **argv)
{
    static const struct part parts[] = {
        { "crowd", crowd },         { "silent", silent },     { "slow", slow },
        { "port", closes_port },    { "flood", flood },       { "gone", gone },
        { "late", on_its_way },     { "silence", late_ones }, { "signals", signals },
        { "munged", munged_fails }, { NULL, NULL },
    };
    if (argc < 4)
        return 2;
    munged = argv[1];
    other_munged = argv[2];
    other_pid = atoi(argv[3]);
    return run_parts(munged, parts, argv[4]);
}
