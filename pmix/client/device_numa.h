/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PMIX_CLIENT_DEVICE_NUMA_H
#define NUIOA_PMIX_CLIENT_DEVICE_NUMA_H

/* Does the work of nuioa_client_device_numa (nuioa-client.h) for a machine whose sysfs is the
 * directory ROOT/sys, for tests. The root "" is this machine. It returns the same: a NUMA node, or
 * -ENOENT, -ENODATA or -EINVAL. */
int device_numa(const char *root, const char *device);

#endif
