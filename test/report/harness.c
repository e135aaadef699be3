/* SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spank/report/collector.h"
#include "spank/report/credential.h"
#include "spank/report/listener.h"
#include "util/clock.h"

#define RSS_MAX_KB (16 << 10)

static _Noreturn void die(const char *what)
{
    printf("Bail out! %s: %s\n", what, strerror(errno));
    exit(1);
}

/* --- tests --- */

static unsigned tests, failed;

void ok(bool good, const char *format, ...)
{
    va_list list;
    failed += !good;
    printf("%sok %u - ", good ? "" : "not ", ++tests);
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    putchar('\n');
    fflush(stdout);
}

int64_t clock_ms(void)
{
    return nuioa_clock_ms();
}

unsigned count_fds(pid_t pid)
{
    char path[64];
    unsigned count = 0;
    snprintf(path, sizeof(path), "/proc/%d/fd", pid);
    DIR *directory = opendir(path);
    for (struct dirent *d; directory && (d = readdir(directory));)
        count += *d->d_name != '.';
    if (directory)
        closedir(directory);
    return count - (directory && pid == getpid());
}

unsigned count_children(void)
{
    unsigned count = 0;
    int pid;
    FILE *file = fopen("/proc/thread-self/children", "r");
    while (file && fscanf(file, "%d", &pid) == 1)
        count++;
    if (file)
        fclose(file);
    return count;
}

char *read_all(int fd)
{
    size_t length = 0, size = 1 << 20;
    char *text = calloc(1, size);
    struct pollfd wait = { .fd = fd, .events = POLLIN };
    ssize_t got = 1;
    while (got > 0 && length < size - 1 && poll(&wait, 1, HANG_MS) > 0) {
        got = read(fd, text + length, size - 1 - length);
        length += got > 0 ? (size_t)got : 0;
    }
    if (got > 0)
        ok(false, "what is read has an end");
    return text;
}

/* --- srun --- */

static void say(const char *line)
{
    dprintf(STDERR_FILENO, "say: %s\n", line);
}

static void print(const char *text)
{
    dprintf(STDERR_FILENO, "%s", text);
}

struct beginning {
    pid_t collector;
    uint16_t port;
};

static _Noreturn void run_srun(const struct srun *s, const char *socket, uint32_t nodes, int from,
                               int to)
{
    struct nuioa_subprocess collector;
    struct beginning beginning = { 0 };
    struct srun_result r = { 0 };
    struct rusage usage;
    char command;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (setgroups(0, NULL) < 0 || setresgid(USER_UID, USER_UID, USER_UID) < 0 ||
        setresuid(USER_UID, USER_UID, USER_UID) < 0)
        _exit(1);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    struct collector_config config = {
        .socket = socket,
        .job_id = nodes ? JOB : UINT32_MAX,
        .step_id = STEP,
        .node_count = nodes,
        .nodes = nodes == 2 ? "node[1-2]" : NULL,
        .explain = s->explain,
        .say = say,
        .print = print,
    };
    r.fds_before = count_fds(getpid());
    config.listener = listener_open(0, 0, &beginning.port);
    if (config.listener < 0 || collector_start(&collector, &config) < 0)
        _exit(1);
    close(config.listener);
    beginning.collector = collector.pid;
    r.fds_with = count_fds(getpid());
    if (write(to, &beginning, sizeof(beginning)) != sizeof(beginning) ||
        read(from, &command, 1) != 1)
        _exit(1);
    r.rc = collector_end(&collector);
    r.fds_after = count_fds(getpid());
    r.children_after = count_children();
    getrusage(RUSAGE_CHILDREN, &usage);
    r.rss_kb = usage.ru_maxrss;
    r.cpu_ms = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
               (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
    _exit(write(to, &r, sizeof(r)) == sizeof(r) ? 0 : 1);
}

/* The socket pair is for both directions, and each message is whole. */
void srun_begin(struct srun *s, const char *socket, uint32_t node_count)
{
    int ends[2];
    struct beginning beginning;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        die("socketpair");
    s->output = memfd_create("output", MFD_CLOEXEC);
    s->text = NULL;
    fflush(NULL);
    s->pid = fork();
    if (s->pid == 0) {
        dup2(s->output, STDERR_FILENO);
        close(s->output);
        close(ends[0]);
        run_srun(s, socket, node_count, ends[1], ends[1]);
    }
    close(ends[1]);
    s->command = ends[0];
    if (recv(s->command, &beginning, sizeof(beginning), 0) != sizeof(beginning))
        die("srun");
    s->collector = beginning.collector;
    s->port = beginning.port;
    s->collector_pidfd = (int)syscall(SYS_pidfd_open, s->collector, 0);
}

bool srun_wait(const struct srun *s)
{
    struct pollfd wait = { .fd = s->collector_pidfd, .events = POLLIN };
    struct stat output = { 0 };
    for (int64_t until = clock_ms() + HANG_MS; clock_ms() < until;)
        if (poll(&wait, 1, 1) > 0 || (!fstat(s->output, &output) && output.st_size))
            return true;
    return false;
}

void srun_end(struct srun *s)
{
    if (send(s->command, "e", 1, MSG_NOSIGNAL) != 1 ||
        recv(s->command, &s->result, sizeof(s->result), 0) != sizeof(s->result))
        s->result.rc = 1; /* srun is dead */
    waitpid(s->pid, NULL, 0);
    struct pollfd gone = { .fd = s->collector_pidfd, .events = POLLIN };
    if (poll(&gone, 1, HANG_MS) != 1)
        ok(false, "the collector has ended");
    lseek(s->output, 0, SEEK_SET);
    s->text = read_all(s->output);
    close(s->output);
    close(s->command);
    close(s->collector_pidfd);
}

void srun_free(struct srun *s)
{
    free(s->text);
    s->text = NULL;
}

bool srun_is_clean(const struct srun *s)
{
    const struct srun_result *r = &s->result;
    bool clean = r->fds_with == r->fds_before + 1 && r->fds_after == r->fds_before &&
                 !r->children_after && r->rss_kb < RSS_MAX_KB;
    if (!clean)
        printf("# srun has %u, %u, %u descriptors and %u children, the collector %ld KB\n",
               r->fds_before, r->fds_with, r->fds_after, r->children_after, r->rss_kb);
    return clean;
}

/* --- what a node sends --- */

struct content content_of(uint32_t node, uint32_t node_count)
{
    struct content c = {
        .head = { .seal = { WIRE_PURPOSE, WIRE_VERSION, JOB, STEP, node, node_count },
                  .leader = 2 * node,
                  .task_count = 2,
                  .moved_count = 1,
                  .numa_count = 2,
                  .core_count = 8,
                  .nic_count = 1,
                  .row_count = 2,
                  .warning_count = 1,
                  .text_length = sizeof(c.text),
                  .cost_before = 5,
                  .cost_after = 4,
                  .bound = 4,
                  .reason = "hints: the heaviest ranks are nearest the NIC",
                  .gpu_count = 2,
                  .distances = "slit",
                  .gpus = "nvidia 10de:2330" },
        .nic = { "mlx5_0:1", "1", 2, 0, 200000, 1, 0, 0, "0-1", "fe80:0000:0000:0001" },
        .warning = "the node is strange",
        .text = "an explanation\n",
    };
    snprintf(c.head.host, sizeof(c.head.host), "node%u", node + 1);
    for (uint32_t i = 0; i < 2; i++) {
        c.rows[i] = (struct wire_row){ .numas = "1",
                                       .memory = "preferred:1",
                                       .nic = "mlx5_0:1",
                                       .gpus = "0-1",
                                       .path = "PIX",
                                       .count = 1,
                                       .leads = i == 0,
                                       .weight = 1 };
        snprintf(c.rows[i].ranks, sizeof(c.rows[i].ranks), "%u", 2 * node + i);
        snprintf(c.rows[i].cpus, sizeof(c.rows[i].cpus), "%u", i);
    }
    return c;
}

char *seal_right(const char *socket, const void *bytes, size_t length)
{
    struct nuioa_error err;
    char *credential;
    if (seteuid(USER_UID) < 0 || credential_make(socket, bytes, length, &credential, &err) < 0 ||
        seteuid(0) < 0)
        die("a credential");
    return credential;
}

/* --- connections --- */

int peer_connect(uint16_t port)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port) };
    struct timeval limit = { .tv_sec = HANG_MS / 1000 };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    if (!connect(fd, (struct sockaddr *)&to, sizeof(to)))
        return fd;
    int rc = -errno;
    close(fd);
    return rc;
}

