/* SPDX-License-Identifier: BSD-3-Clause */
#include <pmix.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmix/client/nuioa-client.h"

/* A program for tests. Each rank asks the real libpmix for every key that nuioa publishes, with
 * PMIX_OPTIONAL and before any fence: for the wildcard rank, for itself, and for the other ranks in
 * the arguments. It prints "RANK KEY=VALUE", or "RANK KEY@OTHER=VALUE" for the key of another rank,
 * and nothing for a key that is absent. Then it prints the answers of libnuioa-client. Usage: keys
 * [OTHER]... */

static void print_array(FILE *out, const pmix_data_array_t *array)
{
    for (size_t i = 0; i < array->size; i++) {
        if (array->type == PMIX_PROC_RANK) {
            fprintf(out, "%s%u", i ? "," : "", ((pmix_rank_t *)array->array)[i]);
        } else if (array->type == PMIX_DEVICE_DIST) {
            const pmix_device_distance_t *d = (pmix_device_distance_t *)array->array + i;
            fprintf(out, "%s%s=%s:%u-%u", i ? "," : "", d->osname, d->uuid, d->mindist, d->maxdist);
        } else {
            fprintf(out, "array of type %u", array->type);
            return;
        }
    }
}

static void print_value(FILE *out, const pmix_value_t *value)
{
    switch (value->type) {
    case PMIX_UINT32: fprintf(out, "%u", value->data.uint32); break;
    case PMIX_UINT16: fprintf(out, "%u", value->data.uint16); break;
    case PMIX_PROC_RANK: fprintf(out, "%u", value->data.rank); break;
    case PMIX_DOUBLE: fprintf(out, "%g", value->data.dval); break;
    case PMIX_BOOL: fprintf(out, "%s", value->data.flag ? "true" : "false"); break;
    case PMIX_STRING: fprintf(out, "%s", value->data.string); break;
    case PMIX_DATA_ARRAY: print_array(out, value->data.darray); break;
    default: fprintf(out, "type %u", value->type); break;
    }
}

static void ask(FILE *out, const pmix_proc_t *self, pmix_rank_t rank, const char *key)
{
    pmix_proc_t proc = *self;
    pmix_value_t *value = NULL;
    pmix_info_t optional;
    bool yes = true;
    proc.rank = rank;
    PMIX_INFO_LOAD(&optional, PMIX_OPTIONAL, &yes, PMIX_BOOL);
    if (PMIx_Get(&proc, key, &optional, 1, &value) == PMIX_SUCCESS && value) {
        fprintf(out, "%u %s", self->rank, key);
        if (rank != self->rank && rank != PMIX_RANK_WILDCARD)
            fprintf(out, "@%u", rank);
        fputc('=', out);
        print_value(out, value);
        fputc('\n', out);
        PMIX_VALUE_RELEASE(value);
    }
    PMIX_INFO_DESTRUCT(&optional);
}

static void print_client(FILE *out, pmix_rank_t self)
{
    struct nuioa_client *client = nuioa_client_open();
    uint32_t leader;
    const uint32_t *ranks;
    fprintf(out, "%u client.source=%d\n", self, nuioa_client_source(client));
    if (!nuioa_client_leader(client, &leader))
        fprintf(out, "%u client.leader=%u\n", self, leader);
    fprintf(out, "%u client.order=%zu\n", self, nuioa_client_order(client, &ranks));
    fprintf(out, "%u client.nic=%s\n", self,
            nuioa_client_nic(client) ? nuioa_client_nic(client) : "");
    fprintf(out, "%u client.nics=%s\n", self,
            nuioa_client_nics(client) ? nuioa_client_nics(client) : "");
    fprintf(out, "%u client.gpus=%s\n", self,
            nuioa_client_gpus(client) ? nuioa_client_gpus(client) : "");
    fprintf(out, "%u client.level=%d\n", self, nuioa_client_level(client));
    fprintf(out, "%u client.cpus=%s\n", self,
            nuioa_client_cpus(client) ? nuioa_client_cpus(client) : "");
    nuioa_client_close(client);
}

int main(int argc, char **argv)
{
    static const char *const node_keys[] = {
        "nuioa.version",      "nuioa.leader",  "nuioa.order", "nuioa.near",
        "nuioa.rail_leaders", "nuioa.planned", NULL
    };
    static const char *const rank_keys[] = { "nuioa.nic",
                                             "nuioa.nics",
                                             "nuioa.gpus",
                                             "nuioa.level",
                                             "nuioa.weight",
                                             "nuioa.cpus",
                                             "nuioa.comm_cpus",
                                             PMIX_CPUSET,
                                             "nuioa.gpu_nics",
                                             PMIX_LOCALITY_STRING,
                                             PMIX_PACKAGE_RANK,
                                             PMIX_DEVICE_DISTANCES,
                                             NULL };
    pmix_proc_t self;
    char *text = NULL;
    size_t size;
    pmix_status_t status = PMIx_Init(&self, NULL, 0);
    if (status != PMIX_SUCCESS) {
        fprintf(stderr, "keys: PMIx_Init: %d\n", status);
        return 1;
    }
    FILE *out = open_memstream(&text, &size);
    const char *node = getenv("SLURMD_NODENAME");
    fprintf(out, "%u HOST=%s\n", self.rank, node ? node : "");
    for (const char *const *key = node_keys; *key; key++)
        ask(out, &self, PMIX_RANK_WILDCARD, *key);
    for (const char *const *key = rank_keys; *key; key++)
        ask(out, &self, self.rank, *key);
    for (int i = 1; i < argc; i++)
        for (const char *const *key = rank_keys; *key; key++)
            if ((pmix_rank_t)atoi(argv[i]) != self.rank)
                ask(out, &self, (pmix_rank_t)atoi(argv[i]), *key);
    print_client(out, self.rank);
    fclose(out);
    fputs(text, stdout); /* in one piece, so that lines of ranks do not mix */
    fflush(stdout);
    PMIx_Finalize(NULL, 0);
    return 0;
}
