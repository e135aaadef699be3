/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PLAN_OPTION_H
#define NUIOA_PLAN_OPTION_H

#include <stdbool.h>
#include <stddef.h>

#include "profile/hints.h"
#include "topology/policy.h"
#include "util/error.h"

/* One table of options behind four option sources: srun --nuioa-policy=X, the environment
 * SLURM_NUIOA_POLICY=X, the plugstack.conf argument policy=X, and nuioa plan --policy X. */

enum nuioa_mode { NUIOA_OFF, NUIOA_EXPORT, NUIOA_ON };
enum nuioa_cores { NUIOA_CORES_AUTO, NUIOA_CORES_KEEP, NUIOA_CORES_PACK };
enum nuioa_mem { NUIOA_MEM_LOCAL, NUIOA_MEM_NIC, NUIOA_MEM_INTERLEAVE, NUIOA_MEM_OFF };
enum nuioa_leader { NUIOA_LEADER_NEAR, NUIOA_LEADER_RANK0, NUIOA_LEADER_OFF };
enum nuioa_auth { NUIOA_AUTH_KEY, NUIOA_AUTH_MUNGE };
enum nuioa_switch { NUIOA_SWITCH_AUTO, NUIOA_SWITCH_ON, NUIOA_SWITCH_OFF };

/* Bits of `export`. */
enum {
    NUIOA_EXPORT_ENV = 1 << 0,
    NUIOA_EXPORT_PMIX = 1 << 1,
    NUIOA_EXPORT_LOCALITY = 1 << 2, /* the standard PMIx keys that Slurm leaves empty */
    NUIOA_EXPORT_UCX = 1 << 3,
    NUIOA_EXPORT_OFI = 1 << 4,
    NUIOA_EXPORT_NCCL = 1 << 5,
    NUIOA_EXPORT_PSM = 1 << 6,
    NUIOA_EXPORT_MPICH = 1 << 7,
    NUIOA_EXPORT_FOREIGN = NUIOA_EXPORT_UCX | NUIOA_EXPORT_OFI | NUIOA_EXPORT_NCCL |
                           NUIOA_EXPORT_PSM | NUIOA_EXPORT_MPICH, /* other programs' variables */
};

struct nuioa_options {
    enum nuioa_mode mode;
    bool force; /* overrides an explicit --cpu-bind and GPUs */
    bool report;
    bool explain;
    bool help;
    enum nuioa_policy policy;
    enum nuioa_cores cores;
    enum nuioa_mem mem;
    enum nuioa_leader leader;
    bool threads;        /* auto (true) or off */
    unsigned export_set; /* bits above; valid after nuioa_options_finish */
    bool export_given;   /* export= was said; else the mode decides */
    bool coll;
    enum nuioa_switch gather;
    unsigned timeout_ms;
    /* admin only: plugstack.conf, or the command line of nuioa(1) */
    enum nuioa_auth auth;
    unsigned timeout_max_ms; /* on the user's timeout_ms */
    unsigned deadline_ms;    /* on any discovery at launch */
    double remote_cost;
    double hop_cost;
    /* Texts; "": none. Last, for what nobody sets is not touched in every launch. */
    char hints[NUIOA_VALUE_MAX + 1]; /* as typed */
    char nic[256];
    char trace[4096];
    char distances[4096]; /* this one and all that follow: admin only */
    char cache[4096];
    char topology[4096];
    char munge_socket[108];
};

/* Where a value was said: decides precedence, whether admin options are taken, and how loud an
 * error is. */
enum nuioa_option_source {
    NUIOA_FROM_PLUGSTACK,
    NUIOA_FROM_ENVIRONMENT,
    NUIOA_FROM_COMMAND, /* srun or sbatch flag */
    NUIOA_FROM_TOOL,    /* command line of nuioa(1): takes admin options too */
};

struct nuioa_option {
    const char *name;    /* "policy"; the master switch is "nuioa" ("default" in plugstack.conf) */
    const char *values;  /* "bandwidth|latency|cpu": the words it takes, also for help and errors */
    const char *initial; /* built-in default, as one would type it */
    const char *help;
    bool admin;
    /* How the value is read and where it goes; for option.c alone. */
    int (*set)(const struct nuioa_option *option, struct nuioa_options *options, const char *value,
               struct nuioa_error *err);
    size_t field, size;
};

/* The table, ends with name == NULL. */
extern const struct nuioa_option nuioa_option_table[];

/* The built-in defaults: mode off. */
void nuioa_options_init(struct nuioa_options *options);

/* Sets one option by its name ("policy", not "nuioa-policy"; '-' is as good as '_', and "POLICY" of
 * the environment as "policy"). The value may be NULL for the master switch alone ("--nuioa" = on);
 * an empty one from the environment counts as not set. On error nothing is changed: -EINVAL with
 * one line that names the input and the right values, -EPERM for an admin option from the
 * environment or srun, -ENOENT for an unknown name (with the nearest known name, if one is near). A
 * later call overrides an earlier one: call in the order plugstack.conf, environment, command line.
 *
 * The master switch takes a comma list. One of off, export, on; report and explain imply on unless
 * off or export is said; force implies on. */
int nuioa_options_set(struct nuioa_options *options, enum nuioa_option_source source,
                      const char *name, const char *value, struct nuioa_error *err);

/* Call after the last set: fills what depends on other options (export_set). */
void nuioa_options_finish(struct nuioa_options *options);

/* The option of this name as `source` knows it; NULL if there is none. */
const struct nuioa_option *nuioa_option_find(enum nuioa_option_source source, const char *name);

/* "SLURM_NUIOA" for the master switch, "SLURM_NUIOA_POLICY" for policy. Returns text. */
const char *nuioa_option_variable(const struct nuioa_option *option, char *text, size_t size);

/* As one types it for an option source: "policy" (plugstack.conf), "SLURM_NUIOA_POLICY",
 * "--nuioa-policy" (srun), "--policy" (nuioa(1)). Flags have '-' where names have '_'. Returns
 * text. */
const char *nuioa_option_spelling(const struct nuioa_option *option,
                                  enum nuioa_option_source source, char *text, size_t size);

/* The table for a person: name, values, default, meaning; 100 columns; admin options apart.
 * malloc'd, caller frees; NULL without memory. */
char *nuioa_options_help(void);

const char *nuioa_policy_name(enum nuioa_policy policy);

#endif
