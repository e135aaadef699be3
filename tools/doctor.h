/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_DOCTOR_H
#define NUIOA_DOCTOR_H

#include <stdio.h>

#include "plan/option.h"
#include "tools/doctor_conf.h"
#include "topology/node.h"

/* `nuioa doctor`: what on this machine keeps ranks from their network. A table of checks, each
 * of which looks at one thing and reports findings; a table of what can be found, with why it
 * matters and what to do. Nothing is changed, nobody is waited for: what may hang is asked in a
 * child with a deadline, and Slurm's daemons are not asked at all. */

enum doctor_severity {
    DOCTOR_UNKNOWN, /* cannot be told from here; does not count in the exit status */
    DOCTOR_ADVICE,  /* works, and could be better */
    DOCTOR_PROBLEM, /* something does not work, or costs much */
};

/* Where nuioa doctor runs decides what is asked. */
enum doctor_role {
    DOCTOR_COMPUTE = 1 << 0, /* slurmd runs here */
    DOCTOR_LOGIN = 1 << 1,   /* slurm.conf, but no slurmd */
    DOCTOR_OTHER = 1 << 2,   /* no Slurm to be seen */
    DOCTOR_ANY = DOCTOR_COMPUTE | DOCTOR_LOGIN | DOCTOR_OTHER,
    DOCTOR_HARDWARE = DOCTOR_COMPUTE | DOCTOR_OTHER,
    DOCTOR_SLURM = DOCTOR_COMPUTE | DOCTOR_LOGIN,
};

/* A kind of finding: doctor_kinds.c has all of them, in the order of the manual. */
struct doctor_kind {
    const char *id;
    enum doctor_severity severity;
    const char *why;
    const char *remedy;
};

struct doctor_finding {
    const struct doctor_kind *kind;
    char subject[64]; /* a NIC, an argument, a variable; "" where there is only one */
    char what[384];
};

#define DOCTOR_FINDINGS_MAX 128

struct doctor {
    const char *root; /* "": this machine; else the directory that stands for another's / */
    int top;          /* descriptor of it */
    char host[64];
    enum doctor_role role;
    struct doctor_conf slurm;         /* slurm.conf */
    struct doctor_stack stack;        /* plugstack.conf */
    struct nuioa_options options;     /* of the plugin's line there */
    struct nuioa_warnings complaints; /* about that line */
    bool node_known;
    struct nuioa_node node;
    struct nuioa_error node_error;
    char pmix[96];      /* the PMIx that Slurm loads, "" if none or not asked */
    const char *ignore; /* comma list of ID and ID:SUBJECT */
    unsigned check_count, count, ignored, lost;
    struct doctor_finding findings[DOCTOR_FINDINGS_MAX];
};

/* Adds a finding of a kind, unless it is to be ignored. `subject` may be "". */
void doctor_report(struct doctor *d, const char *id, const char *subject, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Whether what only the running machine knows can be asked. */
bool doctor_is_live(const struct doctor *d);

/* NULL if there is none of that name. */
const struct doctor_kind *doctor_kind_find(const char *id);
extern const struct doctor_kind doctor_kinds[]; /* ends with id == NULL */

/* "problem", "advice", "unknown"; "compute", "login", "other" */
const char *doctor_severity_name(enum doctor_severity severity);
const char *doctor_role_name(enum doctor_role role);

/* What was found, worst first: for a person, for a program, in one line. Return the exit status, by
 * `status` unless they fail. */
int doctor_print_text(const struct doctor *d, int status);
int doctor_print_json(const struct doctor *d, int status);
int doctor_print_line(const struct doctor *d, int status);

/* --- the checks, by file ---------------------------------------------------------------------- */

/* doctor_slurm.c: the plugin's line, and settings that work against it */
void doctor_check_plugin(struct doctor *d);
void doctor_check_arguments(struct doctor *d);
void doctor_check_task_plugin(struct doctor *d);
void doctor_check_constraint(struct doctor *d);
void doctor_check_cpu_bind(struct doctor *d);
void doctor_check_distribution(struct doctor *d);
void doctor_check_backlog(struct doctor *d);

/* doctor_munge.c, doctor_pmix.c: what Slurm and the plugin need of others */
void doctor_check_munge(struct doctor *d);
void doctor_check_pmix(struct doctor *d);

/* doctor_service.c: what the plugin needs */
void doctor_check_loading(struct doctor *d);
void doctor_check_cache(struct doctor *d);
void doctor_check_distances(struct doctor *d);

/* doctor_nic.c: where NICs are, and what they are connected with */
void doctor_check_locality(struct doctor *d);
void doctor_check_ports(struct doctor *d);
void doctor_check_rates(struct doctor *d);
void doctor_check_pcie(struct doctor *d);
void doctor_check_irqs(struct doctor *d);

/* doctor_ethernet.c: where the fabric is Ethernet */
void doctor_check_modes(struct doctor *d);
void doctor_check_coalescing(struct doctor *d);
void doctor_check_tcp(struct doctor *d);

/* doctor_system.c: processors, kernel, firmware */
void doctor_check_discovery(struct doctor *d);
void doctor_check_governor(struct doctor *d);
void doctor_check_balancing(struct doctor *d);
void doctor_check_firmware(struct doctor *d);
void doctor_check_slit(struct doctor *d);

/* doctor_mpi.c: what MPI libraries are told */
void doctor_check_mpi(struct doctor *d);

/* --- what they share -------------------------------------------------------------------------- */

/* doctor_ask.c: runs `work` in a child, which may hang or crash. Returns the letter of its answer
 * and its `text`, or 0 and "": there was none in time. That is long, for on a node whose CPUs are
 * all busy a late answer is no fault. */
#define DOCTOR_ASK_MS 5000
char doctor_ask(void (*work)(int fd, void *arg), void *arg, char *text, size_t size);

/* For the child: the answer; and that nothing it loads or makes is root's. */
void doctor_answer(int fd, char letter, const char *text);
void doctor_become_nobody(void);

/* NICs that carry messages of jobs: the ones that nic=auto takes, and where it takes none
 * because all are slow, the fastest that are up. */
bool doctor_in_fabric(const struct doctor *d, const struct nuioa_nic *nic);

/* Not virtual, and of a kind that MPI uses. */
bool doctor_is_port(const struct nuioa_nic *nic);

/* Kinds for which MPI libraries have something better than TCP. */
bool doctor_is_fast(enum nuioa_nic_kind kind);

/* "mlx5_0", "mlx5_1:2", "eth0": as people call it. Returns text. */
const char *doctor_nic_name(const struct nuioa_nic *nic, char *text, size_t size);

#endif
