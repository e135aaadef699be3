/* SPDX-License-Identifier: BSD-3-Clause */

/* set-link NIC speed MBPS: sets the speed that the driver says or forces. It does what ethtool
 * does, which is a package more. */

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

int main(int argc, char **argv)
{
    if (argc != 4 || strcmp(argv[2], "speed"))
        return 2;
    int rc = set_speed(argv[1], (unsigned)atoi(argv[3]));
    if (rc)
        perror(argv[1]);
    return rc ? 1 : 0;
}
