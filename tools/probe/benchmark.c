/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/probe/benchmark.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/number.h"
#include "util/word.h"

#define BIT(kind) (1u << NUIOA_NIC_##kind)
#define VERBS (BIT(INFINIBAND) | BIT(ROCE) | BIT(OMNIPATH) | BIT(OTHER))

/* Columns of numbers. */
#define B "[[:blank:]]"
#define N B "+[0-9.]+"
#define LINE "^" B "*[0-9]+" N
#define END B "*$"

/* The options are documented there:
 *   ib_*          perftest(1) of github.com/linux-rdma/perftest, man/perftest.1; 6.06 was tried
 *   cxi_write_bw  cxi_write_bw(1) 2.4 of the CXI Diagnostics and Utilities
 *   ucx_perftest  ucx_perftest -h, and openucx.readthedocs.io for UCX_TLS and UCX_NET_DEVICES
 *   fi_rma_bw     fabtests(7) of github.com/ofiwg/libfabric, fabtests/man/fabtests.7.md
 * Messages are of 1 MiB: large enough for the full rate, small enough for 8 MB of locked memory.
 * perftest means 10^9 bits by Gb, libfabric and cxi 10^6 bytes by MB, UCX 2^20 bytes. With write
 * both ends of fi_rma_bw would write at once; with writedata the client alone does, which
 * Slingshot's provider of libfabric lacks. */
static const struct probe_benchmark table[] = {
    { "ib_write_bw -d {nic} -i {ibport} -p {port} -F -s 1048576 -n 1000 --report_gbits "
      "--use_cuda={gpu} {host}",
      "CUDA_DEVICE_ORDER=PCI_BUS_ID", LINE N "(" N ")" N END, 125, false, false, VERBS },
    { "ib_read_bw -d {nic} -i {ibport} -p {port} -F -s 1048576 -n 1000 --report_gbits "
      "--use_cuda={gpu} {host}",
      "CUDA_DEVICE_ORDER=PCI_BUS_ID", LINE N "(" N ")" N END, 125, false, true, VERBS },
    { "cxi_write_bw -d {cxi} -p {port} -s 1048576 -n 100 {host}", NULL, LINE "(" N ")" N END, 1,
      false, false, BIT(SLINGSHOT) },
    { "ucx_perftest -t ucp_put_bw -s 1048576 -n 1000 -w 100 -f -p {port} {host}",
      "UCX_NET_DEVICES={nic}:{ibport} UCX_TLS=ib", "^" B "*[0-9]+" N N N N "(" N ")" N N END,
      1.048576, false, false, VERBS },
    { "fi_rma_bw -p {provider} -d {domain} -o writedata -S 1048576 -I 1000 -b={port} {host}", NULL,
      "^[0-9]+[kmg]?" B "+[0-9]+[kmg]?" B "+[0-9]+[kmg]?" N "s(" N ")", 1, false, false,
      VERBS | BIT(EFA) },
    { "ib_write_lat -d {nic} -i {ibport} -p {port} -F -s 8 -n 2000 {host}", NULL,
      LINE N N "(" N ")" N, 1000, true, false, VERBS },
};
enum { ROWS = sizeof(table) / sizeof(table[0]) };

static bool is_on_path(const char *program)
{
    char path[PATH_MAX];
    const char *rest = getenv("PATH");
    while (rest && *rest) {
        size_t length = strcspn(rest, ":");
        int got = snprintf(path, sizeof(path), "%.*s/%s", (int)length, rest, program);
        if (got > 0 && (size_t)got < sizeof(path) && !access(path, X_OK))
            return true;
        rest += length + (rest[length] == ':');
    }
    return false;
}

const char *probe_benchmark_name(const struct probe_benchmark *benchmark, char *text, size_t size)
{
    const char *from = benchmark->command + strspn(benchmark->command, " \t");
    snprintf(text, size, "%.*s", (int)strcspn(from, " \t"), from);
    const char *slash = strrchr(text, '/');
    if (slash)
        memmove(text, slash + 1, strlen(slash));
    return text;
}

const struct probe_benchmark *probe_benchmark_find(const struct nuioa_nic *nic,
                                                   enum probe_quantity quantity, const char *name)
{
    char program[64];
    for (unsigned i = 0; i < ROWS; i++) {
        probe_benchmark_name(&table[i], program, sizeof(program));
        if (table[i].is_latency != (quantity == PROBE_LATENCY))
            continue;
        if (name ? !strcmp(name, program)
                 : (table[i].kinds >> nic->kind & 1) && is_on_path(program))
            return &table[i];
    }
    return NULL;
}

bool probe_benchmark_known(const char *name)
{
    char program[64];
    for (unsigned i = 0; i < ROWS; i++)
        if (!strcmp(name, probe_benchmark_name(&table[i], program, sizeof(program))))
            return true;
    return false;
}

const char *probe_benchmark_names(enum nuioa_nic_kind kind, char *text, size_t size)
{
    char program[64];
    *text = '\0';
    for (unsigned i = 0; i < ROWS; i++) {
        size_t length = strlen(text);
        if (kind == NUIOA_NIC_KINDS || (table[i].kinds >> kind & 1 && !table[i].is_latency))
            snprintf(text + length, size - length, "%s%s", length ? " " : "",
                     probe_benchmark_name(&table[i], program, sizeof(program)));
    }
    return text;
}

