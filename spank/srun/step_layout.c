/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/srun/step_layout.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spank/common/hosts.h"
#include "spank/common/log.h"
#include "spank/common/slurm_compat.h"

/* Returns the number of names in a file with a name on each line, as srun has read it; what is no
 * such file has none. */
static long count_lines(const char *path)
{
    struct stat st;
    char *line = NULL;
    size_t room = 0;
    long names = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is_list = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size < HOSTS_LIST_MAX;
    FILE *in = is_list ? fdopen(fd, "r") : NULL;
    while (in && getline(&line, &room, in) > 0) {
        line[strcspn(line, "# \t\r\n")] = '\0';
        names += *line ? 1 : 0;
    }
    free(line);
    if (in)
        fclose(in);
    else if (fd >= 0)
        close(fd);
    return names;
}

void step_layout_check(spank_t spank)
{
    const char *distribution = getenv("SLURM_DISTRIBUTION");
    uint32_t ranks;
    if (!distribution || strcmp(distribution, "arbitrary") != 0 ||
        spank_get_item(spank, S_JOB_TOTAL_TASK_COUNT, &ranks) != ESPANK_SUCCESS)
        return;
    char *list = slurm_compat_node_list();
    long names = 0;
    if (list)
        names = strchr(list, '/') ? count_lines(list) : hosts_count(list);
    if (names > (long)ranks)
        log_line("-w names %ld nodes, one for each rank, but this step has %u rank%s: leave out -N "
                 "and -n, which do not go with -m arbitrary",
                 names, ranks, ranks == 1 ? "" : "s");
    free(list);
}
