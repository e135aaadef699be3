/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_DOCTOR_CONF_H
#define NUIOA_DOCTOR_CONF_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "util/arena.h"
#include "util/error.h"

/* Slurm's configuration, read from its files, as the next launch reads them. `scontrol show config`
 * is not asked: it is an answer of slurmctld, which is late when slurmctld is dead, need not agree
 * with the files of this node, and would be asked by every node at each health check. */

/* One "Key=Value" of slurm.conf, cgroup.conf or mpi.conf. */
struct doctor_entry {
    const char *key, *value;
    const char *block; /* the first key of its line, as "NodeName" */
    const char *name;  /* the value of that key, as "node[1-4]" */
    struct doctor_entry *next;
};

/* One line "required|optional PLUGIN ARGUMENT..." of plugstack.conf. */
struct doctor_plug {
    const char *path; /* PLUGIN, as it is written */
    char where[256];  /* "/etc/slurm/plugstack.conf:3" */
    bool ours;        /* the name of the file is nuioa.so */
    bool required;
    int argc;    /* arguments */
    char **argv; /* [argc] */
    struct doctor_plug *next;
};

/* Files that cannot be read, or for which there is no memory, are left out. So are files of 4 MiB
 * or more, files that are included deeper than 8 times, and all after 1000 files or 16 MiB. */
struct doctor_conf {
    int top; /* descriptor of the directory that all paths are below, also those with '/' */
    const char *root; /* its path; "": this machine */
    char
        path[PATH_MAX]; /* where slurm.conf was found; "" if nowhere, and all below is empty then */
    struct doctor_entry *entries, **last_entry; /* in the order of the files */
    char stack[256];                            /* the path of plugstack.conf */
    bool stack_found;                           /* it could be read */
    struct nuioa_warnings
        faults; /* its files that not every user can read, lines that Slurm cannot */
    struct doctor_plug *plugs, **last_plug; /* of plugstack.conf and the files that it includes */
    struct nuioa_arena arena;               /* owns the entries, the lines and their texts */
    unsigned files;                         /* private to conf.c: read so far, with their bytes */
    size_t bytes;
};

/* Reads slurm.conf, cgroup.conf, mpi.conf and plugstack.conf, with what they include, into *conf,
 * which is overwritten. slurm.conf is the file of SLURM_CONF, or where Slurm is built to look for
 * it, or where a slurmd without configuration files keeps it. `top` and `root` stay the caller's.
 * The caller frees conf->arena. */
void doctor_conf_read(struct doctor_conf *conf, int top, const char *root);

/* Returns the value of the setting `key`, in upper or lower case, that begins its line, or NULL if
 * there is none. As for Slurm, the last one counts. *conf owns the value. */
const char *doctor_conf_value(const struct doctor_conf *conf, const char *key);

/* Returns true if `list`, words with commas or NULL, has the word `word`, with or without `prefix`
 * ("task/"; "" for none). Upper and lower case are equal. */
bool doctor_list_has(const char *list, const char *prefix, const char *word);

/* Finds the file `name` among Slurm's plugins: in PluginDir, or in the directory that nuioa was
 * configured with, or in the usual directories. Writes its path below the top to `path`. Returns
 * false if it was not found, and `path` is then undefined. */
bool doctor_conf_plugin(const struct doctor_conf *conf, const char *name, char path[PATH_MAX]);

/* Does the same for a SPANK plugin that plugstack.conf names. As Slurm does, it looks for a name
 * that does not begin with / in PluginDir only, or in the directory that Slurm was built with,
 * which is where libslurmfull.so is. */
bool doctor_conf_spank(const struct doctor_conf *conf, const char *name, char path[PATH_MAX]);

#endif
