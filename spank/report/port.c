/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/report/port.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "spank/report/wire.h"
#include "util/number.h"

void port_write(uint16_t port, char *text, size_t size)
{
    snprintf(text, size, "%d:%u", WIRE_VERSION, port);
}

int port_read(const char *text, uint16_t *port, struct nuioa_error *err)
{
    char version[8];
    size_t length = strcspn(text, ":");
    uint32_t number = 0;
    nuioa_copy(version, sizeof(version), length < sizeof(version) ? text : "");
    version[length < sizeof(version) ? length : 0] = '\0';
    if (text[length] != ':' || nuioa_parse_u32(version, UINT16_MAX, &number) < 0)
        return nuioa_fail(err, -EINVAL, "srun's port is not known");
    if (number != WIRE_VERSION)
        return nuioa_fail(err, -EPROTONOSUPPORT,
                          "srun's nuioa is another version: install the same one on srun's host "
                          "and on the nodes");
    if (nuioa_parse_u32(text + length + 1, UINT16_MAX, &number) < 0 || !number)
        return nuioa_fail(err, -EINVAL, "srun's port is not known");
    *port = (uint16_t)number;
    return 0;
}
