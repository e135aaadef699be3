/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE

#include "tools/probe/process.h"

#include <errno.h>
#include <fcntl.h>
#include <numaif.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/probe/listening.h"
#include "util/clock.h"
#include "util/subprocess.h"
#include "util/word.h"

/* What an end may print, how long a server may take to listen, and how long it may take to end by
 * itself after its client. */
enum { OUTPUT_BYTES = 256 << 10, LISTEN_MS = 10000, LINGER_MS = 500 };

/* Locked memory below this is said to be the cause: 8 MB are enough for messages of 1 MiB. */
#define LOCKED_BYTES (8u << 20)

/* --- signals ---------------------------------------------------------------------------------- */

static const int taken[] = { SIGINT, SIGTERM, SIGHUP };
enum { TAKEN = sizeof(taken) / sizeof(taken[0]) };
static struct sigaction before[TAKEN];
static volatile sig_atomic_t stopped;

static void note_signal(int number)
{
    stopped = number;
}

void probe_processes_begin(void)
{
    struct sigaction action = { .sa_handler = note_signal };
    stopped = 0;
    for (unsigned i = 0; i < TAKEN; i++)
        sigaction(taken[i], &action, &before[i]);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

int probe_processes_stopped(void)
{
    return stopped;
}

void probe_processes_end(void)
{
    for (unsigned i = 0; i < TAKEN; i++)
        sigaction(taken[i], &before[i], NULL);
    if (stopped)
        raise(stopped);
}

/* --- the child -------------------------------------------------------------------------------- */

static _Noreturn void give_up(const char *what, int error)
{
    dprintf(STDOUT_FILENO, "%s: %s\n", what, strerror(error));
    _exit(127);
}

/* Binds the calling process, and what it starts, to a NUMA node: its CPUs that may be used, and its
 * memory. */
static void bind_to(const struct nuioa_node *node, uint32_t index)
{
    enum { WORDS = 64 };
    unsigned long mask[WORDS] = { 0 };
    unsigned os_index = node->numas[index].os_index;
    unsigned bits = 8 * sizeof(*mask);
    char what[64];
    hwloc_bitmap_t cpus = hwloc_bitmap_dup(node->numas[index].cpus);
    snprintf(what, sizeof(what), "the CPUs of NUMA node %u cannot be used", os_index);
    if (!cpus || hwloc_bitmap_and(cpus, cpus, node->allowed_cpus) ||
        hwloc_bitmap_to_ulongs(cpus, WORDS, mask))
        give_up(what, ENOMEM);
    if (sched_setaffinity(0, sizeof(mask), (const cpu_set_t *)mask))
        give_up(what, errno);
    hwloc_bitmap_free(cpus);
    memset(mask, 0, sizeof(mask));
    snprintf(what, sizeof(what), "the memory of NUMA node %u cannot be used", os_index);
    if (os_index >= WORDS * bits)
        give_up(what, EINVAL);
    mask[os_index / bits] = 1ul << os_index % bits;
    /* A kernel without NUMA has one node only. */
    if (set_mempolicy(MPOL_BIND, mask, WORDS * bits + 1) && errno != ENOSYS)
        give_up(what, errno);
}

static void set_variables(const struct probe_process *p)
{
    const char *text = p->benchmark->variables;
    char **words = text ? probe_benchmark_words(text, &p->words) : NULL;
    for (unsigned i = 0; words && words[i]; i++)
        putenv(words[i]); /* the words live until this process starts the benchmark */
}

static void be_end(int fd, void *arg)
{
    const struct probe_process *p = arg;
    setpgid(0, 0);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(fd, STDOUT_FILENO) < 0 ||
        dup2(p->err_end, STDERR_FILENO) < 0)
        _exit(127);
    bind_to(p->node, p->numa);
    set_variables(p);
    char **words = probe_benchmark_words(p->benchmark->command, &p->words);
    if (!words || !words[0])
        give_up("words", ENOMEM);
    execvp(words[0], words);
    give_up(words[0], errno);
}

