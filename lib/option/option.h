/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_OPTION_OPTION_H
#define NUIOA_OPTION_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "option/option_table.h"
#include "profile/hints.h"
#include "topology/policy.h"
#include "util/error.h"

/* The options, which four sources can set: srun --nuioa-policy=X, the environment variable
 * SLURM_NUIOA_POLICY=X, the plugstack.conf argument policy=X, and nuioa plan --policy X. All four
 * use the table in option/option_table.h. */

enum nuioa_mode { NUIOA_OFF, NUIOA_EXPORT, NUIOA_ON };
enum nuioa_cores { NUIOA_CORES_AUTO, NUIOA_CORES_KEEP, NUIOA_CORES_SHARE, NUIOA_CORES_PACK };
enum nuioa_gpu_mode {
    NUIOA_GPU_AUTO,
    NUIOA_GPU_FOLLOW,
    NUIOA_GPU_KEEP,
    NUIOA_GPU_LOCAL_RANK,
    NUIOA_GPU_LOCAL_RANK_BLOCK
};
enum nuioa_mem { NUIOA_MEM_OFF, NUIOA_MEM_LOCAL, NUIOA_MEM_NIC, NUIOA_MEM_INTERLEAVE };
enum nuioa_leader { NUIOA_LEADER_NEAR, NUIOA_LEADER_RANK0, NUIOA_LEADER_OFF };
enum nuioa_switch { NUIOA_SWITCH_AUTO, NUIOA_SWITCH_ON, NUIOA_SWITCH_OFF };

/* Bits of `export`. */
enum {
    NUIOA_EXPORT_AUTO = 1 << 0, /* what nobody says a word about: output/library_variables.h */
    NUIOA_EXPORT_ENV = 1 << 1,
    NUIOA_EXPORT_PMIX = 1 << 2,
    NUIOA_EXPORT_LOCALITY = 1 << 3, /* the standard PMIx keys that Slurm leaves empty */
    NUIOA_EXPORT_UCX = 1 << 4,
    NUIOA_EXPORT_OFI = 1 << 5,
    NUIOA_EXPORT_NCCL = 1 << 6,
    NUIOA_EXPORT_PSM = 1 << 7,
    NUIOA_EXPORT_MPICH = 1 << 8,
    NUIOA_EXPORT_NVSHMEM = 1 << 9,
    /* words for variables of other libraries */
    NUIOA_EXPORT_LIBRARIES = NUIOA_EXPORT_UCX | NUIOA_EXPORT_OFI | NUIOA_EXPORT_NCCL |
                             NUIOA_EXPORT_PSM | NUIOA_EXPORT_MPICH | NUIOA_EXPORT_NVSHMEM,
};

struct nuioa_options {
    enum nuioa_mode mode;
    bool asked;   /* the user chose the mode; else it is built-in, or plugstack.conf says it */
    bool force;   /* overrides an explicit --cpu-bind and GPUs */
    bool report;  /* srun prints what was done */
    bool explain; /* the report also says why */
    bool help;    /* print the table of options */
    enum nuioa_policy policy;
    enum nuioa_cores cores;
    enum nuioa_gpu_mode gpus; /* whether CPUs follow GPUs; whose GPU is whose (ranks/request.h) */
    enum nuioa_mem mem;
    enum nuioa_leader leader;
    unsigned rails;            /* how many NICs a rank gets; 0: auto (nics/rail_assign.h) */
    bool rails_connected;      /* every NIC of the job can reach every other one */
    enum nuioa_switch threads; /* on: variables bind OpenMP threads; off: not even told where */
    unsigned export_set;       /* bits NUIOA_EXPORT_*; valid after nuioa_options_finish */
    bool export_given;         /* a source has set `export` */
    /* Only plugstack.conf and the command line of nuioa(1) can set the fields from here on. */
    unsigned deadline_ms; /* time limit of discovery at a launch; processor time of a plan */
    double remote_cost;   /* nuioa_nic_cost in nics/rails.h has the formula; no unit */
    double hop_cost;
    double load_cost; /* slots/rail_load.h has the formula and the source of the default */
    /* Texts; "" means none. They are last, so that initialisation can skip their many bytes. Users
     * can set hints, nic, nic_role and trace. */
    char hints[NUIOA_VALUE_MAX + 1]; /* as typed */
    char nic[256];                   /* as typed; "auto" is the default */
    char nic_role[512];              /* "" says nothing; lists of several sources, joined */
    char trace[4096];
    char distances[4096]; /* only plugstack.conf and nuioa(1) set this and the next ones */
    char cache[4096];
    char topology[4096];
    char munge_socket[108];
};

