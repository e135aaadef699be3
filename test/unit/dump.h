/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_DUMP_H
#define TEST_DUMP_H

/* A sysfs tree of a machine with two NUMA nodes of two cores (CPUs 0-1 and 2-3, SLIT 10/21), in the
 * temporary directory dump_path and read as any dump is (machine_load). Devices are added to it.
 * The tree goes when the test ends; dump_path is that of the last one. */
extern char dump_path[64];
void dump_make(void);

/* Writes a file, and the directories above it. */
void dump_file(const char *path, const char *text);

/* A symbolic link. */
void dump_link(const char *path, const char *target);

/* A PCI function "0000:81:00.0" on a root bus of NUMA node 1 (0000:8x), of NUMA node 0 (0000:0x),
 * or one of which nothing is known (0000:fx). `ids` is "class vendor device", as sysfs writes
 * them. */
void dump_pci(const char *busid, const char *ids);

/* A netdev of that function; NULL: one without hardware. `address` of 6 or 20 bytes. */
void dump_net(const char *busid, const char *name, const char *address, const char *operstate,
              const char *speed_mbps);

/* Port `port` of a verbs device. `gid_prefix` "fe80:0000:0000:0000". */
void dump_verbs(const char *busid, const char *name, int port, const char *link_layer,
                const char *state, const char *rate, const char *gid_prefix);

#endif
