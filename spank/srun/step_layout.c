/* SPDX-License-Identifier: BSD-3-Clause */
#include "spank/srun/step_layout.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "layout/host_list.h"
#include "layout/order.h"
#include "option/option_environment.h"
#include "output/user_variables.h"
#include "spank/common/log.h"
#include "spank/common/slurm_compat.h"
#include "spank/common/step.h"
#include "util/text.h"

#define FILE_BYTES_MAX (4 << 20)

/* Returns the names in a file with names on each line, as srun has read it: "n1,n2,n2", which the
 * caller frees. NULL: it is no such file, or there is no memory. */
static char *read_lines(const char *path)
{
    struct stat st;
    char *line = NULL, *text = NULL;
    size_t room = 0, length = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool is_list = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size < FILE_BYTES_MAX;
    FILE *in = is_list ? fdopen(fd, "r") : NULL, *out = in ? open_memstream(&text, &length) : NULL;
    while (out && getline(&line, &room, in) > 0) {
        line[strcspn(line, "# \t\r\n")] = '\0';
        if (*line)
            fprintf(out, "%s%s", ftell(out) ? "," : "", line);
    }
    text = out ? nuioa_text_close(out, &text) : NULL;
    free(line);
    if (in)
        fclose(in);
    else if (fd >= 0)
        close(fd);
    return text;
}

/* Reads the nodes of the ranks, in their order, from where srun has read them. The caller frees
 * *names, which is empty if they are not known. */
static void read_names(struct nuioa_host_list *names)
{
    char *typed = slurm_compat_value("nodelist", 'w'), *lines = NULL;
    const char *file = typed ? typed : getenv("SLURM_HOSTFILE"), *text = typed;
    if (file && (!typed || strchr(typed, '/')))
        text = lines = read_lines(file);
    *names = (struct nuioa_host_list){ 0 };
    if (text)
        nuioa_host_list_parse(text, names, NULL);
    free(lines);
    free(typed);
}

/* Returns true if Open MPI's HAN is known to be right in the order of the step's ranks. */
static bool is_safe(const struct nuioa_host_list *names, uint32_t ranks, spank_t spank)
{
    uint32_t nodes;
    if (names->count != ranks)
        return spank_get_item(spank, S_JOB_NNODES, &nodes) == ESPANK_SUCCESS &&
               (nodes == 1 || nodes == ranks);
    uint32_t *node_of = malloc(((size_t)ranks + 1) * sizeof(*node_of));
    bool safe = node_of && !nuioa_host_list_number(names, node_of) &&
                nuioa_order_is_safe(node_of, ranks, ranks);
    free(node_of);
    return safe;
}

/* Returns true if the user says whether Open MPI uses HAN, in the environment or in the arguments:
 * --export=ALL,NAME=VALUE, or a program that begins with env NAME=VALUE. */
static bool user_decides(void)
{
    return nuioa_han_is_decided(environ) || slurm_compat_has_argument(NUIOA_HAN_PRIORITY "=") ||
           slurm_compat_has_argument("OMPI_MCA_coll=");
}

/* The ranks inherit both variables, or, with --export=NONE, slurmstepd sets the first by the
 * second. */
static void switch_han_off(void)
{
    if (user_decides())
        return;
    setenv(NUIOA_HAN_PRIORITY, "0", 1);
    setenv(NUIOA_VARIABLE_HAN, "off", 1);
    log_line(
        "Open MPI 5.0 may gather wrong data in this order of ranks, so its HAN collectives are "
        "off. If yours is fixed, set " NUIOA_HAN_PRIORITY "=35 to keep them");
}

void step_layout_forget_outer(void)
{
    const char *priority = getenv(NUIOA_HAN_PRIORITY);
    if (getenv(NUIOA_VARIABLE_HAN) && priority && !strcmp(priority, "0"))
        unsetenv(NUIOA_HAN_PRIORITY);
    unsetenv(NUIOA_VARIABLE_HAN);
}

static bool is_arbitrary(void)
{
    const char *distribution = getenv("SLURM_DISTRIBUTION");
    return distribution && !strncmp(distribution, "arbitrary", strlen("arbitrary"));
}

void step_layout_check_components(void)
{
    if (is_arbitrary() || getenv("SLURM_HOSTFILE") || slurm_compat_has_argument("arbitrary"))
        switch_han_off();
}

void step_layout_check(spank_t spank, bool on)
{
    struct nuioa_host_list names;
    uint32_t ranks;
    if (!is_arbitrary() || spank_get_item(spank, S_JOB_TOTAL_TASK_COUNT, &ranks) != ESPANK_SUCCESS)
        return;
    read_names(&names);
    if (names.count > ranks)
        log_line("-w names %u nodes, one for each rank, but this step has %u rank%s: leave out -N "
                 "and -n, which do not go with -m arbitrary",
                 names.count, ranks, ranks == 1 ? "" : "s");
    if (on && !step_is_launcher(spank) && !is_safe(&names, ranks, spank))
        switch_han_off();
    nuioa_host_list_free(&names);
}