/* Where a value comes from. Admin options are accepted from NUIOA_FROM_PLUGSTACK and
 * NUIOA_FROM_TOOL only. */
enum nuioa_option_source {
    NUIOA_FROM_PLUGSTACK,
    NUIOA_FROM_ENVIRONMENT,
    NUIOA_FROM_COMMAND, /* a flag of srun, sbatch or salloc */
    NUIOA_FROM_TOOL,    /* the command line of nuioa(1) */
};

/* Sets every option to its built-in default; the mode is off. It cannot fail. */
void nuioa_options_init(struct nuioa_options *options);

/* nuioa_options_set returns this for an option or a value that went. */
#define NUIOA_RETIRED 1

/* Sets one option by its name ("policy", not "nuioa-policy"). '-' is accepted for '_', and for
 * NUIOA_FROM_ENVIRONMENT capitals are accepted too ("POLICY"). A later call overrides an earlier
 * one, so call in the order plugstack.conf, environment, command line. A later nic_role is added to
 * the earlier ones, and rails=connected stays.
 *
 * `value` may be NULL for the main switch ("--nuioa" alone means on), but not from plugstack.conf.
 * An empty value from the environment counts as not set.
 *
 * The main switch takes a comma list with at most one of off, export and on. Without one of these,
 * report, explain and force mean on; force excludes export, and off all but report.
 *
 * Returns 0; or NUIOA_RETIRED, and *err has one line, if nuioa_retired_table has the option or its
 * value: nothing is changed, and the caller goes on. On error nothing is changed, *err has one line
 * that names the input and the accepted values, and the result is -EINVAL for a wrong value (or
 * -ENOMEM, for hints), -EPERM for an admin option from the environment or srun, or -ENOENT for an
 * unknown name (*err suggests a known name that is near it, if there is one). */
int nuioa_options_set(struct nuioa_options *options, enum nuioa_option_source source,
                      const char *name, const char *value, struct nuioa_error *err);

/* Sets the options of the plugin's line in plugstack.conf. argv[argc] are the words after the
 * plugin: Slurm splits the line at blanks, and leaves the carriage return of a CRLF file in the
 * last word. A word other than NAME=VALUE does nothing. Each wrong option is a warning, and so are
 * all these words together; the rest counts. Each option that went is a line in `retired`, because
 * only the administrator can remove it. Both lists may be NULL, or the same one. */
void nuioa_options_set_line(struct nuioa_options *options, int argc, char *const *argv,
                            struct nuioa_warnings *warnings, struct nuioa_warnings *retired);

/* Sets the values that depend on other options. With the mode off, export_set is 0 and leader is
 * off, so that ranks are told nothing. Else export_set changes where it has auto, or no source has
 * set it: env and pmix are added and, unless the mode is export, locality. Where no source has set
 * it, it has auto only if the user chose the mode. Call it after the last set. */
void nuioa_options_finish(struct nuioa_options *options);

/* Returns true if no plan is needed: the mode is off, and not even a report is asked for. A trace
 * is recorded all the same. */
bool nuioa_options_idle(const struct nuioa_options *options);

/* Returns the option that `source` calls `name` (spelled as for nuioa_options_set), or NULL if
 * there is none. The option is an entry of nuioa_option_table, which is constant. */
const struct nuioa_option *nuioa_option_find(enum nuioa_option_source source, const char *name);

/* Returns the entry for what `source` calls `name` (spelled as for nuioa_options_set), with this
 * value (NULL: none), or NULL if that has not gone. */
const struct nuioa_option *nuioa_retired_find(enum nuioa_option_source source, const char *name,
                                              const char *value);

/* Writes the option's name as a user types it for `source` to `text`, an array of `size` bytes (64
 * are enough; a longer text is cut): "policy" (plugstack.conf), "SLURM_NUIOA_POLICY" (environment),
 * "--nuioa-policy" (srun) or "--policy" (nuioa(1)). Flags have '-' where names have '_'. Returns
 * `text`. */
const char *nuioa_option_spelling(const struct nuioa_option *option,
                                  enum nuioa_option_source source, char *text, size_t size);

/* Prints the table of options for users to `out`, at most 100 columns wide: name, values, default
 * and meaning of each option, with admin options in a second table. */
void nuioa_options_help(FILE *out);

/* Returns the name of a policy, "bandwidth" or "latency": a constant text. */
const char *nuioa_policy_name(enum nuioa_policy policy);

#endif
