/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_DOCTOR_CONF_H
#define NUIOA_DOCTOR_CONF_H

#include <stdbool.h>
#include <stddef.h>

/* Slurm's configuration, read from its files. Not by `scontrol show config`: that is an answer of
 * slurmctld's, which takes its time when it is dead, need not have read the file of this node, and
 * would be asked by every node at each health check. `slurmd -C` tells nothing of it. What is read
 * here is what the next launch reads. All paths are below a directory `top`. */

struct doctor_entry {
    char *key, *value;
    char *block; /* the key that begins its line: "NodeName" for that and for what follows it */
    char *name;  /* the value of that: "node[1-4]" */
};

struct doctor_conf {
    char path[256]; /* where slurm.conf was found; "" nowhere */
    unsigned count, room;
    struct doctor_entry *entries;
};

/* One "required|optional PLUGIN ARGUMENT..." of plugstack.conf. */
struct doctor_plug {
    char *path;
    char *where; /* "/etc/slurm/plugstack.conf:3" */
    bool required;
    int argc;
    char **argv;
};

struct doctor_stack {
    char path[256]; /* "" no slurm.conf */
    bool found;
    unsigned count, room;
    struct doctor_plug *plugs;
};

/* slurm.conf and what it includes: that of SLURM_CONF, else where Slurm is built to look or a
 * configless slurmd keeps it. Leaves path empty if there is none. */
void doctor_conf_read(struct doctor_conf *conf, int top);
void doctor_conf_free(struct doctor_conf *conf);

/* Adds the entries of another file of the same syntax beside slurm.conf, such as "cgroup.conf".
 * False: there is none. */
bool doctor_conf_read_beside(struct doctor_conf *into, const struct doctor_conf *conf, int top,
                             const char *name);

/* Value of a setting that stands alone on its line; the last one counts, as for Slurm. NULL: not
 * set. */
const char *doctor_conf_value(const struct doctor_conf *conf, const char *key);

/* Whether a comma list has the word, with or without `prefix` ("task/"); in any case. */
bool doctor_list_has(const char *list, const char *prefix, const char *word);

/* The plugstack.conf that slurm.conf names, or the one beside it, with what it includes. `root`
 * is the directory of `top`, for globs. */
void doctor_stack_read(struct doctor_stack *stack, const struct doctor_conf *conf, int top,
                       const char *root);
void doctor_stack_free(struct doctor_stack *stack);

/* Where Slurm's plugins are: PluginDir, else what nuioa was configured with, else where there are
 * some. Path of the file of that name in it, below top; false: not found. */
bool doctor_conf_plugin(const struct doctor_conf *conf, int top, const char *root, const char *name,
                        char *path, size_t size);

/* Path of a SPANK plugin as plugstack.conf names it: one that does not begin with / is looked for
 * as Slurm does, in PluginDir alone, or in the directory that Slurm was built with, which is where
 * its libslurmfull.so is. False: not found. */
bool doctor_conf_spank(const struct doctor_conf *conf, int top, const char *root, const char *name,
                       char *path, size_t size);

/* A file as text, at most 4 MiB, malloc'd; NULL if it cannot be read. Never waits. */
char *doctor_load(int top, const char *path);

#endif
