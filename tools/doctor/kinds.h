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
    const char *remedy; /* what to do */
};

/* All kinds, in the order of the table in nuioa(1). The last one has id == NULL. */
extern const struct doctor_kind doctor_kinds[];

/* Returns the kind with that id, an entry of doctor_kinds, or NULL if there is none. */
const struct doctor_kind *doctor_kind_find(const char *id);

/* Returns true if former versions of nuioa had a kind with that id and this one has not. */
bool doctor_kind_is_retired(const char *id);

#endif
