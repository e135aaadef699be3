/* Where the fabric is Ethernet, messages go through the kernel's TCP: its settings count. */

#include <ctype.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "doctor.h"
#include "sysfs.h"

/* The longest wait for an interrupt that goes unmentioned. Drivers' fixed settings are 8 to 100 us,
 * and a message between two nodes takes 10 to 20. */
#define COALESCING_US 25

/* Of a round trip, for buffers: some tens of microseconds on an idle cluster, under load a
 * millisecond and more. */
#define ROUND_TRIP_US 1000

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

/* --- how long interrupts wait, and what the card can do ----------------------------------------- */

/* The kernel names the link modes, "100000baseKR4/Full": no table of ours would know next year's. */
static unsigned fastest_mode(const char *names, unsigned count, const uint32_t *supported)
{
    unsigned best = 0;
    for (unsigned i = 0; i < count; i++) {
        char name[ETH_GSTRING_LEN + 1] = "", *end = name;
        memcpy(name, names + (size_t)i * ETH_GSTRING_LEN, ETH_GSTRING_LEN);
        unsigned long rate = isdigit((unsigned char)name[0]) ? strtoul(name, &end, 10) : 0;
        if ((supported[i / 32] >> i % 32 & 1) && !strncmp(end, "base", 4) && rate > best)
            best = (unsigned)rate;
    }
    return best;
}

/* The most a card's port supports, in Mb/s; 0: it does not say. */
static unsigned card_mbps(const char *netdev)
{
    enum { WORDS = 127, MODES_MAX = WORDS * 32 };
    struct {
        struct ethtool_link_settings settings;
        uint32_t masks[3 * WORDS];
    } link = { .settings = { .cmd = ETHTOOL_GLINKSETTINGS } };
    if (!ask(netdev, &link) || link.settings.link_mode_masks_nwords >= 0)
        return 0;
    /* The first call says how many words a mask has. */
    int words = -link.settings.link_mode_masks_nwords;
    link.settings = (struct ethtool_link_settings){ .cmd = ETHTOOL_GLINKSETTINGS };
    link.settings.link_mode_masks_nwords = (int8_t)words;
    struct ethtool_gstrings *strings =
        calloc(1, sizeof(*strings) + (size_t)MODES_MAX * ETH_GSTRING_LEN);
    unsigned best = 0;
    if (strings) {
        *strings = (struct ethtool_gstrings){ .cmd = ETHTOOL_GSTRINGS,
                                              .string_set = ETH_SS_LINK_MODES };
        strings->len = (uint32_t)words * 32;
        if (ask(netdev, &link) && ask(netdev, strings) && strings->len <= (uint32_t)words * 32)
            best = fastest_mode((const char *)strings->data, strings->len, link.masks);
    }
    free(strings);
    return best;
}

void doctor_check_coalescing(struct doctor *d)
{
    for (uint32_t i = 0; i < d->node.nic_count && doctor_is_live(d); i++) {
        const struct nuioa_nic *nic = &d->node.nics[i];
        struct ethtool_coalesce coalesce = { .cmd = ETHTOOL_GCOALESCE };
        if (!is_ours(d, nic))
            continue;
        if (ask(nic->name, &coalesce) && !coalesce.use_adaptive_rx_coalesce &&
            coalesce.rx_coalesce_usecs > COALESCING_US)
            doctor_report(d, "coalescing", nic->name, "Interrupts of %s wait up to %u us (rx-usecs).",
                          nic->name, coalesce.rx_coalesce_usecs);
    }
}

void doctor_check_modes(struct doctor *d)
{
    for (uint32_t i = 0; i < d->node.nic_count && doctor_is_live(d); i++) {
        const struct nuioa_nic *nic = &d->node.nics[i];
        unsigned most = is_ours(d, nic) && nic->rate_mbps ? card_mbps(nic->name) : 0;
        if (most > nic->rate_mbps)
            doctor_report(d, "port-below-card", nic->name, "%s runs at %u Mb/s, the card supports %u.",
                          nic->name, nic->rate_mbps, most);
    }
}

/* --- buffers ------------------------------------------------------------------------------------ */

/* The last number in a file of /proc/sys/net; 0: none. */
static uint64_t limit(const struct doctor *d, const char *name)
{
    char text[128];
    if (nuioa_sysfs_text(d->top, text, sizeof(text), "proc/sys/net/%s", name) <= 0)
        return 0;
    const char *last = text + strlen(text);
    while (last > text && isdigit((unsigned char)last[-1]))
        last--;
    return strtoull(last, NULL, 10);
}

void doctor_check_tcp(struct doctor *d)
{
    static const struct {
        const char *file, *name, *kind;
        unsigned divisor; /* of a round trip's worth */
    } limits[] = {
        { "ipv4/tcp_rmem", "net.ipv4.tcp_rmem", "tcp-buffers", 1 },
        { "ipv4/tcp_wmem", "net.ipv4.tcp_wmem", "tcp-buffers", 1 },
        { "core/rmem_max", "net.core.rmem_max", "socket-buffers", 4 },
        { "core/wmem_max", "net.core.wmem_max", "socket-buffers", 4 },
    };
    uint64_t rate_mbps = 0;
    for (uint32_t i = 0; i < d->node.nic_count; i++)
        if (is_ours(d, &d->node.nics[i]) && d->node.nics[i].rate_mbps > rate_mbps)
            rate_mbps = d->node.nics[i].rate_mbps;
    for (unsigned i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
        uint64_t bytes = limit(d, limits[i].file);
        uint64_t wanted = rate_mbps * ROUND_TRIP_US / 8 / limits[i].divisor;
        if (bytes && bytes < wanted)
            doctor_report(d, limits[i].kind, limits[i].name, "%s ends at %llu bytes; at %llu Mb/s, "
                          "%u us are %llu.", limits[i].name, (unsigned long long)bytes,
                          (unsigned long long)rate_mbps, ROUND_TRIP_US / limits[i].divisor,
                          (unsigned long long)wanted);
    }
}