void peer_put(int fd, const void *bytes, size_t length)
{
    const char *from = bytes;
    for (ssize_t sent = 1; length && sent > 0; length -= sent > 0 ? (size_t)sent : 0) {
        sent = send(fd, from, length, MSG_NOSIGNAL);
        from += sent > 0 ? sent : 0;
    }
}

int peer_end(int fd)
{
    char byte = 0;
    ssize_t got = recv(fd, &byte, 1, 0);
    bool closed = got == 0 || (got < 0 && errno == ECONNRESET);
    close(fd);
    return got == 1 ? byte : closed ? 0 : -1;
}

bool tell(const struct srun *s, const char *credential)
{
    int fd = peer_connect(s->port);
    if (fd < 0)
        return false;
    peer_put(fd, credential, strlen(credential) + 1);
    return peer_end(fd) == WIRE_TAKEN;
}

/* --- a step of two nodes --- */

char *right_text;

char *right(const char *socket, uint32_t node)
{
    struct content c = content_of(node, 2);
    return seal_right(socket, &c, sizeof(c));
}

bool tell_right(const char *socket, const struct srun *s, uint32_t node)
{
    char *credential = right(socket, node);
    bool taken = tell(s, credential);
    free(credential);
    return taken;
}

bool ends_well(const char *socket, struct srun *s)
{
    bool taken = tell_right(socket, s, 0) && tell_right(socket, s, 1);
    srun_end(s);
    bool good = taken && !s->result.rc && !strcmp(s->text, right_text) && srun_is_clean(s);
    if (!good)
        printf("# taken: %d, rc: %d, said: %s\n", taken, s->result.rc, s->text);
    srun_free(s);
    return good;
}

static void undisturbed(const char *socket)
{
    struct srun s = { 0 };
    srun_begin(&s, socket, 2);
    ok(tell_right(socket, &s, 0) && tell_right(socket, &s, 1), "nobody disturbs: two are taken");
    srun_end(&s);
    right_text = s.text;
    ok(strstr(s.text, "say: node[1-2]: the node is strange") && srun_is_clean(&s),
       "nobody disturbs: the report comes");
}

int run_parts(const char *socket, const struct part *parts, const char *name)
{
    unsigned fds = count_fds(getpid());
    if (socket)
        undisturbed(socket);
    for (; parts->name; parts++)
        if (!name || !strcmp(name, parts->name))
            parts->run();
    ok(count_fds(getpid()) == fds && !count_children(), "no descriptor and no child is left");
    free(right_text);
    printf("1..%u\n", tests);
    return failed != 0;
}
