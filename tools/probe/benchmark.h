/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NUIOA_TOOL_PROBE_BENCHMARK_H
#define NUIOA_TOOL_PROBE_BENCHMARK_H

#include <regex.h>
#include <stdbool.h>

#include "topology/nic.h"
#include "util/error.h"

/* Benchmarks of networks that a site may have: how each is called, and where its output has the
 * number. All of them are started twice, as a server and as a client that gets the server's
 * name. */

/* What a number tells of a NIC: at which rate the card writes into memory, at which rate it reads
 * from memory, and how long a message takes. */
enum probe_quantity { PROBE_WRITE, PROBE_READ, PROBE_LATENCY, PROBE_QUANTITIES };

/* One benchmark. Its texts are constants, or those of the command line. */
struct probe_benchmark {
    /* Words with blanks between them. A word may hold {nic} {ibport} {cxi} {provider} {domain}
     * {port} {host} {gpu}; a word with one of them that has no value is left out, as {host} has
     * none for the server. */
    const char *command;
    const char *variables; /* words NAME=VALUE for its environment, the same way; or NULL */
    const char *number;    /* extended regular expression; its last group is the number */
    double factor;         /* from the number to MB/s (10^6 bytes), or to nanoseconds */
    bool is_latency;       /* it tells PROBE_LATENCY; else the other two */
    bool from_server;      /* data goes from the server to the client; else the other way */
    unsigned kinds;        /* the kinds of NIC that it works with: a bit for each */
};

/* What is put in place of the words in braces; "" or negative: without value. */
struct probe_words {
    const struct nuioa_nic *nic;
    const char *host;
    unsigned port; /* TCP port of the server; 0: without value */
    int gpu;       /* in PCI order among those of its vendor; -1: memory of the host */
};

/* Finds the benchmark for a NIC and a quantity: the first of the table that fits the kind of NIC
 * and that is on PATH; or the one whose program is `name`, if that is not NULL. Returns NULL if
 * there is none. */
const struct probe_benchmark *probe_benchmark_find(const struct nuioa_nic *nic,
                                                   enum probe_quantity quantity, const char *name);

/* Returns true if some benchmark of the table has this program. */
bool probe_benchmark_known(const char *name);

/* Writes the names of the programs that tell rates of that kind of NIC to `text`, with blanks
 * between them, "" if none does; or, if `kind` is NUIOA_NIC_KINDS, of all. Returns `text`. */
const char *probe_benchmark_names(enum nuioa_nic_kind kind, char *text, size_t size);

/* Writes the name of the program to `text`. Returns `text`. */
const char *probe_benchmark_name(const struct probe_benchmark *benchmark, char *text, size_t size);

/* Splits `text` into words and puts values in place of what is in braces. Returns an array of words
 * that ends with NULL, one block of memory that the caller frees with free(); or NULL if memory is
 * short. */
char **probe_benchmark_words(const char *text, const struct probe_words *values);

/* Checks a benchmark of the command line: {host} is in it, and the expression is one. Returns 0, or
 * -EINVAL with *err. */
int probe_benchmark_check(const struct probe_benchmark *benchmark, struct nuioa_error *err);

/* Takes the number out of what the client printed, and converts it. The expression must match once
 * with a number above 0 in its last group. Returns how often it does, at most 2; *number is set if
 * that is 1. */
int probe_benchmark_number(const struct probe_benchmark *benchmark, const char *output,
                           double *number);

#endif
