/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"
#include "spank/report/listener.h"
#include "spank/report/sender.h"
#include "spank/stepd/user_child.h"

/* A node whose srun, or whose munged, fails in every way: it prints its own report, once and whole,
 * and lets go of the job's stderr. Usage: fault SOCKET DEAD PID OTHER FAST LIBRARY [PART]: the
 * sockets of a munged, of one with the process PID that is stopped and killed, of one with another
 * key, and of one whose clock is ten minutes fast; and the path of libmunge. */

static const char *munged, *dead_munged, *other_munged, *fast_munged, *library;
static pid_t dead_pid;
/* Those of the header, which this test must not follow. */
enum { WAIT_MS = 2000, FEW_NODES = 8 };

static const char own[] = "the node's own report\n";

/* Slurm's, for user_child.c: nobody asks here. */
spank_err_t spank_get_item(spank_t spank, spank_item_t item, ...)
{
    (void)spank, (void)item;
    return ESPANK_ERROR;
}

/* --- a node --- */

struct node {
    const char *socket, *text; /* settings; NULL: `munged`, `own` */
    uint16_t port;
    uint32_t number, count;
    struct sender sender;
    struct user_child child;
    int output; /* what the tasks' stderr is read from */
    int64_t since_ms;
};

static void start(struct node *n)
{
    const struct nuioa_user user = { USER_UID, USER_UID, NULL, 0 };
    struct sender_call call = { &n->sender, "127.0.0.1", n->port, n->socket ? n->socket : munged };
    n->output = -1;
    const bool opened = sender_open(&n->sender) == 0;
    struct user_errand errand = { &user, sender_work, &call, n->sender.child_control };
    if (!opened || user_child_start(&n->child, &errand, 2 * HANG_MS) < 0) {
        printf("Bail out! no child\n");
        exit(1);
    }
}

static int hand_over(struct node *n, const void *content, size_t length)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    n->since_ms = clock_ms();
    memcpy(n->sender.memory->record, content, length);
    int rc = sender_hand_over(&n->sender, length, n->text ? n->text : own, ends[1]);
    close(ends[1]);
    n->output = ends[0];
    return rc;
}

/* Starts a node, and gives its child a right record. */
static void begin(struct node *n)
{
    struct content c = content_of(n->number, n->count ? n->count : 2);
    start(n);
    if (hand_over(n, &c, sizeof(c)) < 0)
        ok(false, "the record is handed over");
}

static bool is_done(const struct node *n)
{
    struct pollfd done = { .fd = n->child.process.fd, .events = POLLIN };
    char byte;
    return poll(&done, 1, HANG_MS) == 1 && read(n->child.process.fd, &byte, 1) == 1;
}

static void end(struct node *n)
{
    user_child_end(&n->child);
    sender_close(&n->sender);
    close(n->output);
}

/* The child prints `why` (NULL: nothing) and the own report, closes the job's stderr although it
 * lives, and says that it is done. */
static void prints(struct node *n, const char *name, const char *why)
{
    char *text = read_all(n->output), *line_end = why ? strchr(text, '\n') : NULL;
    const char *rest = line_end ? line_end + 1 : text;
    bool good = !strcmp(rest, n->text ? n->text : own);
    if (why)
        good = good && line_end && !strncmp(text, "nuioa: report: ", 15) && strstr(text, why) &&
               strstr(text, why) < line_end;
    ok(good, "%s: its own report, once", name);
    if (!good)
        printf("# it printed: %.300s\n", text);
    ok(is_done(n), "%s: it is done", name);
    free(text);
    end(n);
}

static void prints_nothing(struct node *n, const char *name)
{
    char *text = read_all(n->output);
    ok(!*text && is_done(n), "%s: nothing is printed (%.40s)", name, text);
    free(text);
    end(n);
}

/* --- srun --- */