/* --- its life --------------------------------------------------------------------------------- */

static int start(struct probe_process *p, int *err_end)
{
    int ends[2];
    p->out.text = calloc(1, OUTPUT_BYTES);
    p->err.text = calloc(1, OUTPUT_BYTES);
    if (!p->out.text || !p->err.text)
        return -ENOMEM;
    if (pipe2(ends, O_CLOEXEC))
        return -errno;
    p->err.fd = ends[0];
    p->err_end = *err_end = ends[1];
    return nuioa_subprocess_start(&p->child, be_end, p, p->err_end, (p->limit_s + 60) * 1000);
}

int probe_process_start(struct probe_process *p, struct nuioa_error *err)
{
    int err_end = -1;
    p->err.fd = -1;
    int rc = start(p, &err_end);
    if (err_end >= 0)
        close(err_end);
    if (rc)
        return nuioa_fail(err, rc, "no process can be started: %s", strerror(-rc));
    p->pid = p->child.pid;
    p->out.fd = p->child.fd;
    setpgid(p->pid, p->pid); /* the child does it too: whoever is first */
    fcntl(p->out.fd, F_SETFL, O_NONBLOCK);
    fcntl(p->err.fd, F_SETFL, O_NONBLOCK);
    return 0;
}

/* Takes what has come; what there is no room for is dropped. */
static void take_stream(struct probe_stream *s)
{
    char rest[4096];
    while (!s->closed) {
        bool room = s->length < OUTPUT_BYTES - 1;
        ssize_t got = read(s->fd, room ? s->text + s->length : rest,
                           room ? OUTPUT_BYTES - 1 - s->length : sizeof(rest));
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (got > 0 && room)
            s->length += (size_t)got;
        s->closed = got <= 0;
    }
}

static void take_output(struct probe_process *p)
{
    if (p->pid) {
        take_stream(&p->out);
        take_stream(&p->err);
    }
}

bool probe_process_has_ended(struct probe_process *p)
{
    if (p->pid && !p->status.si_pid)
        waitid(P_PID, (id_t)p->pid, &p->status, WEXITED | WNOHANG | WNOWAIT);
    return p->status.si_pid != 0;
}

/* Appends what is open of a process that was started. Returns how many. */
static nfds_t add_streams(const struct probe_process *p, struct pollfd *fds)
{
    nfds_t count = 0;
    if (p->pid && !p->out.closed)
        fds[count++] = (struct pollfd){ .fd = p->out.fd, .events = POLLIN };
    if (p->pid && !p->err.closed)
        fds[count++] = (struct pollfd){ .fd = p->err.fd, .events = POLLIN };
    return count;
}

/* Waits for output of either, at most `nap_ms`. `b` may be NULL. */
static void wait_a_little(struct probe_process *a, struct probe_process *b, int nap_ms)
{
    struct pollfd fds[4];
    nfds_t count = add_streams(a, fds);
    if (b)
        count += add_streams(b, fds + count);
    poll(fds, count, nap_ms);
    take_output(a);
    if (b)
        take_output(b);
}

void probe_process_wait(struct probe_process *p, int nap_ms)
{
    wait_a_little(p, NULL, nap_ms);
}

void probe_process_stop(struct probe_process *p)
{
    if (p->pid) {
        kill(-p->pid, SIGKILL);
        nuioa_subprocess_end(&p->child);
    }
    if (p->err.text && p->err.fd >= 0)
        close(p->err.fd);
    free(p->out.text);
    free(p->err.text);
}

/* --- what happened ---------------------------------------------------------------------------- */

/* Sets `line` to the last line that has a letter or a digit, without what cannot be printed: of the
 * errors if there are any, since what is printed beside them may come out later. */
