/* SPDX-License-Identifier: BSD-3-Clause */

/* Reports to the job's stderr, whose reader is the user's srun. */

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <slurm/spank.h>

#include "spank/common/log.h"
#include "unit.h"

/* A process that has not gone on by then never does. */
#define HANG_S 20

static char said[600];

/* In place of Slurm's. */
void slurm_spank_log(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(said, sizeof(said), format, args);
    va_end(args);
}

void slurm_info(const char *format, ...)
{
    (void)format;
}

static char text[4 * PIPE_BUF + 100];

/* Starts a process that writes the text to a pipe of this size, whose other end is *from. */
static pid_t start(int size, int *from)
{
    int ends[2];
    memset(text, 'x', sizeof(text) - 1);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_true(fcntl(ends[1], F_SETPIPE_SZ, size) >= size);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        signal(SIGPIPE, SIG_IGN); /* as slurmstepd does */
        signal(SIGALRM, SIG_DFL);
        alarm(HANG_S);
        log_text(text);
        _exit(fcntl(STDERR_FILENO, F_GETFL) & O_NONBLOCK ? 1 : 0);
    }
    close(ends[1]);
    *from = ends[0];
    return pid;
}

static void assert_ends(pid_t pid)
{
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* There is room for all of it: how fast it is read does not matter. */
TEST(test_read)
{
    char got[sizeof(text)];
    size_t length = 0;
    int from;
    pid_t pid = start(2 * (int)sizeof(text), &from);
    for (ssize_t now = 1; now > 0; length += now > 0 ? (size_t)now : 0)
        now = read(from, got + length, sizeof(got) - length);
    assert_ends(pid);
    assert_int_equal(length, strlen(text));
    assert_memory_equal(got, text, length);
    close(from);
}

/* A user may stop his srun. A step must not hang because of that. */
TEST(test_reader_has_stopped)
{
    int from;
    pid_t pid = start(PIPE_BUF, &from);
    assert_ends(pid);
    close(from);
}

TEST(test_reader_has_gone)
{
    int from;
    pid_t pid = start(PIPE_BUF, &from);
    close(from);
    assert_ends(pid);
}

TEST(test_line_is_printable)
{
    log_line("node %s", "n\302\2331\n\342\200\256gr\303\266\303\237e");
    assert_string_equal(said, "nuioa: node n?1??gr\303\266\303\237e");
}
