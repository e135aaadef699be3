/* SPDX-License-Identifier: BSD-3-Clause */

/* What an Ethernet card can do, which the kernel tells by ioctl only. */

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/doctor/doctor.h"
#include "tools/doctor/ethernet.h"
#include "tools/doctor/finding.h"
#include "tools/doctor/nic.h"

static bool ask(const char *netdev, void *command)
{
    struct ifreq request = { .ifr_data = command };
    if (nuioa_copy(request.ifr_name, sizeof(request.ifr_name), netdev))
        return false;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool done = fd >= 0 && !ioctl(fd, SIOCETHTOOL, &request);
    if (fd >= 0)
        close(fd);
    return done;
}

static bool is_ours(const struct doctor *d, const struct nuioa_nic *nic)
{
    return nic->kind == NUIOA_NIC_ETHERNET && doctor_in_fabric(d, nic);
}

/* These are bits of a mask of link modes and their rates: enum ethtool_link_mode_bit_indices of
 * linux/ethtool.h. The kernel gives the names of the modes by netlink only. */
static const struct {
    unsigned char first, last;
    unsigned mbps;
} modes[] = {
    { 0, 1, 10 },       { 2, 3, 100 },      { 4, 5, 1000 },     { 12, 12, 10000 },
    { 15, 15, 2500 },   { 17, 17, 1000 },   { 18, 20, 10000 },  { 21, 22, 20000 },
    { 23, 26, 40000 },  { 27, 30, 56000 },  { 31, 33, 25000 },  { 34, 35, 50000 },
    { 36, 39, 100000 }, { 40, 40, 50000 },  { 41, 41, 1000 },   { 42, 46, 10000 },
    { 47, 47, 2500 },   { 48, 48, 5000 },   { 52, 56, 50000 },  { 57, 61, 100000 },
    { 62, 66, 200000 }, { 67, 67, 100 },    { 68, 68, 1000 },   { 69, 73, 400000 },
    { 75, 79, 100000 }, { 80, 84, 200000 }, { 85, 89, 400000 }, { 90, 91, 100 },
    { 92, 92, 10 },     { 93, 98, 800000 },
};

static unsigned fastest_mode(const uint32_t *supported, unsigned words)
{
    unsigned best = 0;
    for (unsigned i = 0; i < sizeof(modes) / sizeof(*modes); i++)
        for (unsigned bit = modes[i].first; bit <= modes[i].last && bit / 32 < words; bit++)
            if ((supported[bit / 32] >> bit % 32 & 1) && modes[i].mbps > best)
                best = modes[i].mbps;
    return best;
}

/* Returns the highest rate that the port supports, in Mb/s; 0 if it is not known. */
static unsigned card_mbps(const char *netdev)
{
    union {
        struct ethtool_link_settings settings;
        /* Its last member has three masks: supported, advertised, those of the other end. */
        unsigned char room[sizeof(struct ethtool_link_settings) + 3 * 127 * sizeof(uint32_t)];
    } link = { .settings = { .cmd = ETHTOOL_GLINKSETTINGS } };
    /* The first call says how many words a mask has. */
    if (!ask(netdev, &link) || link.settings.link_mode_masks_nwords >= 0)
        return 0;
    int words = -link.settings.link_mode_masks_nwords;
    link.settings = (struct ethtool_link_settings){ .cmd = ETHTOOL_GLINKSETTINGS };
    link.settings.link_mode_masks_nwords = (int8_t)words;
    return ask(netdev, &link) ? fastest_mode(link.settings.link_mode_masks, (unsigned)words) : 0;
}

void doctor_check_modes(struct doctor *d)
{
    for (uint32_t i = 0; i < d->node.nic_count && doctor_is_live(d); i++) {
        const struct nuioa_nic *nic = &d->node.nics[i];
        unsigned most = is_ours(d, nic) && nic->rate_mbps ? card_mbps(nic->name) : 0;
        if (most > nic->rate_mbps)
            doctor_report(d, "port-below-card", nic->name,
                          "%s runs at %u Mb/s, the card supports %u.", nic->name, nic->rate_mbps,
                          most);
    }
}
