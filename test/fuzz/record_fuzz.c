/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spank/report/record.h"
#include "spank/report/summary.h"
#include "input.h"

/* The records of the nodes, and the report that srun makes of them. The input is one or more
 * records without a seal, each after a byte of flags and two bytes with its length. With MANY a
 * byte follows: so many nodes have this record, with other numbers of NUMA nodes and other
 * reasons. */

enum { RIGHT_LENGTH = 1, PRINTABLE = 2, MANY = 4, NODES_MAX = 100 };

/* Makes the length of the explanation such that the whole length is right. */
static void make_length(struct wire_record *head, size_t length)
{
    if (length < sizeof(*head))
        return;
    head->nic_count %= 4;
    head->row_count %= 4;
    head->warning_count %= 3;
    size_t fixed = sizeof(*head) + head->nic_count * sizeof(struct wire_nic) +
                   head->row_count * sizeof(struct wire_row) + head->warning_count * 256;
    if (length < fixed)
        head->nic_count = head->row_count = head->warning_count = 0, fixed = sizeof(*head);
    head->text_length = (uint32_t)(length - fixed);
    ((char *)head)[length - 1] = '\0';
}

/* Makes all texts printable, and numbers that have names small: a single wrong one makes the reader
 * refuse a record. */
static void make_text(char *text, size_t size)
{
    text[size - 1] = '\0';
    for (char *c = text; *c; c++)
        *c = (char)(' ' + (unsigned char)*c % 95);
}

static void make_printable(struct wire_record *head)
{
    struct wire_nic *nics = (void *)(head + 1);
    make_text(head->host, sizeof(head->host));
    make_text(head->reason, sizeof(head->reason));
    make_text(head->distances, sizeof(head->distances));
    make_text(head->gpus, sizeof(head->gpus));
    for (uint32_t i = 0; i < head->nic_count; i++) {
        make_text(nics[i].label, sizeof(nics[i].label));
        make_text(nics[i].numas, sizeof(nics[i].numas));
        make_text(nics[i].gpus, sizeof(nics[i].gpus));
        make_text(nics[i].fabric, sizeof(nics[i].fabric));
        nics[i].kind %= NUIOA_NIC_KINDS;
        nics[i].role %= NUIOA_ROLES;
        nics[i].role_source %= NUIOA_ROLE_BY_SITE + 1;
    }
    struct nuioa_report_row *rows = (void *)(nics + head->nic_count);
    for (uint32_t i = 0; i < head->row_count; i++) {
        make_text(rows[i].ranks, sizeof(rows[i].ranks));
        make_text(rows[i].cpus, sizeof(rows[i].cpus));
        make_text(rows[i].numas, sizeof(rows[i].numas));
        make_text(rows[i].memory, sizeof(rows[i].memory));
        make_text(rows[i].gpus, sizeof(rows[i].gpus));
        make_text(rows[i].path, sizeof(rows[i].path));
        make_text(rows[i].nic, sizeof(rows[i].nic));
    }
    char *warnings = (void *)(rows + head->row_count);
    for (uint32_t i = 0; i < head->warning_count; i++)
        make_text(warnings + i * 256, 256);
    if (head->text_length)
        make_text(warnings + head->warning_count * 256, head->text_length);
}

/* Adds one record for the nodes from `node` on, and returns their number. */
static uint32_t add(struct summary *summary, struct input *in, uint32_t node)
{
    uint8_t flags = input_byte(in);
    uint32_t count = flags & MANY ? input_byte(in) : 1;
    size_t length = input_below(in, 65536);
    char *rest = input_block(in, &length);
    struct wire_record *head = calloc(1, sizeof(struct wire_seal) + length);
    struct record record;
    memcpy((char *)head + sizeof(struct wire_seal), rest, length);
    free(rest);
    length += sizeof(struct wire_seal);
    if (flags & RIGHT_LENGTH)
        make_length(head, length);
    if (flags & RIGHT_LENGTH && flags & PRINTABLE && length >= sizeof(*head))
        make_printable(head);
    bool good = !record_read(head, length, &record);
    for (uint32_t i = 0; i < count && node + i < NODES_MAX && good; i++) {
        head->numa_count += i;
        if (i)
            snprintf(head->reason, sizeof(head->reason), "%u", i);
        head->seal.node = node + i;
        summary_add(summary, &record);
    }
    free(head);
    return count;
}

static void say(const char *line)
{
    INPUT_CHECK(strlen(line) < 400);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    struct summary *summary = summary_new();
    if (!summary)
        return 0;
    for (uint32_t node = 0; in.size && node < NODES_MAX;)
        node += add(summary, &in, node);
    char *text = summary_text(summary, true);
    INPUT_HOLDS(text != NULL);
    free(text);
    summary_warnings(summary, say);
    summary_free(summary);
    return 0;
}
