/* SPDX-License-Identifier: BSD-3-Clause */

/* The first byte says what was typed: --launcher, --local-rank, --local-size, --ranks as a list or
 * block. If there is a list, it is the first line. The others are the environment of a process. */

#include <errno.h>
#include <stdlib.h>

#include "input.h"
#include "output/user_variables.h"
#include "tools/exec/launcher.h"

/* Checks what launcher_find promises. */
static void check_place(const struct launcher_place *place, int rc)
{
    INPUT_CHECK(rc == 0 || rc == -EINVAL || rc == -ENOENT);
    if (rc)
        return;
    INPUT_CHECK(place->local < place->count && place->count <= LAUNCHER_TASKS_MAX);
    INPUT_CHECK(!place->ranks || place->ranks[place->local] == place->rank);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { VARIABLES_MAX = 12 };
    struct input input = { data, size };
    struct launcher_place place;
    struct nuioa_error err = { "" };
    char *environment[VARIABLES_MAX + 1] = { NULL };
    uint8_t typed = input_byte(&input);
    char *list = typed & 8 ? input_line(&input) : NULL;
    const struct launcher_request given = {
        .launcher = typed & 1 ? launcher_table[(typed >> 4) % 11].name : NULL,
        .local_rank = typed & 2 ? typed >> 5 : UINT32_MAX,
        .local_size = typed & 4 ? 1 + (typed >> 5) : UINT32_MAX,
        .ranks = list         ? list
                 : typed & 16 ? "block"
                              : NULL,
    };
    for (unsigned i = 0; i < VARIABLES_MAX && input.size; i++)
        environment[i] = input_line(&input);
    check_place(&place, launcher_find(&given, environment, &place, &err));
    nuioa_omp_threads(environment);
    launcher_place_free(&place);
    free(list);
    for (unsigned i = 0; i < VARIABLES_MAX; i++)
        free(environment[i]);
    return 0;
}
