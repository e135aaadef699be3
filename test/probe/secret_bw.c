/* SPDX-License-Identifier: BSD-3-Clause */

/* A benchmark whose rates are a secret matrix: that of the server's NUMA node (row) and the
 * client's (column), which each end finds out itself, by its affinity and its memory policy. An end
 * whose CPUs or memory are anywhere else than on one NUMA node gives a rate that is wrong.
 *
 *     secret_bw NIC [HOST]      the server, without HOST
 *
 * Its directory has the files "matrix.NIC", "port" (written by the server), "count" (a byte for
 * each run), and may have "noise", a number. SECRET_BW names the directory, SECRET_CPUS the CPUs
 * of a NUMA node. Called as ib_write_bw or ib_write_lat it prints what those do. */

#define _GNU_SOURCE

#include <arpa/inet.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <numaif.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *directory;

static FILE *open_file(const char *name, const char *mode)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    return fopen(path, mode);
}

/* Returns the NUMA node that this process is bound to; -1 if it is not bound to exactly one. */
static int own_node(void)
{
    const char *text = getenv("SECRET_CPUS");
    int each = text ? atoi(text) : 4, node = -1, mode = 0, count = 0;
    unsigned long mask[64] = { 0 };
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    if (sched_getaffinity(0, sizeof(cpus), &cpus))
        return -1;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &cpus)) {
            if (node >= 0 && node != cpu / each)
                return -1;
            node = cpu / each;
            count++;
        }
    if (count != each || get_mempolicy(&mode, mask, 64 * 64, NULL, 0) || mode != MPOL_BIND)
        return -1;
    return node >= 0 && mask[0] == 1ul << node ? node : -1;
}

static double secret(const char *nic, int row, int column)
{
    char name[64];
    double value = 0;
    int columns = 0;
    snprintf(name, sizeof(name), "matrix.%s", nic);
    FILE *file = open_file(name, "r");
    if (!file || fscanf(file, "%d", &columns) != 1 || row < 0 || column < 0)
        return 1; /* no rate of the matrix */
    for (int i = 0; i <= row * columns + column; i++)
        if (fscanf(file, "%lf", &value) != 1)
            return 2;
    fclose(file);
    return value;
}

/* Returns a number between 0 and 1 that depends on `seed` alone. */
static double random_of(uint64_t seed)
{
    seed += 0x9e3779b97f4a7c15u;
    seed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9u;
    seed = (seed ^ seed >> 27) * 0x94d049bb133111ebu;
    return (double)((seed ^ seed >> 31) >> 11) / 9007199254740992.0;
}

/* Normal noise, that of the next run (G. Box, M. Muller, 1958). */
static double noise(void)
{
    double share = 0, seed = 0;
    char path[512];
    struct stat st = { 0 };
    FILE *file = open_file("noise", "r");
    if (!file)
        return 1;
    if (fscanf(file, "%lf %lf", &share, &seed) < 1)
        share = 0;
    fclose(file);
    snprintf(path, sizeof(path), "%s/count", directory);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (fd < 0 || write(fd, "x", 1) != 1 || fstat(fd, &st))
        return 1;
    uint64_t at = (uint64_t)(seed * 1000003) + 2 * (uint64_t)st.st_size;
    double normal = sqrt(-2 * log(random_of(at) + 1e-300)) * cos(2 * M_PI * random_of(at + 1));
    return 1 + share * normal;
}

static int serve(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM, 0), node = own_node();
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) ||
        getsockname(fd, (struct sockaddr *)&address, &size))
        return 1;
    FILE *port = open_file("port", "w");
    if (!port)
        return 1;
    fprintf(port, "%d\n", ntohs(address.sin_port));
    fclose(port);
    if (listen(fd, 1))
        return 1;
    int client = accept(fd, NULL, NULL);
    return write(client, &node, sizeof(node)) != sizeof(node);
}

static int ask_server(const char *host)
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    int fd = socket(AF_INET, SOCK_STREAM, 0), node = -1, number = 0;
    FILE *port = open_file("port", "r");
    if (!port || fscanf(port, "%d", &number) != 1 ||
        inet_pton(AF_INET, host, &address.sin_addr) != 1)
        return -1;
    address.sin_port = htons((uint16_t)number);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) ||
        read(fd, &node, sizeof(node)) != sizeof(node))
        return -1;
    return node;
}

int main(int argc, char **argv)
{
    const char *nic = argc > 1 ? argv[1] : "", *host = argc > 2 ? argv[2] : NULL;
    const char *as = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
    bool perftest = !strncmp(as, "ib_", 3);
    directory = getenv("SECRET_BW");
    if (!directory)
        return 1;
    if (perftest) {
        int option;
        while ((option = getopt(argc, argv, "d:i:p:Fs:n:-:")) > 0)
            if (option == 'd')
                nic = optarg;
            else if (option == '?')
                return 1;
        host = argv[optind];
    }
    if (!host)
        return serve();
    int server = ask_server(host), client = own_node();
    double rate = secret(nic, server, client) * noise();
    if (perftest && strstr(as, "_lat"))
        printf(" #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]\n"
               " 8       2000          0.90           3.00         %.3f     \t       1.00 \t 0.1\n",
               rate / 1000);
    else if (perftest)
        printf(" #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
               " 1048576    1000             99.99              %.6f \t\t   0.001\n",
               rate / 125);
    else
        printf("rate: %.3f MB/s\n", rate);
    return 0;
}
