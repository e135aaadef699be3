/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_DOCTOR_CONF_H
#define NUIOA_DOCTOR_CONF_H

#include <stdbool.h>
#include <stddef.h>

/* Slurm's configuration, read from its files, as the next launch reads them. `scontrol show config`
 * is not asked: it is an answer of slurmctld, which is late when slurmctld is dead, need not agree
 * with the files of this node, and would be asked by every node at each health check. `slurmd -C`
 * says nothing of it.
 *
 * In all functions `top` is the descriptor of a directory that all paths are below, also those that
 * begin with '/', and `root` is its path ("" for this machine); both stay the caller's. What cannot
 * be read, or has no memory, is left out. */

/* How much has been read. A file counts each time that it is included. conf.c has limits for
 * both; a file beyond them counts as one that cannot be read. */
struct doctor_reading {
    unsigned files;
    size_t bytes;
};

/* One "Key=Value" of a file. */
struct doctor_entry {
    char *key, *value;
    char *block; /* the first key of its line, as "NodeName" */
    char *name;  /* the value of that key, as "node[1-4]" */
};

/* The entries of a file and of those that it includes, in their order. It owns them. */
struct doctor_conf {
    char path[256]; /* where slurm.conf was found; "" if nowhere */
    struct doctor_reading so_far;
    unsigned count, capacity; /* entries: used; allocated */
    struct doctor_entry *entries;
};

/* One line "required|optional PLUGIN ARGUMENT..." of plugstack.conf. */
struct doctor_plug {
    char *path;  /* PLUGIN, as it is written */
    char *where; /* "/etc/slurm/plugstack.conf:3" */
    bool required;
    int argc;    /* arguments */
    char **argv; /* [argc] */
};

/* plugstack.conf and the files that it includes. It owns the lines. */
struct doctor_stack {
    char path[256]; /* of plugstack.conf; "" if there is no slurm.conf */
    bool found;     /* it could be read */
    char
        fault[384]; /* the first file that not every user can read, or line that Slurm cannot; "" */
    struct doctor_reading so_far;
    unsigned count, capacity; /* lines: used; allocated */
    struct doctor_plug *plugs;
};

/* Reads slurm.conf and the files that it includes into *conf, which is overwritten. slurm.conf is
 * the file of SLURM_CONF, or where Slurm is built to look for it, or where a slurmd without
 * configuration files keeps it. If there is none, conf->path is empty. In every case the caller
 * frees *conf with doctor_conf_free. */
void doctor_conf_read(struct doctor_conf *conf, int top);

/* Frees the entries and makes *conf empty. */
void doctor_conf_free(struct doctor_conf *conf);

/* Adds to *into, which is all zeros or has entries already, the entries of the file `name`, such as
 * "cgroup.conf", which has the same syntax and lies beside the slurm.conf of *conf. Returns false
 * if it cannot be read. The caller frees *into with doctor_conf_free. */
bool doctor_conf_read_beside(struct doctor_conf *into, const struct doctor_conf *conf, int top,
                             const char *name);

/* Returns the value of the setting `key`, in upper or lower case, that begins its line, or NULL if
 * there is none. As for Slurm, the last one counts. *conf owns the value. */
const char *doctor_conf_value(const struct doctor_conf *conf, const char *key);

/* Returns true if `list`, words with commas or NULL, has the word `word`, with or without `prefix`
 * ("task/"; "" for none). Upper and lower case are equal. */
bool doctor_list_has(const char *list, const char *prefix, const char *word);

/* Reads the plugstack.conf that slurm.conf names, or the one beside it, and the files that it
 * includes, into *stack, which is overwritten. In every case the caller frees it with
 * doctor_stack_free. */
void doctor_stack_read(struct doctor_stack *stack, const struct doctor_conf *conf, int top,
                       const char *root);

/* Frees the lines and makes *stack empty. */
void doctor_stack_free(struct doctor_stack *stack);

/* Finds the file `name` among Slurm's plugins: in PluginDir, or in the directory that nuioa was
 * configured with, or in the usual directories. Writes its path below `top` to `path`, an array of
 * `size` bytes. Returns false if it was not found, and `path` is then undefined. */
bool doctor_conf_plugin(const struct doctor_conf *conf, int top, const char *root, const char *name,
                        char *path, size_t size);

/* Finds a SPANK plugin that plugstack.conf names. As Slurm does, it looks for a name that does not
 * begin with / in PluginDir only, or in the directory that Slurm was built with, which is where
 * libslurmfull.so is. Writes its path below `top` to `path`, an array of `size` bytes. Returns
 * false if it was not found, and `path` is then undefined. */
bool doctor_conf_spank(const struct doctor_conf *conf, int top, const char *root, const char *name,
                       char *path, size_t size);

#endif
