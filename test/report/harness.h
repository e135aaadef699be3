/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HARNESS_H
#define HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "spank/report/wire.h"

/* srun and its collector as processes of an ordinary user, without Slurm; what a node sends; TAP.
 * munged is real. A failure of the harness itself ends the process. */

#define USER_UID 65534
#define OTHER_UID 1
#define JOB 77
#define STEP 3

/* A limit for what hangs; nothing right takes so long. */
#define HANG_MS 20000

/* --- srun --- */

struct srun_result {
    int rc;                        /* of collector_end() */
    unsigned fds_before, fds_with; /* of srun, without and with the collector */
    unsigned fds_after, children_after;
    long rss_kb, cpu_ms; /* of the collector; 0 if it was killed and left */
};

struct srun {
    bool explain; /* settings */
    pid_t pid, collector;
    int collector_pidfd; /* readable when the collector has ended */
    uint16_t port;
    int command, output; /* a pipe to srun; the file to which the collector prints */
    char *text;          /* what it has printed: a line said begins with "say: " */
    struct srun_result result;
};

/* Starts srun for a step of so many nodes; 0: it does not know their number, nor the job. */
void srun_begin(struct srun *s, const char *socket, uint32_t node_count);

/* Waits until the collector prints, or has died. */
bool srun_wait(const struct srun *s);

/* Ends the step, and sets `text` (srun_free() frees it) and `result`. */
void srun_end(struct srun *s);
void srun_free(struct srun *s);

/* Returns true if srun has no descriptor and no child more than before, and the collector was
 * small. */
bool srun_is_clean(const struct srun *s);

/* --- what a node sends --- */

struct content {
    struct wire_record head;
    struct wire_nic nic;
    struct wire_row rows[2];
    char warning[256];
    char text[16];
};

/* The right content of a node's credential. */
struct content content_of(uint32_t node, uint32_t node_count);

/* Seals it as the user (caller frees). */
char *seal_right(const char *socket, const void *bytes, size_t length);

/* --- connections --- */

/* Returns a connection to a port of this machine, or -errno. */
int peer_connect(uint16_t port);
void peer_put(int fd, const void *bytes, size_t length);

/* Closes the connection, and returns the byte that came; 0: the other side has closed it; -1:
 * nothing came. */
int peer_end(int fd);

/* Sends a credential. Returns true if it was taken. */
bool tell(const struct srun *s, const char *credential);

/* --- a step of two nodes --- */

/* The report when nobody disturbs; run_parts() sets it. */
extern char *right_text;

/* A credential of node 0 or 1 (caller frees). */
char *right(const char *socket, uint32_t node);
bool tell_right(const char *socket, const struct srun *s, uint32_t node);

/* After whatever has happened, the two nodes come, and srun ends. Returns true if the report is as
 * it must be. */
bool ends_well(const char *socket, struct srun *s);

/* --- tests --- */

struct part {
    const char *name; /* NULL: the end of the list */
    void (*run)(void);
};

/* Runs the parts, or the one with this name, and looks for what is left behind. `socket` is NULL if
 * they need no right_text. Returns the exit status. */
int run_parts(const char *socket, const struct part *parts, const char *name);

void ok(bool good, const char *format, ...) __attribute__((format(printf, 2, 3)));

unsigned count_fds(pid_t pid);
unsigned count_children(void);
int64_t clock_ms(void);

/* Reads all of a file or pipe, for HANG_MS at most (caller frees). */
char *read_all(int fd);

#endif
