/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_DOCTOR_CONF_H
#define NUIOA_DOCTOR_CONF_H

#include <stdbool.h>
#include <stddef.h>

/* Slurm's configuration, read from its files, as the next launch reads them. `scontrol show config`
 * is not asked: it is an answer of slurmctld, which is late when slurmctld is dead, need not agree
 * with the files of this node, and would be asked by every node at each health check. `slurmd -C`
 * says nothing of it. All paths are below a directory `top`. */

struct doctor_entry {
    char *key, *value;
    char *block; /* the first key of its line, as "NodeName" */
    char *name;  /* the value of that key, as "node[1-4]" */
};

struct doctor_conf {
    char path[256]; /* where slurm.conf was found; "" if nowhere */
    unsigned count, capacity;
    struct doctor_entry *entries;
};

/* One line "required|optional PLUGIN ARGUMENT..." of plugstack.conf. */
struct doctor_plug {
    char *path;
    char *where; /* "/etc/slurm/plugstack.conf:3" */
    bool required;
    int argc;
    char **argv;
};

struct doctor_stack {
    char path[256]; /* "" if there is no slurm.conf */
    bool found;
    unsigned count, capacity;
    struct doctor_plug *plugs;
};

/* Reads slurm.conf and the files that it includes. slurm.conf is the file of SLURM_CONF, or where
 * Slurm is built to look for it, or where a slurmd without configuration files keeps it. Leaves
 * path empty if there is none. The caller frees *conf. */
void doctor_conf_read(struct doctor_conf *conf, int top);
void doctor_conf_free(struct doctor_conf *conf);

/* Adds the entries of another file that has the same syntax and lies beside slurm.conf, such as
 * "cgroup.conf". Returns false if there is none. */
bool doctor_conf_read_beside(struct doctor_conf *into, const struct doctor_conf *conf, int top,
                             const char *name);

/* Returns the value of a setting that stands alone on its line, or NULL. As for Slurm, the last one
 * counts. *conf owns it. */
const char *doctor_conf_value(const struct doctor_conf *conf, const char *key);

/* Returns whether a list with commas has the word, with or without `prefix` ("task/"). Upper and
 * lower case are equal. */
bool doctor_list_has(const char *list, const char *prefix, const char *word);

/* Reads the plugstack.conf that slurm.conf names, or the one beside it, and the files that it
 * includes. `root` is the path of `top`, for patterns of file names. The caller frees *stack. */
void doctor_stack_read(struct doctor_stack *stack, const struct doctor_conf *conf, int top,
                       const char *root);
void doctor_stack_free(struct doctor_stack *stack);

/* Finds the file `name` among Slurm's plugins: in PluginDir, or in the directory that nuioa was
 * configured with, or in the usual directories. Writes its path below `top`. Returns false if it
 * was not found. */
bool doctor_conf_plugin(const struct doctor_conf *conf, int top, const char *root, const char *name,
                        char *path, size_t size);

/* Finds a SPANK plugin that plugstack.conf names. As Slurm does, it looks for a name that does not
 * begin with / in PluginDir only, or in the directory that Slurm was built with, which is where
 * libslurmfull.so is. Writes its path below `top`. Returns false if it was not found. */
bool doctor_conf_spank(const struct doctor_conf *conf, int top, const char *root, const char *name,
                       char *path, size_t size);

/* Returns the text of a file, of at most 4 MiB, or NULL if it cannot be read. Never waits. The
 * caller frees it. */
char *doctor_load(int top, const char *path);

#endif
