/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_DOCTOR_H
#define NUIOA_DOCTOR_H

#include "option/option.h"
#include "tools/doctor/conf.h"
#include "tools/doctor/kinds.h"
#include "topology/node.h"

/* The command `nuioa doctor`: what on this machine keeps ranks from their NIC. The checks are a
 * table in doctor.c; each looks at one thing and reports findings, whose kinds are a table in
 * kinds.c. Nothing is changed. Questions that could hang are asked in a child process with a
 * deadline. Slurm's daemons are not asked.
 *
 * This holds for all checks, void doctor_check_X(struct doctor *d): a check reads *d and files
 * below d->top, and adds what it finds to *d with doctor_report. It returns nothing and cannot
 * fail: what it cannot read, or has no memory for, it does not report. It frees what it
 * allocates. */

/* The kind of machine decides which checks run. */
enum doctor_role {
    DOCTOR_COMPUTE = 1 << 0, /* slurmd runs here */
    DOCTOR_LOGIN = 1 << 1,   /* slurm.conf, but no slurmd */
    DOCTOR_OTHER = 1 << 2,   /* no Slurm was found */
    DOCTOR_ANY = DOCTOR_COMPUTE | DOCTOR_LOGIN | DOCTOR_OTHER,
    DOCTOR_HARDWARE = DOCTOR_COMPUTE | DOCTOR_OTHER,
    DOCTOR_SLURM = DOCTOR_COMPUTE | DOCTOR_LOGIN,
};

#define DOCTOR_FINDINGS_MAX 128

/* All that the checks look at, and what they have found. tool_doctor owns it. */
struct doctor {
    const char *root; /* "": this machine; else a directory of files of another */
    bool live;        /* it is this machine */
    int top;          /* descriptor of that directory */
    char host[64];    /* its name, without domain; "" if unknown */
    enum doctor_role role;
    struct doctor_conf slurm;         /* Slurm's files */
    struct nuioa_options options;     /* from the plugin's line in plugstack.conf */
    bool exports;                     /* it leaves --nuioa its export=auto */
    const char *where;                /* of that line: "FILE:NUMBER"; NULL if there is none */
    struct nuioa_warnings complaints; /* warnings about it */
    struct nuioa_warnings retired;    /* what of it has gone */
    bool node_known;                  /* `node` is valid; else node_error says why it is not */
    struct nuioa_node node;
    struct nuioa_error node_error;
    struct nuioa_arena arena; /* owns what checks have found out of it */
    char pmix[96];            /* version of the PMIx that Slurm loads; "" if none or not checked */
    const char *ignore;       /* list of ID and ID:SUBJECT, with commas */
    bool this_node;           /* findings of the scope DOCTOR_NODE only */
    unsigned check_count;     /* checks that ran */
    unsigned count;           /* findings in the array */
    unsigned ignored;         /* findings that the user ignores */
    struct doctor_finding findings[DOCTOR_FINDINGS_MAX];
};

/* Prints the findings to stdout. `status` is the exit status (tool.h) that they make; all of these
 * functions return it, or another one if they fail. */

/* Prints for people: the node, the worst finding first, with why each matters and what to do, and
 * at the end what to do first. */
int doctor_print_text(const struct doctor *d, int status);

/* Prints JSON (doc/formats.md), in the order of the checks. Returns TOOL_USAGE after a message on
 * stderr if memory is short. */
int doctor_print_json(const struct doctor *d, int status);

/* Prints one line for monitoring: the numbers, and the problems and advice by their ids, the worst
 * first. */
int doctor_print_line(const struct doctor *d, int status);

#endif
