/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_PMIX_CLIENT_DEVICE_H
#define NUIOA_PMIX_CLIENT_DEVICE_H

/* Does the work of nuioa_client_device_numa for a machine whose sysfs is below `root`, for tests.
 * The root "" is this machine. */
int device_numa(const char *root, const char *device);

#endif
