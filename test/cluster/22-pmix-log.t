#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# PMIx_Log of a rank, without the plugin: whether this PMIx is one that loses steps by itself. 6.1.0
# and the first candidates of 6.1.1 do; the test names them, and fails with any other.
. "$(dirname "$0")/testlib.sh"
setup_bare

cat >"$CLUSTER_DIR/home/log.c" <<'END'
#include <pmix.h>
#include <stdio.h>
int main(void)
{
    pmix_proc_t self;
    pmix_info_t text;
    printf("version=%s\n", PMIx_Get_version());
    fflush(stdout);
    if (PMIx_Init(&self, NULL, 0) != PMIX_SUCCESS)
        return 1;
    PMIX_INFO_LOAD(&text, PMIX_LOG_STDERR, "told by PMIx_Log\n", PMIX_STRING);
    printf("answer=%d\n", PMIx_Log(&text, 1, NULL, 0));
    return PMIx_Finalize(NULL, 0) != PMIX_SUCCESS;
}
END
ok "a program that calls PMIx_Log compiles" in_node ctl sh -c '
    PKG_CONFIG_PATH=/opt/slurm/lib/pkgconfig && export PKG_CONFIG_PATH &&
    gcc -std=gnu11 -Wall -Werror -o log log.c $(pkg-config --cflags --libs pmix)'
# Ranks have the PMIx with which Slurm was built, so its version is slurmstepd's, too.
run_as_user 20 env LD_LIBRARY_PATH=/opt/slurm/lib srun -n1 -w node1 --mpi=pmix "$home/log"
version=$(in_node ctl env LD_LIBRARY_PATH=/opt/slurm/lib "$home/log" 2>/dev/null |
    sed -n 's/^version=OpenPMIx \([^ ,]*\).*/\1/p')
note "srun: status $rc" "$out" "$err"
if [ "$rc" -ne 0 ] && [[ $version =~ ^6\.1\.(0|1rc[12])$ ]]; then
    skip "a step survives PMIx_Log" "upstream: PMIx $version ends slurmstepd when a rank calls it"
    give_back
else
    is "a step survives PMIx_Log" "$rc" 0
    like "and its rank has an answer" "$out" 'answer=0'
fi
finish
