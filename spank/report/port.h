/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SPANK_REPORT_PORT_H
#define SPANK_REPORT_PORT_H

#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

/* The value of WIRE_VARIABLE (wire.h), by which srun tells the nodes its port: "VERSION:PORT". */

/* Writes it into text[size], which should have 16 bytes. */
void port_write(uint16_t port, char *text, size_t size);

/* Reads it. Returns 0 and *port, which is not 0; or with *err -EPROTONOSUPPORT if srun's version is
 * another, or -EINVAL. */
int port_read(const char *text, uint16_t *port, struct nuioa_error *err);

#endif