static const char *last_line(const struct probe_process *p, char *line, size_t size)
{
    *line = '\0';
    char *rest = p->err.length ? p->err.text : p->out.text;
    for (char *word; rest && (word = nuioa_next_word(&rest, "\r\n"));)
        if (word[strspn(word, " \t-=+|*#")])
            snprintf(line, size, "%s", word + strspn(word, " \t"));
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = ' ';
    return line;
}

/* Says what an end did, and with which last line; and if little memory may be locked, that too. */
static int blame(const struct probe_process *p, int rc, const char *what, struct nuioa_error *err)
{
    char line[100], name[40], memory[100] = "";
    struct rlimit limit;
    last_line(p, line, sizeof(line));
    if (!getrlimit(RLIMIT_MEMLOCK, &limit) && limit.rlim_cur < LOCKED_BYTES)
        snprintf(memory, sizeof(memory), "; only %llu KB may be locked in memory: see ulimit -l",
                 (unsigned long long)limit.rlim_cur >> 10);
    return nuioa_fail(err, rc, "%s (%s) %s%s%s%s",
                      probe_benchmark_name(p->benchmark, name, sizeof(name)), p->role, what,
                      *line ? ": " : "; it printed nothing", line, memory);
}

int probe_process_blame(const struct probe_process *p, struct nuioa_error *err)
{
    char what[64];
    if (p->status.si_code == CLD_EXITED)
        snprintf(what, sizeof(what), "ended with status %d", p->status.si_status);
    else
        snprintf(what, sizeof(what), "died of signal %d", p->status.si_status);
    return blame(p, -EIO, what, err);
}

int probe_process_await_server(struct probe_process *server, struct nuioa_error *err)
{
    int64_t end_ms = nuioa_clock_ms() + LISTEN_MS;
    unsigned limit_ms = server->limit_s * 1000;
    if (limit_ms < LISTEN_MS)
        end_ms += (int64_t)limit_ms - LISTEN_MS;
    int nap_ms = 2;
    while (!probe_is_listening(server->pid, server->words.port)) {
        wait_a_little(server, NULL, nap_ms);
        nap_ms = nap_ms < 20 ? nap_ms + 2 : nap_ms;
        if (stopped)
            return nuioa_fail(err, -EINTR, "stopped by signal %d", stopped);
        if (probe_process_has_ended(server)) {
            take_output(server);
            return probe_process_blame(server, err);
        }
        if (nuioa_clock_ms() >= end_ms)
            return blame(server, -ETIMEDOUT, "does not listen", err);
    }
    return 0;
}

int probe_process_await_client(struct probe_process *client, struct probe_process *server,
                               struct nuioa_error *err)
{
    int64_t end_ms = nuioa_clock_ms() + client->limit_s * (int64_t)1000;
    while (!probe_process_has_ended(client)) {
        wait_a_little(client, server, 10);
        if (stopped)
            return nuioa_fail(err, -EINTR, "stopped by signal %d", stopped);
        if (nuioa_clock_ms() >= end_ms)
            return blame(client, -ETIMEDOUT, "did not end in time", err);
    }
    take_output(client);
    if (client->status.si_code != CLD_EXITED || client->status.si_status)
        return probe_process_blame(client, err);
    return 0;
}

int probe_process_number(const struct probe_process *client, double *number,
                         struct nuioa_error *err)
{
    int found = probe_benchmark_number(client->benchmark, client->out.text, number);
    if (found < 2)
        found += probe_benchmark_number(client->benchmark, client->err.text, number);
    if (found == 1)
        return 0;
    return blame(client, -EIO,
                 found ? "printed more than one number that fits" : "printed no number that fits",
                 err);
}

void probe_process_linger(struct probe_process *server)
{
    int64_t end_ms = nuioa_clock_ms() + LINGER_MS;
    while (!probe_process_has_ended(server) && !stopped && nuioa_clock_ms() < end_ms)
        wait_a_little(server, NULL, 5);
}
