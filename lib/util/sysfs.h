/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_UTIL_SYSFS_H
#define NUIOA_UTIL_SYSFS_H

#include <stdbool.h>
#include <stddef.h>

/* Small files of sysfs that describe network devices. */

/* Descriptors of the directories that list the devices. One that does not exist is -1. */
struct nuioa_sysfs {
    int verbs; /* sys/class/infiniband */
    int net;   /* sys/class/net */
    int pci;   /* sys/bus/pci/devices */
};

/* Opens the directories below `root`: "" for this machine, or the directory of a dump. It never
 * fails: if a directory does not exist, everything in it reads as absent. */
void nuioa_sysfs_open(struct nuioa_sysfs *sysfs, const char *root);

/* Sets all to -1, so that every read finds nothing: for topologies without sysfs. */
void nuioa_sysfs_none(struct nuioa_sysfs *sysfs);

/* Closes the directories and sets them to -1. */
void nuioa_sysfs_close(struct nuioa_sysfs *sysfs);

/* Reads the file `path` (a printf format) below the directory `dir`, without the blanks and
 * newlines at its end. `text` has `size` bytes: longer text is cut. Returns its length, or -errno
 * and an empty text. */
int nuioa_sysfs_text(int dir, char *text, size_t size, const char *path, ...)
    __attribute__((format(printf, 4, 5)));

/* Reads a file that holds one number, decimal or beginning with 0x. Returns 0, or -errno and leaves
 * *value as it is. */
int nuioa_sysfs_number(int dir, long *value, const char *path, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns whether `path` exists below `dir`. A link exists even if its target does not. */
bool nuioa_sysfs_exists(int dir, const char *path, ...) __attribute__((format(printf, 2, 3)));

/* Reads the target of the link `name` in `dir`. Returns 0, or -errno and an empty text. */
int nuioa_sysfs_link(int dir, char *target, size_t size, const char *name);

#endif