/* A port of this machine at which an srun answers with `bytes`, after it has read a record. */
static int answer_with(uint16_t *port, struct node *n, const char *bytes, size_t length)
{
    static char record[WIRE_SEALED_MAX];
    int listener = listener_open(0, 0, port);
    n->port = *port;
    begin(n);
    struct pollfd wait = { .fd = listener, .events = POLLIN };
    poll(&wait, 1, HANG_MS);
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    close(listener);
    for (size_t got = 0; fd >= 0 && length && (!got || record[got - 1]);) {
        ssize_t more = recv(fd, record + got, sizeof(record) - got, 0);
        if (more <= 0)
            break;
        got += (size_t)more;
    }
    peer_put(fd, bytes, length);
    return fd;
}

static void wrong_answers(void)
{
    struct node n = { 0 };
    uint16_t port;
    close(answer_with(&port, &n, "+", 1));
    prints_nothing(&n, "srun takes the record");
    close(answer_with(&port, &n, "-", 1));
    prints(&n, "srun answers another byte", "srun took no record");
    close(answer_with(&port, &n, "", 1));
    prints(&n, "srun answers a zero", "srun took no record");
    close(answer_with(&port, &n, "", 0));
    prints(&n, "srun hangs up", "srun took no record");
    n.port = port;
    begin(&n);
    prints(&n, "nobody listens", "(Connection refused)");
}

/* Nodes print their own reports; the first one says why. */
static void other_nodes(void)
{
    struct node n = { .port = 1, .number = 1 };
    begin(&n);
    prints(&n, "the second node does not say why", NULL);
    n = (struct node){ .port = 1, .count = 1 };
    begin(&n);
    prints(&n, "a node that is alone does not say why", NULL);
    n = (struct node){ .port = 1, .count = FEW_NODES };
    begin(&n);
    prints(&n, "8 nodes", "each node prints its own");
    n = (struct node){ .port = 1, .count = FEW_NODES + 1 };
    begin(&n);
    prints(&n, "9 nodes", "the first node alone prints its own");
}

static void no_answer(void)
{
    struct node n = { 0 };
    uint16_t port;
    int fd = answer_with(&port, &n, "", 0);
    prints(&n, "srun does not answer", "no answer in time");
    ok(clock_ms() - n.since_ms >= WAIT_MS, "srun does not answer: it has waited");
    close(fd);
    n = (struct node){ .count = 1000 };
    fd = answer_with(&port, &n, "", 0);
    prints(&n, "srun of 1000 nodes does not answer", "no answer in time");
    ok(clock_ms() - n.since_ms >= WAIT_MS + 1000, "srun of 1000 nodes: a second more");
    close(fd);
    /* Many nodes would wait for a minute. */
    n = (struct node){ .count = WIRE_NODES_MAX };
    fd = answer_with(&port, &n, "", 0);
    sender_tell_end(&n.sender);
    prints(&n, "srun does not answer, the last task has ended", "no answer in time");
    ok(clock_ms() - n.since_ms < HANG_MS, "srun does not answer, the last task has ended: at once");
    close(fd);
    /* srun answers after the last task has ended. */
    n = (struct node){ .count = WIRE_NODES_MAX };
    fd = answer_with(&port, &n, "", 0);
    sender_tell_end(&n.sender);
    peer_put(fd, "+", 1);
    prints_nothing(&n, "srun answers late");
    close(fd);
}

/* The queue of the port is full, and so the kernel drops what comes, as a firewall does. */
static void black_hole(void)
{
    struct node n = { 0 };
    struct sockaddr_in at = { .sin_family = AF_INET };
    socklen_t size = sizeof(at);
    int fds[8], listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&at, size) < 0 || listen(listener, 0) < 0 ||
        getsockname(listener, (struct sockaddr *)&at, &size) < 0)
        ok(false, "a port that drops all");
    n.port = ntohs(at.sin_port);
    for (int i = 0; i < 8; i++)
        fds[i] = listener_connect("127.0.0.1", n.port);
    begin(&n);
    prints(&n, "srun cannot be reached", "no answer in time");
    for (int i = 0; i < 8; i++)
        close(fds[i]);
    close(listener);
}

