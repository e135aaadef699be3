/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_STEPS_STEP_LOAD_H
#define NUIOA_STEPS_STEP_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "topology/node.h"
#include "util/error.h"

/* Steps that run on one node at the same time, of one job or of several, tell each other how much
 * they use each NIC. Each step has one small file in a directory of root's. A step reads the files
 * of the others once, makes its plan, and writes its own; nobody locks or waits. Steps that start
 * at the same moment may therefore not see each other, and choose alike where no GPU decides: the
 * files are advice.
 *
 * The files are for root. The user of a step may read its file too, if the file system has access
 * control lists; others may not. doc/formats.md describes the format. */

#define NUIOA_STEP_LOAD_DIR "/run/nuioa/steps"

/* A step names no more NICs than this, and a reader reads no more files than this. */
#define NUIOA_STEP_LOAD_NICS 64
#define NUIOA_STEP_LOADS_MAX 1024

struct nuioa_nic_load {
    char nic[48]; /* its label, as nuioa_nic_label makes it */
    /* How many ranks of average weight use the NIC: the step's ranks on this node, shared out in
       proportion to their weights. Ranks that share cores count for no more than these cores. */
    double ranks;
};

/* The load that one step announces to the others. */
struct nuioa_step_load {
    uint32_t job, step; /* Slurm's numbers */
    uint32_t uid;       /* the user of the step */
    uint32_t pid;       /* slurmstepd's, in its own process namespace */
    uint32_t nic_count;
    struct nuioa_nic_load nics[NUIOA_STEP_LOAD_NICS]; /* [nic_count] */
};

/* An open directory of these files. The descriptors keep their meaning in a process that runs in
 * another mount or process namespace, as hooks do with Slurm's contain_spank. */
struct nuioa_step_directory {
    int fd;   /* the directory; -1: not open */
    int lock; /* the file in which running steps hold a lock each; -1: the caller may not read it */
};

/* Opens a directory. If it is NUIOA_STEP_LOAD_DIR, does not exist, and `create` is true, it is
 * created (mode 0755). The directory must be secure (util/secure_file.h), and writable for its
 * owner only. Returns 0, and the caller closes *directory; or -errno with *err, and *directory is
 * closed: -ENOENT if it does not exist. */
int nuioa_step_directory_open(struct nuioa_step_directory *directory, const char *path, bool create,
                              struct nuioa_error *err);

/* Closes the descriptors and sets them to -1, which they may be already. */
void nuioa_step_directory_close(struct nuioa_step_directory *directory);

/* Writes the step's file, or replaces it in one step: readers see the old file or the new one.
 * The file counts for other directories that are opened until this one is closed in all processes
 * that have inherited it. Returns 0, or -errno with *err. */
int nuioa_step_load_write(const struct nuioa_step_directory *directory,
                          const struct nuioa_step_load *load, struct nuioa_error *err);

/* Removes the step's file, if there is one. */
void nuioa_step_load_remove(const struct nuioa_step_directory *directory,
                            const struct nuioa_step_load *load);

/* Reads the files of all steps that still run, without those that were written through this
 * directory. root removes those whose slurmstepd has gone, in whichever process namespace it was;
 * for other users all that are there count. Files that the caller may not read are skipped. Files
 * that are no step's, or that others than root and the caller can write, are skipped, and *err has
 * one line for all of them; otherwise *err is empty. Sets *loads to a new array of *count entries,
 * in the order of job, step and pid, which the caller frees with free(); it may be NULL if there
 * are none. Returns 0; or -errno with *err, and there is no array. */
int nuioa_step_loads_read(const struct nuioa_step_directory *directory,
                          struct nuioa_step_load **loads, uint32_t *count, struct nuioa_error *err);

/* Decodes the content of one file: `length` bytes, which need not be trusted. Returns 0; or -ESTALE
 * if it was written before the last boot, or -EINVAL if it is no such file, and *load is then
 * undefined. */
int nuioa_step_load_decode(const void *bytes, size_t length, struct nuioa_step_load *load);

/* Adds up what the steps put on each NIC of the node: ranks[node->nic_count], the caller's array,
 * is overwritten. */
void nuioa_step_loads_sum(const struct nuioa_step_load *loads, uint32_t count,
                          const struct nuioa_node *node, double *ranks);

#endif
