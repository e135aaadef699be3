/* SPDX-License-Identifier: BSD-3-Clause */

/* set-link NIC speed MBPS      the speed that its driver says or forces
 * set-link NIC rx-usecs US     how long its interrupts wait
 * What ethtool does, without installing it. */

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

static int ask(const char *nic, void *command)
{
    struct ifreq request = { .ifr_data = command };
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    strncpy(request.ifr_name, nic, sizeof(request.ifr_name) - 1);
    return fd < 0 ? -1 : ioctl(fd, SIOCETHTOOL, &request);
}

static int set_speed(const char *nic, unsigned mbps)
{
    struct ethtool_cmd link = { .cmd = ETHTOOL_GSET };
    if (ask(nic, &link))
        return -1;
    link.cmd = ETHTOOL_SSET;
    link.autoneg = AUTONEG_DISABLE;
    link.advertising = 0;
    link.duplex = DUPLEX_FULL;
    ethtool_cmd_speed_set(&link, mbps);
    return ask(nic, &link);
}

static int set_usecs(const char *nic, unsigned usecs)
{
    struct ethtool_coalesce coalesce = { .cmd = ETHTOOL_GCOALESCE };
    if (ask(nic, &coalesce))
        return -1;
    coalesce.cmd = ETHTOOL_SCOALESCE;
    coalesce.rx_coalesce_usecs = usecs;
    return ask(nic, &coalesce);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    unsigned number = (unsigned)atoi(argv[3]);
    int rc = !strcmp(argv[2], "speed") ? set_speed(argv[1], number) : set_usecs(argv[1], number);
    if (rc)
        perror(argv[1]);
    return rc ? 1 : 0;
}
