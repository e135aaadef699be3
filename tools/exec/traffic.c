/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/commands.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "output/text_table.h"
#include "nics/rails.h"
#include "tools/exec/bind_and_exec.h"
#include "tools/exec/launcher.h"
#include "tools/json.h"
#include "tools/tool.h"
#include "topology/cache.h"
#include "topology/nic_counters.h"
#include "util/clock.h"
#include "util/subprocess.h"

static const char usage[] =
    "usage: nuioa traffic [--json] [--] COMMAND [ARGUMENT]...\n\n"
    "Runs COMMAND, and says what the NICs of the node carried meanwhile, for all programs:\n"
    "srun nuioa traffic -- ./app, or mpirun nuioa traffic -- ./app. The local rank 0 of each node\n"
    "reads the counters before and after its COMMAND, and prints a table to its standard error;\n"
    "all others become COMMAND at once. The exit status is that of COMMAND.\n"
    "\n"
    "  --json    print one line of JSON instead, for programs\n";

enum { DISCOVERY_MS = 10000, READ_MS = 2000, WITNESS_MS = 1000 };

struct report {
    const struct nuioa_node *node;
    struct nuioa_nic_counters *before, *after; /* [node->nic_count] */
    double seconds, total;                     /* bytes of all NICs, both ways */
    struct nuioa_text_table table;
    json_t *nics;
    /* Nearer ranks save at most this part of the busiest NIC's time, and these seconds. */
    double busiest, latency_s;
    const char *why_not; /* there is no bound, because of this NIC; NULL: there is */
    char whose[48];
};

/* Returns what the CPUs farthest from the NIC cost, as a part of its traffic; < 0: unknown. */
static double farthest(const struct nuioa_node *node, const struct nuioa_nic *nic)
{
    struct nuioa_options defaults;
    uint32_t level = 0;
    for (uint32_t k = 0; nic->level && k < node->numa_count; k++)
        if (!hwloc_bitmap_iszero(node->numas[k].cpus) && nic->level[k] > level)
            level = nic->level[k];
    nuioa_options_init(&defaults);
    return nic->level || node->numa_count == 1 ? nuioa_nic_cost(&defaults, level) - 1 : -1;
}

/* A packet waits a few far accesses longer, ten times as much where the kernel handles it. */
static void add_saving(struct report *r, const struct nuioa_nic *nic, double busy, uint64_t packets)
{
    double cost = farthest(r->node, nic);
    bool slow = nic->kind == NUIOA_NIC_ETHERNET || nic->kind == NUIOA_NIC_OTHER;
    if (cost == 0 || busy == 0)
        return;
    if (cost < 0 || busy < 0 || packets == NUIOA_NO_COUNTER) {
        r->why_not = cost < 0 ? "the NUMA node" : busy < 0 ? "the rate or traffic" : "the packets";
        nuioa_nic_label(nic, r->whose, sizeof(r->whose));
    }
    r->busiest = fmax(r->busiest, busy * cost);
    r->latency_s += (double)packets * (slow ? 3e-6 : 0.3e-6);
}

/* Adds bytes, or with `is_part` a part of 1, below 0 if it is unknown, to the table. */
static json_t *add_number(struct report *r, double value, bool is_part)
{
    char text[24];
    if (is_part)
        snprintf(text, sizeof(text), "%.1f %%", 100 * value);
    nuioa_text_table_add(&r->table, "%s",
                         value < 0 ? "?"
                         : is_part ? text
                                   : tool_bytes(value, text));
    return value < 0 ? NULL : is_part ? json_real(value) : json_integer((json_int_t)value);
}

static void add_nic(struct report *r, uint32_t i, const struct nuioa_nic_counters *c)
{
    const struct nuioa_nic *nic = &r->node->nics[i];
    const char *why = nuioa_nic_counters_known(c)                ? NULL
                      : !nuioa_nic_counters_known(&r->before[i]) ? "no counters of bytes"
                      : !nuioa_nic_counters_known(&r->after[i])  ? "counters lost meanwhile"
                                                                 : "counters reset meanwhile";
    double received = why ? -1 : (double)c->received, sent = why ? -1 : (double)c->sent;
    double both = received + sent, rate = nic->rate_mbps * 125e3 * r->seconds;
    double busy = both == 0 ? 0 : why || rate == 0 ? -1 : fmax(received, sent) / rate;
    char label[48];
    nuioa_text_table_add(&r->table, "%s", nuioa_nic_label(nic, label, sizeof(label)));
    json_t *cells[] = { add_number(r, received, false), add_number(r, sent, false),
                        add_number(r, both < 0 || r->total == 0 ? -1 : both / r->total, true),
                        add_number(r, busy, true) };
    nuioa_text_table_add(&r->table, "%s", why ? why : "");
    json_array_append_new(r->nics,
                          json_pack("{s:o, s:o?, s:o?, s:o?, s:o?, s:s?}", "name",
                                    tool_json_text(label), "received", cells[0], "sent", cells[1],
                                    "share", cells[2], "busy", cells[3], "unknown", why));
    add_saving(r, nic, busy, c->received_packets);
}

