/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_RENDEZVOUS_LISTENER_H
#define SPANK_RENDEZVOUS_LISTENER_H

#include <stdint.h>

/* TCP sockets: srun listens and accepts, nodes connect. All descriptors are close-on-exec and
 * non-blocking, and belong to the caller. */

/* Listens on all addresses of this machine, IPv6 and IPv4 where both exist, on a free port from
 * `first` to `last`; 0: any port. Returns a descriptor and *port, or -errno. */
int listener_open(uint16_t first, uint16_t last, uint16_t *port);

/* Accepts the next connection. Returns a descriptor, or -errno; -EAGAIN: there is none. */
int listener_accept(int listener);

/* Begins to connect to a numeric IPv4 or IPv6 address; it resolves no names. Returns a descriptor,
 * which becomes writable when the connection is made or has failed, or -errno. */
int listener_connect(const char *address, uint16_t port);

#endif
