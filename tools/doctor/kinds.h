/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_DOCTOR_KINDS_H
#define NUIOA_DOCTOR_KINDS_H

#include <stdbool.h>

/* How bad a finding is, in ascending order. */
enum doctor_severity {
    DOCTOR_UNKNOWN, /* cannot be told from here; does not count in the exit status */
    DOCTOR_ADVICE,  /* works, and could be better */
    DOCTOR_PROBLEM, /* something does not work, or costs much */
};

/* Whose fault it is. A node is not to be drained for what other nodes may share with it, because
 * they would be drained too. */
enum doctor_scope {
    DOCTOR_SHARED, /* what files of Slurm and the site say; what is installed */
    DOCTOR_NODE,   /* this node's hardware, its munged, its cache */
};

/* A kind of finding. All texts are constants. */
struct doctor_kind {
    const char *id; /* such as "port-down": stable, for --ignore */
    enum doctor_severity severity;
    enum doctor_scope scope;
    const char *why;    /* why it matters */
    const char *remedy; /* what to do: its first sentence stands alone */
};

/* One finding: the kind, which is a constant, and what was found. */
struct doctor_finding {
    const struct doctor_kind *kind;
    char subject[64]; /* a NIC, an argument, a variable; "" where there is only one */
    char what[384];   /* one sentence or more for the user */
};

/* Returns the kind with that id, or NULL if there is none. */
const struct doctor_kind *doctor_kind_find(const char *id);

/* Returns true if former versions of nuioa had a kind with that id and this one has not. */
bool doctor_kind_is_retired(const char *id);

struct doctor;

/* Adds a finding of the kind `id` to *d. One that the user ignores is counted in d->ignored
 * instead; with d->this_node, one of a shared kind is left out. `subject` is the NIC, argument or
 * variable that it is about, or ""; the text says what was found and is formatted as by printf.
 * Both are copied, cut if they are too long, and made printable. More than DOCTOR_FINDINGS_MAX are
 * left out. */
void doctor_report(struct doctor *d, const char *id, const char *subject, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

#endif
