/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "dump.h"
#include "machine.h"
#include "topology/nic_hint.h"
#include "topology/route.h"
#include "util/sysfs.h"

/* The files of a machine hint at the roles of its NICs. Numbers in proc/net/route are those of
 * addresses in the order of the network, as the machine reads them. */

#define HEAD "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\n"

static uint32_t address(const char *text)
{
    struct in_addr a;
    assert_int_equal(inet_pton(AF_INET, text, &a), 1);
    return a.s_addr;
}

/* Adds a route to the text of the file. */
static void add_route(char *text, const char *netdev, const char *to, const char *mask,
                      unsigned metric)
{
    sprintf(text + strlen(text), "%s\t%08X\t00000000\t0001\t0\t0\t%u\t%08X\t0\t0\t0   \n", netdev,
            address(to), metric, address(mask));
}

/* eth0 has the default route and 10.0.0.0/16, ib0 10.1.0.0/16, ib1 10.2.0.0/16; ib2 and ib3 are
 * both in 10.3.0.0/16. */
static void routes_file(char *text)
{
    strcpy(text, HEAD);
    add_route(text, "eth0", "0.0.0.0", "0.0.0.0", 100);
    add_route(text, "eth0", "10.0.0.0", "255.255.0.0", 100);
    add_route(text, "ib0", "10.1.0.0", "255.255.0.0", 150);
    add_route(text, "ib1", "10.2.0.0", "255.255.0.0", 150);
    add_route(text, "ib3", "10.3.0.0", "255.255.0.0", 151);
    add_route(text, "ib2", "10.3.0.0", "255.255.0.0", 150);
}

static const char *netdev_of(const struct nuioa_routes *routes, const char *to)
{
    const struct nuioa_route *route = nuioa_route_to(routes, address(to));
    return route ? route->netdev : "";
}

static void routes(void **state)
{
    (void)state;
    struct dump dump;
    struct nuioa_routes all;
    char text[2048];
    routes_file(text);
    dump_make(&dump);
    dump_file(&dump, "proc/net/route", text);
    nuioa_routes_read(&all, dump.path);
    assert_int_equal(all.count, 6);
    assert_string_equal(netdev_of(&all, "10.1.2.3"), "ib0");
    assert_string_equal(netdev_of(&all, "10.3.2.3"), "ib2"); /* the lower metric */
    assert_string_equal(netdev_of(&all, "192.168.0.1"), "eth0");
    assert_true(nuioa_route_is_only(&all, nuioa_route_to(&all, address("10.1.2.3"))));
    assert_false(nuioa_route_is_only(&all, nuioa_route_to(&all, address("10.3.2.3"))));
    nuioa_routes_free(&all);
    /* one that is refused, one that is down, others that are none, and no end of the line */
    strcpy(text, HEAD "lo 0000000A 00000000 0201 0 0 0 000000FF 0 0 0\n"
                      "a 0000000A 00000000 0000 0 0 0 000000FF 0 0 0\n"
                      "b 0000000A 00000000 0001 0 0 x 000000FF 0 0 0\n"
                      "c 1000000000A 00000000 0001 0 0 0 000000FF 0 0 0\n"
                      "d 000000-A 00000000 0001 0 0 0 000000FF 0 0 0\n"
                      "e 0000000A 00000000 0001\n\n"
                      "f 0000000A 00000000 0001 0 0 0 000000FF");
    dump_file(&dump, "proc/net/route", text);
    nuioa_routes_read(&all, dump.path);
    assert_int_equal(all.count, 1);
    assert_string_equal(all.route[0].netdev, "f");
    nuioa_routes_free(&all);
    dump_remove(&dump);
    nuioa_routes_read(&all, dump.path);
    assert_int_equal(all.count, 0);
    assert_null(nuioa_route_to(&all, address("10.1.2.3")));
}

/* More than is read: the line that is cut counts no more. Its mask would be another one. */
static void long_file(void **state)
{
    (void)state;
    struct dump dump;
    struct nuioa_routes all;
    enum { LINES = 5000, LENGTH = 77, READ = 256 << 10 };
    char *text = calloc(LINES + 1, LENGTH), *end = text;
    assert_in_range(READ % LENGTH, 33, 38);
    for (unsigned i = 0; i < LINES; i++)
        end += sprintf(end, "x 00000000 00000000 0001 0 0 0 FFFFFFFF %*s\n", LENGTH - 41, "0 0 0");
    assert_int_equal(end - text, LINES * LENGTH);
    dump_make(&dump);
    dump_file(&dump, "proc/net/route", text);
    nuioa_routes_read(&all, dump.path);
    assert_int_equal(all.count, READ / LENGTH);
    assert_int_equal(all.route[all.count - 1].mask, UINT32_MAX);
    nuioa_routes_free(&all);
    dump_remove(&dump);
    free(text);
}

/* The kernel hands out such a file a page at a time. */
static void file_of_the_kernel(void **state)
{
    (void)state;
    char *text = nuioa_sysfs_lines(AT_FDCWD, 1 << 20, "/proc/self/%s", "maps");
    assert_non_null(text);
    assert_true(strlen(text) > (size_t)sysconf(_SC_PAGESIZE));
    assert_int_equal(text[strlen(text) - 1], '\n');
    free(text);
}