/* --- the job's stderr --- */

static char *long_text(size_t length)
{
    char *text = malloc(length + 1);
    for (size_t i = 0; i < length; i++)
        text[i] = (char)(i % 80 == 79 ? '\n' : ' ' + rand() % 95);
    text[length - 1] = '\n';
    text[length] = '\0';
    return text;
}

static void outputs(void)
{
    char *text = long_text(200 << 10);
    struct node n = { .port = 1, .text = text };
    begin(&n);
    prints(&n, "200 KB", "srun took no record");
    n = (struct node){ .port = 1, .text = text };
    begin(&n);
    ok(is_done(&n), "nobody reads 200 KB: it is done");
    char *read = read_all(n.output);
    ok(strlen(read) > 1000 && strlen(read) < strlen(text), "nobody reads 200 KB: it was cut");
    free(read);
    end(&n);
    n = (struct node){ .port = 1, .text = text };
    begin(&n);
    close(n.output);
    n.output = -1;
    ok(is_done(&n), "the reader has gone: it is done");
    end(&n);
    free(text);
}

/* --- slurmstepd --- */

static bool opens_as_user(pid_t pid, const char *name)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
    if (setegid(USER_UID) < 0 || seteuid(USER_UID) < 0)
        exit(1);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (seteuid(0) < 0 || setegid(0) < 0)
        exit(1);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static void childs_rights(void)
{
    struct node n = { 0 };
    char path[64], line[256], ids[64] = "";
    start(&n);
    pid_t pid = n.child.process.pid;
    snprintf(path, sizeof(path), "/proc/%d/status", pid);
    for (int64_t until = clock_ms() + HANG_MS; !strstr(ids, "65534") && clock_ms() < until;) {
        FILE *status = fopen(path, "re");
        while (status && fgets(line, sizeof(line), status))
            if (!strncmp(line, "Uid:", 4))
                snprintf(ids, sizeof(ids), "%.60s", line);
        if (status)
            fclose(status);
    }
    ok(!strncmp(ids, "Uid:\t65534\t65534\t65534\t65534", 27), "the child is the user");
    usleep(100000);
    for (const char *const *name = (const char *[]){ "mem", "maps", "fd", "environ", NULL }; *name;
         name++)
        ok(!opens_as_user(pid, *name), "the user cannot open %s of the child", *name);
    /* stdin and the others, the pair of sockets, and the pipe */
    ok(count_fds(pid) <= 5, "the child has %u descriptors", count_fds(pid));
    sender_close(&n.sender);
    ok(is_done(&n), "there is no record: it is done");
    end(&n);
}

static void slurmstepds_calls(void)
{
    struct node n = { 0 };
    struct content c = content_of(0, 2);
    uint16_t port;
    int fd = answer_with(&port, &n, "", 0), first = n.output;
    ok(hand_over(&n, &c, sizeof(c)) < 0, "a second record is refused");
    close(n.output);
    n.output = first;
    peer_put(fd, "+", 1);
    prints_nothing(&n, "a second record");
    close(fd);
    fd = answer_with(&port, &n, "", 0);
    kill(n.child.process.pid, SIGSTOP);
    ok(sender_decide(&n.sender), "the child is late: slurmstepd prints");
    kill(n.child.process.pid, SIGCONT);
    close(fd);
    prints_nothing(&n, "the child is late");
    n = (struct node){ .port = 1 };
    begin(&n);
    ok(is_done(&n) && !sender_decide(&n.sender), "the child has printed: it is not late");
    end(&n);
    start(&n);
    user_child_kill(&n.child, HANG_MS);
    user_child_end(&n.child);
    close(n.sender.child_control);
    n.sender.child_control = -1;
    ok(hand_over(&n, &c, sizeof(c)) < 0, "the child has gone: slurmstepd knows");
    end(&n);
}

/* --- MUNGE --- */

