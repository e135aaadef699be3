/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "input.h"
#include "mpi/coll/table.h"

/* The table of algorithms, a file of the user's that each rank reads. The input is the file. */

static struct coll_table table, narrow;

static void choose(int nodes, int most)
{
    static const uint64_t sizes[] = { 0, 1, 65536, UINT32_MAX, UINT64_MAX };
    coll_table_narrow(&narrow, &table, nodes, most);
    INPUT_CHECK(narrow.row_count <= table.row_count);
    for (unsigned k = 0; k < sizeof(sizes) / sizeof(*sizes); k++) {
        const struct coll_algorithm *found = coll_table_choose(&narrow, sizes[k]);
        INPUT_CHECK(!found || (found->inter < SHAPE_COUNT && found->intra < SHAPE_COUNT));
        INPUT_CHECK(!found || found->pass || sizes[k] >= coll_table_least(&table));
    }
}

/* The same text as the value of NUIOA_COLL_ALGORITHM has it. */
static void read_algorithm(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    struct coll_algorithm algorithm;
    char *text = input_line(&in);
    coll_algorithm_parse(text, &algorithm);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char why[128] = "", head[] = "== t\n";
    uint8_t *file = malloc(size + sizeof(head));
    INPUT_CHECK(file != NULL);
    memcpy(file, head, sizeof(head) - 1);
    if (size)
        memcpy(file + sizeof(head) - 1, data, size);
    coll_table_default(&table);
    files_open(file, size + sizeof(head) - 1);
    int rc = coll_table_read(&table, "t", why, sizeof(why));
    INPUT_CHECK(table.row_count <= COLL_ROW_MAX && (rc == 0 || *why));
    INPUT_CHECK(coll_table_read(&table, "other", why, sizeof(why)) < 0);
    files_close();
    choose(2, 8);
    choose(1000, 128);
    read_algorithm(data, size);
    free(file);
    return 0;
}
