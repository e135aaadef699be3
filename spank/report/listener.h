/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_REPORT_LISTENER_H
#define SPANK_REPORT_LISTENER_H

#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

/* TCP sockets: srun listens, nodes connect, and srun tells them its port. All descriptors are
 * close-on-exec, and the caller closes them. No function waits. */

/* Listens on all addresses of this machine, IPv6 and IPv4 where both exist, on a free port from
 * `first` to `last`, both inclusive, or on any port if both are 0. Returns a descriptor and the
 * *port, or -errno: -EADDRINUSE if no port is free. The descriptor does not block. A connection can
 * be accepted when its first bytes have come, or it has been silent for a second or more. */
int listener_open(uint16_t first, uint16_t last, uint16_t *port);

/* Begins to connect to a numeric IPv4 or IPv6 address, such as "10.0.0.1"; it resolves no names.
 * Returns a descriptor that does not block, and can be written when the connection is made or has
 * failed; or -errno: -EINVAL if `address` is no such address. */
int listener_connect(const char *address, uint16_t port);

/* Writes the value of WIRE_VARIABLE (wire.h), "VERSION:PORT", into text[size], at least 16. */
void listener_write_port(uint16_t port, char *text, size_t size);

/* Reads it. Returns 0 and *port, which is not 0; or with *err -EPROTONOSUPPORT if srun's version is
 * another, or -EINVAL. */
int listener_read_port(const char *text, uint16_t *port, struct nuioa_error *err);

#endif
