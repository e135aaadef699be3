/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_DOCTOR_H
#define NUIOA_DOCTOR_H

#include "option/option.h"
#include "tools/doctor/conf.h"
#include "tools/doctor/kinds.h"
#include "topology/node.h"

/* The command `nuioa doctor`: what on this machine keeps ranks from their NIC. The
 * checks are a table in doctor.c; each looks at one thing and reports findings. The kinds of
 * finding are a table in kinds.c, with why each matters and what to do. Nothing is changed.
 * Questions that could hang are asked in a child process with a deadline. Slurm's daemons are not
 * asked. */

/* This holds for all checks, void doctor_check_X(struct doctor *d): a check reads *d and files
 * below d->top, and adds what it finds to *d with doctor_report (finding.h). It returns
 * nothing and cannot fail: what it cannot read, or has no memory for, it does not report. It frees
 * what it allocates. */

/* The kind of machine decides which checks run. */
enum doctor_role {
    DOCTOR_COMPUTE = 1 << 0, /* slurmd runs here */
    DOCTOR_LOGIN = 1 << 1,   /* slurm.conf, but no slurmd */
    DOCTOR_OTHER = 1 << 2,   /* no Slurm was found */
    DOCTOR_ANY = DOCTOR_COMPUTE | DOCTOR_LOGIN | DOCTOR_OTHER,
    DOCTOR_HARDWARE = DOCTOR_COMPUTE | DOCTOR_OTHER,
    DOCTOR_SLURM = DOCTOR_COMPUTE | DOCTOR_LOGIN,
};

/* One finding: the kind, which is a constant, and what was found. */
struct doctor_finding {
    const struct doctor_kind *kind;
    char subject[64]; /* a NIC, an argument, a variable; "" where there is only one */
    char what[384];   /* one sentence or more for the user */
};

#define DOCTOR_FINDINGS_MAX 128

/* All that the checks look at, and what they have found. tool_doctor owns it. */
struct doctor {
    const char *root; /* "": this machine; else a directory of files of another */
    int top;          /* descriptor of that directory */
    char host[64];    /* its name, without domain */
    enum doctor_role role;
    struct doctor_conf slurm;         /* slurm.conf */
    struct doctor_stack stack;        /* plugstack.conf */
    struct nuioa_options options;     /* from the plugin's line there */
    const char *where;                /* of that line: "FILE:NUMBER"; NULL if there is none */
    struct nuioa_warnings complaints; /* warnings about it */
    struct nuioa_warnings retired;    /* what of it has gone */
    bool node_known;                  /* `node` is valid; else node_error says why it is not */
    struct nuioa_node node;
    struct nuioa_error node_error;
    char pmix[96];          /* version of the PMIx that Slurm loads; "" if none or not checked */
    const char *ignore;     /* list of ID and ID:SUBJECT, with commas */
    bool this_node;         /* findings of the scope DOCTOR_NODE only */
    unsigned check_count;   /* checks that ran */
    unsigned count;         /* findings in the array */
    unsigned ignored, lost; /* findings that the user ignores; that had no room */
    struct doctor_finding findings[DOCTOR_FINDINGS_MAX];
};

/* Runs the command `nuioa doctor`. argv[0] is "doctor". Returns the exit status of nuioa
 * (tool.h). */
int tool_doctor(int argc, char **argv);

#endif