/* Writes the hints of the NICs, a letter or a point for each: r the default route, m a file system,
 * a the address of the host's name. */
static void hints(const char *mounts, const char *hosts, const char *wanted)
{
    static const char *const netdevs[] = { "eth0", "ib0", "ib1", "ib2", "ib3" };
    struct dump dump;
    struct nuioa_node node;
    char text[2048], got[64] = "";
    routes_file(text);
    dump_make(&dump);
    dump_file(&dump, "proc/net/route", text);
    dump_file(&dump, "proc/self/mounts", mounts);
    dump_file(&dump, "etc/hosts", hosts);
    machine_build(&node, &(struct shape){ 2, 4, 1, 1, NULL });
    for (unsigned i = 0; i < 5; i++)
        nuioa_copy(machine_nic(&node, "mlx5", 0)->netdev, sizeof(node.nics->netdev), netdevs[i]);
    machine_gpu(&node, 0);
    nuioa_nic_hints_read(&node, NULL, dump.path);
    for (unsigned i = 0; i < 5; i++) {
        uint32_t h = node.nics[i].hints;
        sprintf(got + strlen(got), "%s%s%s%s ", h & NUIOA_HINT_ROUTE ? "r" : "",
                h & NUIOA_HINT_MOUNT ? "m" : "", h & NUIOA_HINT_ADDRESS ? "a" : "", h ? "" : ".");
    }
    assert_string_equal(got, wanted);
    nuioa_node_free(&node);
    dump_remove(&dump);
}

static void mounts(void **state)
{
    (void)state;
    hints("", "", "r . . . . ");
    hints("proc /proc proc rw,nosuid 0 0\n"
          "/dev/sda1 / ext4 rw,relatime 0 0\n"
          "home.cluster:/home /home nfs4 rw,vers=4.2,clientaddr=10.2.0.5,addr=10.1.0.9 0 0\n",
          "", "r m . . . ");
    hints("10.2.0.9@o2ib,10.2.0.10@o2ib:/fs /scratch lustre rw,flock 0 0\n", "", "r . m . . ");
    hints("10.3.0.9:6789,10.3.0.10:6789:/ /data ceph rw 0 0", "", "r . . m . ");
    hints("//10.1.0.9/share /share cifs rw,addr=10.1.0.9 0 0\n"
          "x:/y /y nfs rw,addr=172.16.0.1 0 0\n",
          "", "rm m . . . ");
    /* not from elsewhere, not by IPv4, not a whole address, not by root */
    hints("localhost:/a /a nfs rw,addr=127.0.0.1 0 0\n"
          "b:/b /b nfs rw,addr=fd00::9 0 0\n"
          "10.1.0.9/b /c overlay rw 0 0\n"
          "10.1.0.9 /d tmpfs rw 0 0\n"
          "10.1.0.900:/ /e nfs rw 0 0\n"
          "10.1.0.9:/f /f fuse.sshfs rw 0 0\n"
          "g:/g /g nfs rw,myaddr=10.1.0.9,addr= 0 0\n"
          "10.1.0.9:/h\n",
          "", "r . . . . ");
}

static void names(void **state)
{
    (void)state;
    hints("", "127.0.0.1 localhost\n127.0.1.1 machine\n10.2.0.5\tmachine.cluster machine\n",
          "r . a . . ");
    hints("", "10.2.0.6 machine2\n# 10.2.0.5 machine\n10.1.0.5 x machine # a name\n", "r a . . . ");
    hints("", "10.2.0.5 machine\n10.1.0.5 machine\n", "r . a . . "); /* the first one */
    hints("", "10.3.0.5 machine\n", "r . . . . ");                   /* two are in its network */
    hints("", "192.168.0.5 machine\n", "r . . . . "); /* by the default route: not its own */
    hints("", "machine\nfd00::5 machine\n10.1.0.5 other#machine\n", "r . . . . ");
}

/* Where no GPU is, nothing is read; and what is not there is no hint. */
static void nothing(void **state)
{
    (void)state;
    struct dump dump;
    struct nuioa_node node;
    char text[2048];
    routes_file(text);
    dump_make(&dump);
    machine_build(&node, &(struct shape){ 2, 4, 1, 1, NULL });
    nuioa_copy(machine_nic(&node, "mlx5", 0)->netdev, sizeof(node.nics->netdev), "eth0");
    machine_gpu(&node, 0);
    nuioa_nic_hints_read(&node, NULL, dump.path);
    assert_int_equal(node.nics[0].hints, 0);
    dump_file(&dump, "proc/net/route", text);
    nuioa_nic_hints_read(&node, NULL, dump.path);
    assert_int_equal(node.nics[0].hints, NUIOA_HINT_ROUTE);
    nuioa_nic_hints_read(&node, NULL, NULL);
    assert_int_equal(node.nics[0].hints, 0);
    node.gpu_count = 0;
    nuioa_nic_hints_read(&node, NULL, dump.path);
    assert_int_equal(node.nics[0].hints, 0);
    node.gpu_count = 1;
    nuioa_node_free(&node);
    dump_remove(&dump);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(routes), cmocka_unit_test(long_file), cmocka_unit_test(file_of_the_kernel),
        cmocka_unit_test(mounts), cmocka_unit_test(names),     cmocka_unit_test(nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
