/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TreeMatch for test/layout/bench: ranks to the leaves of a tree. It is built apart from nuioa: its
 * source is in Open MPI's, 3rd-party/treematch (CeCILL-B). In a copy of that directory, with two
 * empty files config.h and ompi_config.h:
 *
 *     cc -O2 -w -DOMPI_HIDDEN= -I. -o treematch .../test/layout/treematch.c *.c \
 *         -lhwloc -lm -lpthread
 *     test/layout/bench --treematch .../treematch
 *
 * Reads numbers: levels, the arity of each; free leaves, their numbers; ranks, pairs, and for each
 * pair two ranks and bytes. Writes the leaf of each rank.
 */
#include <stdio.h>
#include <stdlib.h>

#include "treematch.h"

static double number(void)
{
    double value;
    if (scanf("%lf", &value) != 1)
        exit(2);
    return value;
}

static int whole(void)
{
    return (int)number();
}

int main(void)
{
    int levels = whole(), arity[TM_MAX_LEVELS] = { 0 }, numbering[] = { 0 }, leaves = 1;
    double cost[TM_MAX_LEVELS] = { 0 };
    for (int i = 0; i < levels; i++) {
        arity[i] = whole();
        cost[i] = levels - i;
        leaves *= arity[i];
    }
    int count = whole(), *constraints = malloc(((size_t)count + 1) * sizeof(int));
    for (int i = 0; i < count; i++)
        constraints[i] = whole();
    int ranks = whole(), pairs = whole();
    double **matrix = malloc((size_t)ranks * sizeof(*matrix));
    for (int i = 0; i < ranks; i++)
        matrix[i] = calloc((size_t)ranks, sizeof(**matrix));
    for (int i = 0; i < pairs; i++) {
        int a = whole(), b = whole();
        matrix[a][b] = matrix[b][a] = number();
    }
    tm_set_verbose_level(0);
    tm_topology_t *topology = tm_build_synthetic_topology(arity, cost, levels + 1, numbering, 1);
    if (count < leaves && !tm_topology_set_binding_constraints(constraints, count, topology))
        return 3;
    tm_affinity_mat_t *affinity = tm_build_affinity_mat(matrix, ranks);
    tm_optimize_topology(&topology);
    tm_tree_t *tree = tm_build_tree_from_topology(topology, affinity, NULL, NULL);
    tm_solution_t *solution = tm_compute_mapping(topology, tree);
    for (int i = 0; i < ranks; i++)
        printf("%d\n", solution->sigma[i]);
    return 0;
}
