/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/compare/run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/number.h"

/* How long srun may take to end its step after SIGTERM, before it is killed. */
enum { END_S = 20 };

static sigset_t awaited; /* the signals that interrupt, and SIGCHLD */
static bool interrupted;

static void do_nothing(int signal)
{
    (void)signal;
}

void run_begin(void)
{
    /* SIGCHLD must have a handler: a signal that is ignored does not wait. */
    struct sigaction action = { .sa_handler = do_nothing };
    sigaction(SIGCHLD, &action, NULL);
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGINT);
    sigaddset(&awaited, SIGTERM);
    sigaddset(&awaited, SIGHUP);
    sigaddset(&awaited, SIGCHLD);
    sigprocmask(SIG_BLOCK, &awaited, NULL);
}

/* --- the files -------------------------------------------------------------------------------- */

static int path_of(const struct run_plan *plan, const char *name, const char *end, char *path)
{
    int length = snprintf(path, PATH_MAX, "%s/%s.%s", plan->directory, name, end);
    return length > 0 && length < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static FILE *open_kept(const struct run_plan *plan, const char *name, const char *end)
{
    char path[PATH_MAX];
    return path_of(plan, name, end, path) ? NULL : fopen(path, "re");
}

static bool begins(const char *text, const char *word)
{
    return !strncmp(text, word, strlen(word));
}

/* Copies the last line that the program has printed to its standard error. nuioa's tables, lines
 * with two blanks below a line of nuioa's, are passed over; other lines of nuioa's and of srun's
 * count if there are none of the program's. */
static void last_line(const struct run_plan *plan, const char *name, char *line, unsigned size)
{
    char text[512], head[512] = "", own[512] = "";
    bool table = false;
    FILE *file = open_kept(plan, name, "err");
    *line = '\0';
    while (file && fgets(text, sizeof(text), file)) {
        text[strcspn(text, "\n")] = '\0';
        table = (table || *head) && begins(text, "  ");
        if (*head && !table)
            nuioa_copy(own, sizeof(own), head);
        *head = '\0';
        if (begins(text, "nuioa: "))
            nuioa_copy(head, sizeof(head), text);
        else if (begins(text, "srun: "))
            nuioa_copy(own, sizeof(own), text);
        else if (*text && !table)
            nuioa_copy(line, size, text);
    }
    if (file)
        fclose(file);
    if (!*line)
        nuioa_copy(line, size, *head ? head : own);
}

bool run_said(const struct run_plan *plan, const char *name, const char *begin, char *line,
              unsigned size)
{
    char text[512];
    bool found = false;
    FILE *file = open_kept(plan, name, "err");
    while (file && !found && fgets(text, sizeof(text), file))
        found = !strncmp(text, begin, strlen(begin));
    if (file)
        fclose(file);
    if (found) {
        text[strcspn(text, "\n")] = '\0';
        nuioa_copy(line, size, text);
    }
    return found;
}

/* Finds the time in one line: what the first parentheses of the expression match, or else the
 * whole of it. */
static bool find_time(const regex_t *expression, const char *line, double *seconds)
{
    regmatch_t match[2];
    char number[64];
    if (regexec(expression, line, 2, match, 0))
        return false;
    const regmatch_t *m = &match[match[1].rm_so >= 0];
    snprintf(number, sizeof(number), "%.*s", (int)(m->rm_eo - m->rm_so), line + m->rm_so);
    return !nuioa_parse_decimal(number, seconds) && *seconds > 0;
}

/* The last match counts: programs print a total at their end. */
static bool read_time(const struct run_plan *plan, const char *name, double *seconds)
{
    static const char *const ends[] = { "out", "err" };
    bool found = false;
    char *line = NULL;
    size_t size = 0;
    for (unsigned i = 0; i < 2 && !found; i++) {
        FILE *file = open_kept(plan, name, ends[i]);
        while (file && getline(&line, &size, file) >= 0) {
            line[strcspn(line, "\n")] = '\0';
            found = find_time(plan->time, line, seconds) || found;
        }
        if (file)
            fclose(file);
    }
    free(line);
    return found;
}

/* --- the program ------------------------------------------------------------------------------ */

static int open_output(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

/* What the child does: its own process group, so that a signal reaches all that it starts. */
static void become(char *const *argv, const struct run_side *side, const char *out, const char *err)
{
    sigset_t none;
    sigemptyset(&none);
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpgid(0, 0);
    int in_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int out_fd = open_output(out), err_fd = open_output(err);
    if (in_fd < 0 || out_fd < 0 || err_fd < 0 || dup2(in_fd, 0) < 0 || dup2(out_fd, 1) < 0 ||
        dup2(err_fd, 2) < 0)
        _exit(126);
    for (unsigned i = 0; side && i < side->variable_count; i++)
        putenv((char *)side->variables[i]);
    execvp(argv[0], argv);
    fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

/* Waits until the child ends, for at most `seconds` (0: as long as it takes), or a signal comes.
 * Returns whether it has ended, with its status. */
static bool await(pid_t child, unsigned seconds, int *status)
{
    int64_t end = nuioa_clock_ms() + 1000 * (int64_t)seconds;
    struct timespec slice = { 1, 0 };
    for (;;) {
        if (waitpid(child, status, WNOHANG) == child)
            return true;
        if (seconds && nuioa_clock_ms() >= end)
            return false;
        int signal = sigtimedwait(&awaited, NULL, &slice);
        interrupted = interrupted || (signal > 0 && signal != SIGCHLD);
        if (interrupted && !seconds)
            return false;
    }
}

/* Ends the child and all of its process group: srun ends its step at SIGTERM. */
static void end_all(pid_t child)
{
    int status;
    kill(-child, SIGTERM);
    if (!await(child, END_S, &status)) {
        kill(-child, SIGKILL);
        await(child, END_S, &status);
    }
}

/* Runs one command. Returns 0 with its wait status; -EINTR; or the negative errno of fork. */
static int run_command(char *const *argv, const struct run_side *side, const char *out,
                       const char *err, int *status)
{
    pid_t child = fork();
    if (child < 0)
        return -errno;
    if (!child)
        become(argv, side, out, err);
    setpgid(child, child); /* here as well, so that end_all finds the group at once */
    if (await(child, 0, status))
        return 0;
    end_all(child);
    return -EINTR;
}

/* Says why a command has not ended as it should. */
static int fail_status(const struct run_plan *plan, const char *name, const char *what, int status,
                       struct nuioa_error *err)
{
    char said[120], how[40];
    last_line(plan, name, said, sizeof(said));
    if (WIFSIGNALED(status))
        snprintf(how, sizeof(how), "was ended by signal %d", WTERMSIG(status));
    else
        snprintf(how, sizeof(how), "ended with status %d", WEXITSTATUS(status));
    return nuioa_fail(err, -ECHILD, "%.40s %s, so nothing is compared%s%s", what, how,
                      *said ? "; it said: " : "", said);
}

static int run_before(const struct run_plan *plan, const char *name, struct nuioa_error *err)
{
    char label[64], out[PATH_MAX], error[PATH_MAX];
    static char shell[] = "sh", option[] = "-c";
    char *argv[] = { shell, option, (char *)plan->before, NULL };
    int status;
    if (!plan->before)
        return 0;
    snprintf(label, sizeof(label), "%.40s.before", name);
    int rc = path_of(plan, label, "out", out);
    if (!rc)
        rc = path_of(plan, label, "err", error);
    if (!rc)
        rc = run_command(argv, NULL, out, error, &status);
    if (rc)
        return rc == -EINTR ? rc : nuioa_fail(err, rc, "--before: %s", strerror(-rc));
    return status ? fail_status(plan, label, "the command of --before", status, err) : 0;
}

int run_once(const struct run_plan *plan, const struct run_side *side, const char *name,
             double *seconds, struct nuioa_error *err)
{
    char out[PATH_MAX], error[PATH_MAX];
    int status, rc = run_before(plan, name, err);
    if (rc)
        return rc;
    rc = path_of(plan, name, "out", out);
    if (!rc)
        rc = path_of(plan, name, "err", error);
    int64_t begin = nuioa_clock_ns();
    if (!rc)
        rc = run_command(plan->program, side, out, error, &status);
    double passed = (double)(nuioa_clock_ns() - begin) / 1e9;
    if (rc)
        return rc == -EINTR ? rc : nuioa_fail(err, rc, "%s: %s", plan->program[0], strerror(-rc));
    if (status)
        return fail_status(plan, name, plan->program[0], status, err);
    *seconds = passed;
    if (plan->time && !read_time(plan, name, seconds))
        return nuioa_fail(err, -ENODATA, "%.150s: no line has a time above 0 that --time matches",
                          out);
    return 0;
}