/* Sets what a NIC carried. Returns its bytes both ways, 0 if they are not known; or < 0 if it is no
 * hardware, or down and idle. */
static double carried(const struct report *r, uint32_t i, struct nuioa_nic_counters *c)
{
    const struct nuioa_nic *nic = &r->node->nics[i];
    nuioa_nic_counters_between(&r->before[i], &r->after[i], c);
    double both = nuioa_nic_counters_known(c) ? (double)c->received + (double)c->sent : 0;
    bool is_down = nic->state == NUIOA_NIC_DOWN && both == 0;
    return is_down || (nic->is_virtual && !nic->usable) ? -1 : both;
}

/* All is one write, so that the tables of several nodes do not mix. */
static void print(struct report *r, bool json)
{
    struct nuioa_nic_counters c;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return;
    r->nics = json_array();
    nuioa_text_table_init(&r->table, "lrrrrl");
    nuioa_text_table_add_words(&r->table, "NIC|received|sent|share|busy|unknown");
    for (uint32_t i = 0; i < r->node->nic_count; i++)
        r->total += fmax(carried(r, i, &c), 0);
    for (uint32_t i = 0; i < r->node->nic_count; i++)
        if (carried(r, i, &c) >= 0)
            add_nic(r, i, &c);
    if (!json_array_size(r->nics))
        r->why_not = "the traffic";
    double saving = r->busiest + r->latency_s / r->seconds;
    json_t *all = json_pack("{s:i, s:o, s:f, s:o, s:o?}", "nuioa", 1, "host",
                            tool_json_text(r->node->host), "seconds", r->seconds, "nics", r->nics,
                            "saving", r->why_not ? NULL : json_real(saving));
    if (!json && !json_array_size(r->nics))
        fprintf(out, "nuioa: %s: no NIC traffic: this node has no NIC that is hardware",
                r->node->host);
    else if (json)
        json_dumpf(all, out, JSON_ENSURE_ASCII | JSON_REAL_PRECISION(15));
    else {
        fprintf(out,
                "nuioa: %s: NIC traffic of all programs in the %.1f s until local rank 0 ended\n",
                r->node->host, r->seconds);
        nuioa_text_table_print(&r->table, out, 2);
        if (r->why_not)
            fprintf(out, "  what nearer ranks can save is unknown, as is %s of %s", r->why_not,
                    r->whose);
        else
            fprintf(out, "  nearer ranks can save at most %.1f %%%s", ceil(saving * 1000) / 10,
                    saving < 0.02 ? "" : " if distance costs as usual (nuioa compare measures it)");
    }
    fputc('\n', out);
    free(r->table.cells);
    json_decref(all);
    if (!fclose(out))
        nuioa_subprocess_write(STDERR_FILENO, text, size);
    free(text);
}

struct run {
    pid_t pid;             /* of COMMAND */
    sigset_t heeded, mask; /* signals to hand on, and SIGCHLD and SIGPIPE; as it was found */
    void (*chld)(int);     /* as it was found */
    /* Gets the signals to the group, which COMMAND has then, not those to this process alone. */
    struct nuioa_subprocess witness;
    uint64_t witnessed; /* a bit for each signal */
};

static void witness(int fd, void *arg)
{
    const struct run *r = arg;
    alarm(0); /* it lives as long as its parent */
    sigprocmask(SIG_BLOCK, &r->heeded, NULL);
    for (uint8_t number = 0;; number = (uint8_t)sigwaitinfo(&r->heeded, NULL))
        if (number <= 64) /* 0: it is ready; not -1, after SIGSTOP */
            nuioa_subprocess_write(fd, &number, 1);
}

/* Reads what the witness says until it has seen this signal, or it is clear that it will not. */
static bool is_witnessed(struct run *r, int number, int wait_ms)
{
    struct pollfd wait = { .fd = r->witness.fd, .events = POLLIN };
    const uint64_t bit = UINT64_C(1) << (number & 63);
    uint8_t seen;
    while (!(r->witnessed & bit) && poll(&wait, 1, wait_ms) > 0 && read(wait.fd, &seen, 1) == 1)
        r->witnessed |= UINT64_C(1) << (seen & 63);
    bool is = r->witnessed & bit;
    r->witnessed &= ~bit;
    return is;
}

