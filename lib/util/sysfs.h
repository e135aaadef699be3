/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_UTIL_SYSFS_H
#define NUIOA_UTIL_SYSFS_H

#include <stdbool.h>
#include <stddef.h>

/* Private: small attributes of network devices, below the directories that list them. */

/* Descriptors of the class directories, -1 where there is none. */
struct nuioa_sysfs {
    int verbs; /* sys/class/infiniband */
    int net;   /* sys/class/net */
    int pci;   /* sys/bus/pci/devices */
};

/* `root`: "" for this machine, or the directory of a dump. Never fails: absent reads as absent. */
void nuioa_sysfs_open(struct nuioa_sysfs *sysfs, const char *root);
/* All closed: every read finds nothing. For topologies without sysfs. */
void nuioa_sysfs_none(struct nuioa_sysfs *sysfs);
void nuioa_sysfs_close(struct nuioa_sysfs *sysfs);

/* Reads a file below `dir`, without its trailing blanks; longer text is cut. Length or -errno. */
int nuioa_sysfs_text(int dir, char *text, size_t size, const char *path, ...)
    __attribute__((format(printf, 4, 5)));

/* A decimal or 0x number that fills the file. 0 or -errno. */
int nuioa_sysfs_number(int dir, long *value, const char *path, ...)
    __attribute__((format(printf, 3, 4)));

bool nuioa_sysfs_exists(int dir, const char *path, ...) __attribute__((format(printf, 2, 3)));

/* Target of a link below `dir`. 0 or -errno. */
int nuioa_sysfs_link(int dir, char *target, size_t size, const char *name);

#endif
