/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology/nic_port.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "util/number.h"

/* Reads a rate such as "56 Gb/sec (4X FDR)" or "2.5 Gb/sec (1X SDR)", in any locale. Returns 0 if
 * it has another form. */
static uint32_t verbs_rate_mbps(char *text)
{
    double gbps = 0;
    char *unit = text + strcspn(text, " ");
    if (strncmp(unit, " Gb/sec", 7))
        return 0;
    *unit = '\0';
    nuioa_parse_decimal(text, &gbps);
    return gbps * 1000 <= UINT32_MAX ? (uint32_t)(gbps * 1000 + 0.5) : 0;
}

static bool read_verbs(int dir, struct nuioa_nic *nic)
{
    char text[64];
    if (nuioa_sysfs_text(dir, text, sizeof(text), "%s/ports/%u/state", nic->name, nic->port) < 0)
        return false;
    /* An example is "4: ACTIVE". Ports that are armed or initialising carry no traffic yet. */
    if (isdigit((unsigned char)text[0]))
        nic->state = text[0] == '4'   ? NUIOA_NIC_ACTIVE
                     : text[0] == '0' ? NUIOA_NIC_UNKNOWN
                                      : NUIOA_NIC_DOWN;
    nuioa_sysfs_text(dir, text, sizeof(text), "%s/ports/%u/rate", nic->name, nic->port);
    nic->rate_mbps = verbs_rate_mbps(text);
    return true;
}

static bool read_netdev(int dir, struct nuioa_nic *nic)
{
    char text[32];
    long number;
    if (nuioa_sysfs_text(dir, text, sizeof(text), "%s/operstate", nic->name) < 0)
        return false;
    if (!strcmp(text, "up"))
        nic->state = NUIOA_NIC_ACTIVE;
    else if (strcmp(text, "unknown"))
        nic->state = NUIOA_NIC_DOWN;
    else if (!nuioa_sysfs_number(dir, &number, "%s/carrier", nic->name))
        /* The driver does not maintain operstate, but the carrier says the same. */
        nic->state = number ? NUIOA_NIC_ACTIVE : NUIOA_NIC_DOWN;
    /* Kernels have used -1, 65535 and 4294967295 for an unknown speed. */
    if (!nuioa_sysfs_number(dir, &number, "%s/speed", nic->name) && number > 0 && number != 65535 &&
        number < INT32_MAX)
        nic->rate_mbps = (uint32_t)number;
    return true;
}

bool nuioa_nic_read_port(const struct nuioa_sysfs *sysfs, struct nuioa_nic *nic)
{
    nic->state = NUIOA_NIC_UNKNOWN;
    nic->rate_mbps = 0;
    return nic->port ? read_verbs(sysfs->verbs, nic) : read_netdev(sysfs->net, nic);
}