/* A node whose munged makes what the munged of srun's host refuses: srun says what to do. */
static void refused_by(const char *srun_munged, const char *node_munged, const char *name,
                       const char *remedy)
{
    struct srun s = { 0 };
    struct node n = { .socket = node_munged };
    srun_begin(&s, srun_munged, 2);
    n.port = s.port;
    begin(&n);
    prints(&n, name, "srun took no record");
    srun_end(&s);
    ok(strstr(s.text, remedy) && strchr(s.text, '\n') == strrchr(s.text, '\n'), "%s: srun says %s",
       name, remedy);
    srun_free(&s);
}

static void other_key(void)
{
    refused_by(munged, other_munged, "munged of another key", "install the same munge.key on all");
}

static void other_clock(void)
{
    refused_by(munged, fast_munged, "a node's clock is fast",
               "synchronize the clocks of all hosts");
    refused_by(fast_munged, munged, "a node's clock is slow",
               "synchronize the clocks of all hosts");
}

/* A text that does not become small: the record goes without it. */
static void too_long(void)
{
    static union {
        struct content head;
        char bytes[sizeof(struct content) + WIRE_TEXT_MAX];
    } c;
    struct srun s = { .explain = true };
    struct node n = { 0 };
    size_t length = offsetof(struct content, text) + (120 << 10);
    char *text = long_text(length - 1 - offsetof(struct content, text));
    c.head = content_of(0, 1);
    c.head.head.text_length = 120 << 10;
    strcpy(c.bytes + offsetof(struct content, text), text);
    srun_begin(&s, munged, 1);
    n.port = s.port;
    start(&n);
    ok(!hand_over(&n, &c, length), "too long a record is handed over");
    prints_nothing(&n, "too long a record");
    srun_end(&s);
    ok(strstr(s.text, "node1") && !strstr(s.text, "say: report") && strlen(s.text) < 4096,
       "too long a record: srun has it without its text");
    srun_free(&s);
    free(text);
}

static void munged_fails(void)
{
    struct node n = { .socket = dead_munged, .port = 1 };
    kill(dead_pid, SIGSTOP);
    begin(&n);
    prints(&n, "munged is stopped", "MUNGE: no answer from munged; start it");
    n = (struct node){ .socket = dead_munged, .port = 1, .count = WIRE_NODES_MAX };
    begin(&n);
    sender_tell_end(&n.sender);
    prints(&n, "munged is stopped, the last task has ended", "no answer from munged; start it");
    ok(clock_ms() - n.since_ms < HANG_MS, "munged is stopped, the last task has ended: at once");
    kill(dead_pid, SIGKILL);
    kill(dead_pid, SIGCONT);
    n = (struct node){ .socket = dead_munged, .port = 1, .count = WIRE_NODES_MAX };
    begin(&n);
    prints(&n, "munged is dead", "MUNGE: ");
}

/* The last case: this process has no libmunge any more. */
static void no_library(void)
{
    struct node n = { .port = 1 };
    if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("/dev/null", library, NULL, MS_BIND, NULL) < 0) {
        ok(false, "libmunge is taken away: %s", strerror(errno));
        return;
    }
    begin(&n);
    prints(&n, "no libmunge", "install it");
}

int main(int argc, char **argv)
{
    static const struct part parts[] = {
        { "rights", childs_rights },
        { "answers", wrong_answers },
        { "others", other_nodes },
        { "silence", no_answer },
        { "hole", black_hole },
        { "outputs", outputs },
        { "calls", slurmstepds_calls },
        { "long", too_long },
        { "key", other_key },
        { "clock", other_clock },
        { "munged", munged_fails },
        { "library", no_library },
        { NULL, NULL },
    };
    if (argc < 7)
        return 2;
    munged = argv[1];
    dead_munged = argv[2];
    dead_pid = atoi(argv[3]);
    other_munged = argv[4];
    fast_munged = argv[5];
    library = argv[6];
    return run_parts(NULL, parts, argv[7]);
}