/* --- words ------------------------------------------------------------------------------------ */

static const char *provider_of(enum nuioa_nic_kind kind)
{
    return kind == NUIOA_NIC_EFA         ? "efa"
           : kind == NUIOA_NIC_SLINGSHOT ? "cxi"
           : kind == NUIOA_NIC_OMNIPATH  ? "opx"
                                         : "verbs";
}

/* Writes the value of a name in braces to `text`. Returns false if there is no such name. */
static bool value_of(const struct probe_words *values, const char *name, char *text, size_t size)
{
    const struct nuioa_nic *nic = values->nic;
    *text = '\0';
    if (!strcmp(name, "nic"))
        snprintf(text, size, "%s", nic->name);
    else if (!strcmp(name, "ibport"))
        snprintf(text, size, "%u", nic->port ? nic->port : 1);
    else if (!strcmp(name, "cxi") || (!strcmp(name, "domain") && nic->kind == NUIOA_NIC_SLINGSHOT))
        snprintf(text, size, "%s", *nic->cxi ? nic->cxi : nic->name);
    else if (!strcmp(name, "domain"))
        snprintf(text, size, "%s%s", nic->name, nic->kind == NUIOA_NIC_EFA ? "-rdm" : "");
    else if (!strcmp(name, "provider"))
        snprintf(text, size, "%s", provider_of(nic->kind));
    else if (!strcmp(name, "host"))
        snprintf(text, size, "%s", values->host);
    else if (!strcmp(name, "port") && values->port)
        snprintf(text, size, "%u", values->port);
    else if (!strcmp(name, "gpu") && values->gpu >= 0)
        snprintf(text, size, "%d", values->gpu);
    else
        return !strcmp(name, "port") || !strcmp(name, "gpu");
    return true;
}

/* Appends a word with its values to `out`. Returns false if one of them is missing. */
static bool put_word(const char *word, const struct probe_words *values, char *out, size_t size)
{
    size_t length = 0;
    while (*word && length + 1 < size) {
        char name[16], value[256];
        size_t end = strcspn(word, "}");
        if (*word == '{' && word[end] && end - 1 < sizeof(name)) {
            snprintf(name, sizeof(name), "%.*s", (int)(end - 1), word + 1);
            if (value_of(values, name, value, sizeof(value))) {
                if (!*value)
                    return false;
                length += (size_t)snprintf(out + length, size - length, "%s", value);
                word += end + 1;
                continue;
            }
        }
        out[length++] = *word++;
    }
    out[length < size ? length : size - 1] = '\0';
    return true;
}

char **probe_benchmark_words(const char *text, const struct probe_words *values)
{
    enum { WORD_BYTES = 512 };
    size_t most = strlen(text) / 2 + 2;
    char **words = calloc(1, most * (sizeof(*words) + WORD_BYTES));
    char *copy = strdup(text), *rest = copy;
    if (!words || !copy) {
        free(words);
        free(copy);
        return NULL;
    }
    char *place = (char *)(words + most);
    size_t count = 0;
    for (char *word; (word = nuioa_next_word(&rest, " \t"));)
        if (put_word(word, values, place, WORD_BYTES)) {
            words[count++] = place;
            place += WORD_BYTES;
        }
    free(copy);
    return words;
}

/* --- the number ------------------------------------------------------------------------------- */

int probe_benchmark_check(const struct probe_benchmark *benchmark, struct nuioa_error *err)
{
    regex_t expression;
    char why[128];
    if (!strstr(benchmark->command, "{host}"))
        return nuioa_fail(err, -EINVAL,
                          "--tool: '%.80s' lacks {host}, in whose place the client gets the "
                          "server's name",
                          benchmark->command);
    int rc = regcomp(&expression, benchmark->number, REG_EXTENDED | REG_NEWLINE);
    if (rc) {
        regerror(rc, &expression, why, sizeof(why));
        return nuioa_fail(err, -EINVAL, "--number: '%.80s' is no extended regular expression: %s",
                          benchmark->number, why);
    }
    regfree(&expression);
    return 0;
}

int probe_benchmark_number(const struct probe_benchmark *benchmark, const char *output,
                           double *number)
{
    enum { GROUPS = 10 };
    regex_t expression;
    regmatch_t match[GROUPS];
    int found = 0;
    if (regcomp(&expression, benchmark->number, REG_EXTENDED | REG_NEWLINE))
        return 0;
    size_t group = expression.re_nsub < GROUPS ? expression.re_nsub : GROUPS - 1;
    for (int flags = 0; found < 2 && !regexec(&expression, output, GROUPS, match, flags);) {
        char text[64];
        const char *from = output + match[group].rm_so;
        int length = (int)(match[group].rm_eo - match[group].rm_so);
        while (match[group].rm_so >= 0 && length > 0 && isblank((unsigned char)*from))
            from++, length--;
        double value;
        snprintf(text, sizeof(text), "%.*s", match[group].rm_so < 0 ? 0 : length, from);
        if (!nuioa_parse_decimal(text, &value) && value > 0) {
            found++;
            *number = value * benchmark->factor;
        }
        output += match[0].rm_eo > 0 ? match[0].rm_eo : 1;
        flags = output[-1] == '\n' ? 0 : REG_NOTBOL;
        if (!*output)
            break;
    }
    regfree(&expression);
    return found;
}
