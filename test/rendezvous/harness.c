/* SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "spank/rendezvous/summary.h"

int64_t harness_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static unsigned entries(const char *path)
{
    unsigned count = 0;
    DIR *directory = opendir(path);
    while (directory && readdir(directory))
        count++;
    if (directory)
        closedir(directory);
    return count;
}

unsigned harness_fds(void)
{
    return entries("/proc/self/fd");
}

unsigned harness_children(void)
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

/* --- srun --- */

struct srun_state {
    const struct harness *harness;
    struct summary *summary;
    struct srun_result result;
};

static uint32_t room(void *arg, uint32_t node_count)
{
    (void)node_count;
    return ((struct srun_state *)arg)->harness->room;
}

static void warn(void *arg, const char *text)
{
    struct srun_state *a = arg;
    a->result.warnings++;
    snprintf(a->result.warning, sizeof(a->result.warning), "%s", text);
}

static void take(void *arg, const struct record *record)
{
    struct srun_state *a = arg;
    summary_add(a->summary, record);
}

static void report(void *arg)
{
    struct srun_state *a = arg;
    char *text = summary_text(a->summary, false);
    a->result.reports += text != NULL;
    free(text);
}

static void *slice(void *arg, const uint32_t *ranks, uint32_t count, size_t *length)
{
    struct wire_slice head = { count, count > 1 };
    struct wire_pair pair = { 0, 1, 1000 };
    char *bytes = calloc(1, sizeof(head) + count * sizeof(double) + sizeof(pair));
    (void)arg;
    memcpy(bytes, &head, sizeof(head));
    for (uint32_t i = 0; i < count; i++) {
        double weight = ranks[i] + 1;
        memcpy(bytes + sizeof(head) + i * sizeof(weight), &weight, sizeof(weight));
    }
    memcpy(bytes + sizeof(head) + count * sizeof(double), &pair, sizeof(pair));
    *length = sizeof(head) + count * sizeof(double) + head.pair_count * sizeof(pair);
    return bytes;
}

