/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_LISTENER_H
#define SPANK_RENDEZVOUS_LISTENER_H

#include <stdint.h>

/* Both ends of a TCP connection.
 *
 * A listener for anybody who reaches this machine, IPv6 and IPv4 where both exist. Ports from
 * `first` to `last`; 0: any. Returns a descriptor (close-on-exec, non-blocking) and *port, or
 * -errno. */
int listener_open(uint16_t first, uint16_t last, uint16_t *port);

/* The next connection: a descriptor (close-on-exec, non-blocking), or -errno. */
int listener_accept(int listener);

/* Begins to connect to an IPv4 or IPv6 address in numbers; no name is resolved. A descriptor
 * (close-on-exec, non-blocking), writable when the connection is there or has failed; or -errno. */
int listener_connect(const char *address, uint16_t port);

#endif
