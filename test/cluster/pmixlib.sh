# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154
# For the tests of PMIx keys: the test plugin, which publishes what its own arguments say, and the
# program with which each rank reads the keys. Both come from the build tree (NUIOA_BUILD). Source
# after testlib.sh.

# need_trial: ends the test, as one skip, if there is nothing to test with.
need_trial() {
    local reason= build=${NUIOA_BUILD:-} file
    [ -n "${NUIOA_BUILD:-}" ] || reason="NUIOA_BUILD is not set"
    # Another distribution's is complete, and not for this machine's compiler to touch.
    [ -n "$reason${NUIOA_CLUSTER_ROOT:-}" ] ||
        make -s -C "$build/test/pmix" trial.la forked keys >/dev/null 2>&1 ||
        reason="no trial.la in the build: no slurm/spank.h or no pmix"
    if [ -n "$reason" ]; then
        skip_all "${0##*/}" "$reason"
    fi
    for file in test/pmix/{.libs/trial.so,forked,.libs/keys} pmix/.libs/libnuioa-client.so.1; do
        install -m 0755 "$build/$file" "$CLUSTER_DIR/home/${file##*/}"
    done
}

# trial [-n NODE]... ARG...: loads the test plugin, from the next step on
trial() {
    local nodes=() node
    while [ "${1:-}" = -n ]; do nodes+=("$2"); shift 2; done
    [ ${#nodes[@]} -gt 0 ] || mapfile -t nodes < <(cluster_nodes)
    for node in "${nodes[@]}"; do
        echo "optional $home/trial.so $*" >"$CLUSTER_DIR/nodes/$node/.trial"
        mv "$CLUSTER_DIR/nodes/$node/.trial" "$CLUSTER_DIR/nodes/$node/plugstack.conf"
    done
}

# keys_by N COMMAND...: N ranks print their keys to $out. If a rank does not, the test ends here:
# of keys that nobody read, nothing can be said.
keys_by() {
    local n=$1 got
    shift
    launched=$((launched + 1))
    user env "LD_LIBRARY_PATH=$home:/opt/slurm/lib" "$@"
    got=$(all HOST | wc -w)
    [ "$rc" -ne 0 ] || [ "$got" -ne "$n" ] || return 0
    fail "all ranks read their keys" "$got of $n, status $rc: $*" "$err"
    done_testing
    exit 1
}

# keys N [VAR=VALUE]... [SRUN-ARG]...: the same with srun
keys() {
    local n=$1 env=()
    shift
    while [[ ${1:-} =~ ^[A-Za-z_]+= ]]; do env+=("$1"); shift; done
    keys_by "$n" env "${env[@]}" srun --mpi=pmix -n "$n" "$@" "$home/keys" 0 1
}

# key RANK KEY: what that rank read, or nothing
key() { of "$1" "${2//./\\.}"; }

# key_all KEY: of all ranks, in rank order, as one line
key_all() { all "${1//./\\.}"; }

# told NODE: what the test plugin said there of the last step, e.g. "ranks=4 first=0 rc=23 ..."
told() {
    grep 'trial: ranks' "$CLUSTER_DIR/nodes/$1/log/slurmd.log" | tail -n 1 | sed 's/.*trial: //'
}

# as_variables: keys on stdin in the form of the environment, for plan-env --given
as_variables() {
    sed -n -e 's/ nuioa\.planned=true$/ nuioa.planned=1/' \
        -e 's/^\([0-9]*\) nuioa\.\([a-z]*\)=/\1 NUIOA_\U\2=/p'
}