/* Starts COMMAND, which dies with this process; without memory this process becomes it. */
static void start(struct run *r, char **command)
{
    /* Faults of its own, and what stops it as a job of a shell. */
    static const int numbers[] = { SIGSEGV, SIGBUS, SIGFPE,  SIGILL,  SIGTRAP,
                                   SIGABRT, SIGSYS, SIGTSTP, SIGTTIN, SIGTTOU };
    pid_t own = getpid();
    sigfillset(&r->heeded); /* one that ended this process would kill COMMAND */
    for (unsigned i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        sigdelset(&r->heeded, numbers[i]);
    if (!nuioa_subprocess_start(&r->witness, witness, r, -1, UINT32_MAX))
        is_witnessed(r, 0, READ_MS);
    r->chld = signal(SIGCHLD, SIG_DFL); /* a launcher may ignore it */
    sigprocmask(SIG_BLOCK, &r->heeded, &r->mask);
    r->pid = fork();
    if (r->pid > 0)
        return;
    if (!r->pid && (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != own))
        _exit(1);
    if (r->pid < 0)
        nuioa_subprocess_end(&r->witness); /* COMMAND may wait for all its children */
    signal(SIGCHLD, r->chld);
    sigprocmask(SIG_SETMASK, &r->mask, NULL);
    _exit(exec_become(command));
}

/* Waits for the end of COMMAND. Returns its status, as waitpid(2) writes it. */
static int await(struct run *r)
{
    int status;
    while (waitpid(r->pid, &status, WNOHANG) != r->pid) {
        int number = sigwaitinfo(&r->heeded, NULL);
        if (number > 0 && number != SIGCHLD && number != SIGPIPE &&
            !is_witnessed(r, number, WITNESS_MS))
            kill(r->pid, number);
    }
    nuioa_subprocess_end(&r->witness);
    return status;
}

/* Ends as COMMAND has, without a core of its own. */
static int end_as(int status)
{
    sigset_t others;
    if (!WIFSIGNALED(status))
        return WEXITSTATUS(status);
    prctl(PR_SET_DUMPABLE, 0);
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status));
    sigfillset(&others);
    sigdelset(&others, WTERMSIG(status));
    sigsuspend(&others);
    return 128 + WTERMSIG(status);
}

static int run(struct nuioa_node *node, char **command, bool json)
{
    struct report report = { .node = node, .before = nuioa_nic_counters_read_all(node, READ_MS) };
    struct run r = { .witness = NUIOA_SUBPROCESS_NONE };
    int64_t begin_us = nuioa_clock_us();
    start(&r, command);
    int status = await(&r);
    report.after = nuioa_nic_counters_read_all(node, READ_MS);
    report.seconds = fmax((double)(nuioa_clock_us() - begin_us), 1) / 1e6;
    bool is_absent = WIFEXITED(status) && (WEXITSTATUS(status) | 1) == 127; /* or not executable */
    if (report.before && report.after && !is_absent)
        print(&report, json);
    else if (!is_absent)
        tool_fail("traffic: no table: the counters of the NICs could not be read in time");
    free(report.before);
    free(report.after);
    nuioa_node_free(node);
    return end_as(status);
}

/* Returns 1 if the calling process is the local rank 0, or if no launcher says that there are
 * others; 0 if it is another one, or if another one says what is wrong; or -ENOENT with *err if
 * launchers do not say which one it is. */
static int is_first(struct nuioa_error *err)
{
    const struct launcher_request none = LAUNCHER_NOTHING_REQUESTED;
    struct launcher_request any = none;
    struct launcher_place place;
    int rc = launcher_find(&none, environ, &place, err);
    int first = !place.launcher || (!rc && place.local == 0);
    bool speaks = rc && place.speaks;
    launcher_place_free(&place);
    if (!rc || first)
        return first;
    /* How many there are does not matter to the local rank 0. */
    any.local_size = LAUNCHER_TASKS_MAX;
    rc = launcher_find(&any, environ, &place, err);
    first = !rc && place.local == 0;
    launcher_place_free(&place);
    if (!first && speaks)
        return nuioa_fail(err, -ENOENT, "the launcher does not show which process is local rank 0");
    return first;
}

int tool_traffic(int argc, char **argv)
{
    bool json = false;
    struct tool_option options[] = { { "json", .flag = &json },
                                     { "help", .usage = usage },
                                     { .name = NULL } };
    struct nuioa_node node = { .nic_count = 0 };
    struct nuioa_error err;
    char **command;
    int rc = tool_args_read_program(argc, argv, options, &command);
    if (rc)
        return rc;
    if (!*command || !**command)
        return tool_usage("traffic", "a command is missing: nuioa traffic [--] COMMAND");
    rc = is_first(&err);
    if (rc > 0 && !(rc = nuioa_cache_get(NULL, NULL, DISCOVERY_MS, &node, &err)))
        return run(&node, command, json);
    if (rc < 0)
        tool_fail("traffic: no table: %s", err.text);
    return exec_become(command);
}