static _Noreturn void run_srun(const struct harness *s, int from, int to)
{
    static struct srun_state srun_state;
    struct nuioa_error err;
    struct server *server;
    char line[TOKEN_TEXT_MAX] = "", command;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if ((geteuid() == 0 && setgroups(0, NULL) < 0) || setresgid(USER_UID, USER_UID, USER_UID) < 0 ||
        setresuid(USER_UID, USER_UID, USER_UID) < 0)
        _exit(1);
    struct server_config config = {
        .encrypted = s->encrypted,
        .uid = USER_UID,
        .socket = s->srun_socket ? s->srun_socket : s->socket,
        .timeout_ms = s->timeout_ms,
        .reports = true,
        .accept_ms = s->accept_ms,
        .arg = &srun_state,
        .room = s->room ? room : NULL,
        .warn = warn,
        .slice = slice,
        .record = take,
        .finish = report,
    };
    srun_state.harness = s;
    srun_state.summary = summary_new();
    struct srun_result *e = &srun_state.result;
    e->fds_before = harness_fds();
    if (server_open(&config, &server, &err) < 0)
        _exit(1);
    pid_t child = s->forks ? fork() : -1;
    if (!child) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pause();
        _exit(1);
    }
    snprintf(line, sizeof(line), "%s", server_text(server));
    server_expect(server, JOB, STEP, s->node_count);
    if (s->threadless)
        setrlimit(RLIMIT_NPROC, &(struct rlimit){ 0, 0 });
    if ((server_start(server, true) < 0) != s->threadless ||
        write(to, line, sizeof(line)) != sizeof(line) || read(from, &command, 1) != 1)
        _exit(1);
    if (command == 'f')
        server_wait(server);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    int64_t start = harness_ms();
    e->rss_kb = usage.ru_maxrss;
    e->cpu_ms = (unsigned)((usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
                           (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000);
    server_stop(server);
    e->counts = server_counts(server);
    server_close(server);
    e->close_ms = (unsigned)(harness_ms() - start);
    if (child > 0) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    e->fds_after = harness_fds();
    /* The kernel still lists a joined thread for a moment. */
    for (int i = 0; i < 200 && (e->threads_after = entries("/proc/self/task") - 2) > 1; i++)
        usleep(1000);
    e->children_after = harness_children();
    summary_free(srun_state.summary);
    _exit(write(to, e, sizeof(*e)) == sizeof(*e) ? 0 : 1);
}

void harness_open(struct harness *s)
{
    int there[2], back[2];
    if (!s->timeout_ms)
        s->timeout_ms = 500;
    if (pipe2(there, O_CLOEXEC) < 0 || pipe2(back, O_CLOEXEC) < 0)
        abort();
    fflush(NULL);
    s->srun = fork();
    if (s->srun == 0) {
        close(there[1]);
        close(back[0]);
        run_srun(s, there[0], back[1]);
    }
    close(there[0]);
    close(back[1]);
    s->to_srun = there[1];
    s->from_srun = back[0];
    if (read(s->from_srun, s->text, sizeof(s->text)) != sizeof(s->text))
        abort();
}

static bool end(struct harness *s, char command, struct srun_result *result)
{
    memset(result, 0, sizeof(*result));
    bool told = write(s->to_srun, &command, 1) == 1 &&
                read(s->from_srun, result, sizeof(*result)) == sizeof(*result);
    close(s->to_srun);
    close(s->from_srun);
    waitpid(s->srun, NULL, 0);
    s->srun = 0;
    return told;
}

bool harness_close(struct harness *s, struct srun_result *result)
{
    return end(s, 'q', result);
}

bool harness_finish(struct harness *s, struct srun_result *result)
{
    return end(s, 'f', result);
}

/* --- nodes --- */

struct client_call harness_call(const struct harness *s, uint32_t node, uint32_t count)
{
    return (struct client_call){
        .address = "127.0.0.1",
        .srun = s->text,
        .socket = s->socket,
        .uid = USER_UID,
        .gid = USER_UID,
        .timeout_ms = s->timeout_ms,
        .job_id = JOB,
        .step_id = STEP,
        .node = node,
        .node_count = count,
        .task_count = 4,
    };
}

void *harness_record(uint32_t node, size_t *length)
{
    struct wire_record head = {
        .node = node,
        .leader = 4 * node,
        .near = 2,
        .task_count = 4,
        .numa_count = 2,
        .core_count = 8,
        .nic_count = 1,
        .line_count = 4,
        .cost_before = 5,
        .cost_after = 4,
        .bound = 4,
        .reason = "hints: the heaviest ranks are nearest the NIC",
        .gpu_count = 2,
        .distances = "slit",
        .gpus = "nvidia 10de:2330",
    };
    struct wire_nic nic = {
        .label = "mlx5_0:1",
        .numas = "1",
        .state = 2,
        .rate_mbps = 200000,
        .usable = 1,
        .gpus = "0-1",
        .fabric = "fe80:0000:0000:0001",
    };
    char *bytes = malloc(sizeof(head) + sizeof(nic) + 4 * sizeof(struct nuioa_report_line));
    *length = sizeof(head) + sizeof(nic) + 4 * sizeof(struct nuioa_report_line);
    snprintf(head.host, sizeof(head.host), "node%u", node + 1);
    memcpy(bytes, &head, sizeof(head));
    memcpy(bytes + sizeof(head), &nic, sizeof(nic));
    for (uint32_t i = 0; i < 4; i++) {
        struct nuioa_report_line line = {
            .numas = "1",
            .memory = "preferred:1",
            .nic = "mlx5_0:1",
            .gpus = "0-1",
            .path = "PIX",
            .count = 1,
            .leads = i == 0,
            .weight = 1,
        };
        snprintf(line.ranks, sizeof(line.ranks), "%u", 4 * node + i);
        snprintf(line.cpus, sizeof(line.cpus), "%u", i);
        memcpy(bytes + sizeof(head) + sizeof(nic) + i * sizeof(line), &line, sizeof(line));
    }
    return bytes;
}

struct wire_hello harness_hello(const struct client_call *call)
{
    return (struct wire_hello){
        .nonce = { 1 },
        .job_id = call->job_id,
        .step_id = call->step_id,
        .node = call->node,
        .node_count = call->node_count,
        .task_count = call->task_count,
    };
}

static struct token read_text(const char *text)
{
    struct token token;
    if (token_read(&token, text) < 0)
        abort();
    return token;
}

struct hmac_key harness_key(const char *text)
{
    struct token token = read_text(text);
    struct hmac_key key;
    hmac_key_set(&key, token.key, sizeof(token.key));
    return key;
}

struct hmac_key harness_session(const struct hmac_key *step, const struct wire_hello *hello)
{
    struct hmac_key session;
    tag_session(&session, step, hello);
    return session;
}

void harness_tag(const struct hmac_key *key, enum wire_use from, const struct wire_frame *frame,
                 const void *body, uint8_t tag[WIRE_TAG_SIZE])
{
    uint8_t digest[SHA256_SIZE];
    sha256_of(body, frame->length, digest);
    tag_make(key, from, frame, digest, tag);
}

static void *run_node(void *arg)
{
    struct node_thread *a = arg;
    size_t length;
    usleep(a->delay_ms * 1000);
    struct wire_record *record = harness_record(a->call.node, &length);
    int64_t start = harness_ms();
    a->rc = client_call(&a->node, &a->call, &a->err);
    usleep(a->record_delay_ms * 1000);
    if (!a->rc)
        a->rc = client_send_record(&a->node, record, length, &a->err);
    if (!a->rc)
        a->rc = client_receive_welcome(&a->node, &a->err);
    a->took_ms = harness_ms() - start;
    client_close(&a->node);
    free(record);
    return NULL;
}

void node_thread_start(struct node_thread *a, const struct harness *s, uint32_t node,
                       uint32_t count)
{
    static const uint32_t ranks[4] = { 0, 1, 2, 3 };
    pthread_t thread;
    a->call = harness_call(s, node, count);
    a->call.ranks = a->ignores_slice ? ranks : NULL;
    a->node = (struct client)CLIENT_NONE;
    a->rc = 0;
    *a->err.text = '\0';
    if (pthread_create(&thread, NULL, run_node, a))
        abort();
    a->thread = thread;
}

void node_thread_join(struct node_thread *a)
{
    pthread_join(a->thread, NULL);
}

static int connect_to(const struct harness *s, int flags)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET,
        .sin_port = htons(read_text(s->text).port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0 && errno != EINPROGRESS) {
        close(fd);
        return -errno;
    }
    return fd;
}

int harness_connect(const struct harness *s)
{
    return connect_to(s, 0);
}

int harness_connect_begin(const struct harness *s)
{
    return connect_to(s, SOCK_NONBLOCK);
}
