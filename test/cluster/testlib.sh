# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034
# For the *.t of this directory. Brings a cluster up if the caller has none (run has one).
# After each launch: $out, $err (what srun printed), $rc; launches that should have run and did
# not are counted as lost, and finish() asserts that there were none.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/../tap.sh"
. "$here/lib.sh"

home=/run/cluster/home
topology=/run/node/topology.xml
# For tests that are not about time: a busy machine is no reason for a warning.
patient=(deadline_ms=60000)
# No node waits for another, so its ranks may start while slurmstepd elsewhere still has the
# user's rights to fork its own. A direct connection between the two is refused at that moment, and
# the ranks wait for ever ($slurm_lost); messages through slurmd are not.
export SLURM_PMIX_DIRECT_CONN=false
# For env: Open MPI through UCX. Where several nodes are one machine its own shared memory fails now
# and then, and so does btl/tcp: it kills a rank that is still in MPI_Init when a peer speaks to it
# (4.1.4; with 5.0 that is open-mpi/ompi issue 12495, every second launch of four nodes on two
# CPUs), with and without nuioa.
openmpi_by_ucx=(OMPI_MCA_pml=ucx OMPI_MCA_opal_common_ucx_tls=any
                OMPI_MCA_opal_common_ucx_devices=any OMPI_MCA_osc=^ucx UCX_TLS=self,tcp
                UCX_NET_DEVICES=eth0 UCX_LOG_FILE=stderr UCX_LOG_LEVEL=fatal)
launched=0
lost=0
losses=()
again=

has_command() { in_node ctl sh -c "command -v $1" >/dev/null; }

# setup_bare: the cluster is idle, and the plugin off
setup_bare() {
    if [ -z "${NUIOA_CLUSTER_DIR:-}" ]; then
        local line
        line=$("$here/up" --no-plugin) || exit 1
        eval "$line"
        trap '"$here/down"' EXIT
    fi
    cluster_find
    idle 100 || { note "not idle:" "$(in_node ctl sinfo -h -N -o '%N %t %E')"; give_back; }
    install -m 0755 "$here/rank" "$here/submit" "$CLUSTER_DIR/home"
    plugin off
}

# setup: the same; ends the test, as one skip, if there is no plugin to test
setup() {
    setup_bare
    [ -e "/proc/$(cluster_node_pid ctl)/root/run/stage/usr/lib/slurm/nuioa.so" ] ||
        skip_all "${0##*/}" "no plugin: NUIOA_STAGE was not set when the cluster came up"
}

# need_trace: sets installed, where the recorders are; ends the test, as one skip, without them.
need_trace() {
    installed=/proc/$(cluster_node_pid ctl)/root/run/stage/usr/lib/nuioa
    [ ! -e "$installed/libnuioa-preload.so" ] || return 0
    skip_all "${0##*/}" "built without MPI: no trace"
}

in_node() { "$here/in" "$@"; }
plugin() { "$here/plugin" "$@"; }

# srun prints these lines while it waits for nodes that are not quite free yet. No test needs them.
waiting='^srun: (job [0-9]+ (queued and waiting|has been allocated)|Job [0-9]+ step creation'
waiting+='|Job step creation|Step created for)'

# await SECONDS COMMAND...: waits until it succeeds; false if it has not by then
await() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        ((SECONDS < end)) || return 1
        sleep 0.1
    done
}

# idle TENTHS: waits so long until all nodes are
idle() {
    local i
    for ((i = 0; i < $1; i++)); do
        [ "$(in_node ctl sinfo -h -o %t)" != idle ] || return 0
        sleep 0.1
    done
    return 1
}

# give_back: later launches would wait for what a lost one still holds. (By number: to Slurm 26.05
# "nobody" is the name of no user.)
give_back() {
    in_node ctl scancel -u "$(id -u nobody)"
    idle 200
}

# srun prints these lines for launches that Slurm 22.05 loses by itself, once in thousands: the
# connection of a slurmstepd that ends was reset, or one slurmstepd was to open another's
# credential while it had the user's rights, to fork ranks.
slurm_lost='aborting, io error with slurmstepd|_direct_conn_establish: .*Connection reject'

# user COMMAND...: as a user on the login node, with the output in $out, $err, $rc (124, 137: no end
# in time; 137 also: Slurm has killed the ranks, and $err says why). One that Slurm lost, or that
# hung, is tried again, once in the life of a cluster: finish() counts it as skipped.
user() {
    local limit=${TIMEOUT:-120} start=$SECONDS
    run_as_user "$limit" "$@"
    case $rc in 124 | 137) note "status $rc: $*" "$err" ;; esac
    ((SECONDS - start >= limit)) || [[ $rc -ne 0 && $err =~ $slurm_lost ]] || return 0
    give_back
    [ ! -e "$CLUSTER_DIR/again" ] || return 0
    again="status $rc: $*: $(head -n 2 <<<"$err" | paste -s -d " ")"
    echo "$again" >"$CLUSTER_DIR/again"
    [ -z "${SLURM_TEST_STARTED:-}" ] ||
        find "$CLUSTER_DIR/home/${SLURM_TEST_STARTED##*/}" -type f -delete
    run_as_user "$limit" "$@"
}

# run_as_user SECONDS COMMAND...: not longer than that, even if it does not mind being asked to end
run_as_user() {
    local limit=$1 tmp
    shift
    tmp=$(mktemp -d)
    rc=0
    "$here/in" -u nobody ctl timeout -k 5 "$limit" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || rc=$?
    out=$(<"$tmp/out")
    err=$(grep -vE "$waiting" "$tmp/err")
    rm -r "$tmp"
}

# lose WHAT...: the last launch should have run, and did not. What is known of it is shown by
# finish().
lose() {
    local log
    lost=$((lost + 1))
    losses+=("status $rc: $*" ${err:+"$err"})
    for log in "$CLUSTER_DIR"/nodes/*/log/slurmd.log; do
        mapfile -t -O ${#losses[@]} losses < <(tail -n 100 "$log" | grep 'error: ' | tail -n 2)
    done
}

# started DIR: how many ranks left a mark
started() { find "$CLUSTER_DIR/home/$1" -type f | wc -l; }

# tally N COMMAND...: run COMMAND as the user; N ranks of it must start, or the launch is lost.
tally() {
    local n=$1
    shift
    launched=$((launched + 1))
    install -d -o nobody "$CLUSTER_DIR/home/started.$launched"
    SLURM_TEST_STARTED=$home/started.$launched user "$@"
    ranks=$(started "started.$launched")
    rm -r "$CLUSTER_DIR/home/started.$launched"
    [ "$ranks" -eq "$n" ] || lose "$ranks of $n ranks of $*"
}

# launch N [VAR=VALUE]... [SRUN-ARG]...: srun of N ranks that must start
launch() {
    local n=$1 env=()
    shift
    while [[ ${1:-} =~ ^[A-Z_]+= ]]; do env+=("$1"); shift; done
    tally "$n" env "${env[@]}" srun -n "$n" "$@" "$home/rank"
}

# refused [SRUN-ARG]...: srun that must not start anything
refused() {
    local dir=refused.$$
    install -d -o nobody "$CLUSTER_DIR/home/$dir"
    SLURM_TEST_STARTED=$home/$dir user srun -n 1 "$@" "$home/rank"
    ranks=$(started "$dir")
    rm -r "${CLUSTER_DIR:?}/home/$dir"
}

# of RANK NAME: the value of that rank's variable in $out, or nothing
of() { sed -n "s/^$1 $2=//p" <<<"$out"; }

# all NAME: values of all ranks, in rank order, as one line
all() { sort -n <<<"$out" | sed -n "s/^[0-9]* $1=//p" | paste -s -d ' '; }

# reported: of whom the reports in $err are: "4 nodes", or names
reported() {
    sed -nE 's/^nuioa: ([0-9]+ nodes|node[0-9]+), .*/\1/p' <<<"$err" | sort | paste -s -d ' '
}

# warnings: how many lines of $err warn
warnings() {
    grep '^nuioa: ' <<<"$err" | grep -cvE '^nuioa: ([0-9]+ nodes|node[0-9]+), '
}

# one_report NAME NODES: srun made the report, of so many nodes, and nobody warned
one_report() {
    is "$1: one report, and not a word" "$(reported),$(warnings)" "$2 nodes,0"
    [ "$(warnings)" -eq 0 ] || note "$err"
}

# some_report NAME WHOM: the last launch of 8 ranks ran, these are reported, and one line says why
# the report is not of all nodes
some_report() {
    is "$1: the job runs" "$rc,$ranks" "0,8"
    is "$1: reported, and one warning" "$(reported),$(warnings)" "$2,1"
    note "$err"
}
own_reports="node1 node2 node3 node4"

# nuioa_lines: the lines of $err that are the plugin's
nuioa_lines() { grep -i 'nuioa' <<<"$err" | grep -v '^srun: error: Invalid --nuioa'; }

# one_line NAME: what the plugin said is one line
one_line() {
    local lines
    lines=$(nuioa_lines)
    if [ -n "$lines" ] && [ "$(wc -l <<<"$lines")" -eq 1 ]; then
        pass "$1"
    else
        fail "$1" "got:" "$lines"
    fi
}

finish() {
    local name="no launch was lost ($launched launches)"
    [ -z "$again" ] || skip "a launch that Slurm lost was tried again" "$again"
    if [ "$lost" -eq 0 ]; then pass "$name"; else fail "$name" "$lost lost" "${losses[@]}"; fi
    done_testing
}

# build NAME WHAT: $home/NAME.so of NAME.c; a check
build() {
    install -m 0644 "$here/$1.c" "$CLUSTER_DIR/home"
    ok "$2 compiles" in_node ctl gcc -shared -fPIC -I/opt/slurm/include -o "$home/$1.so" \
        "$home/$1.c" -ldl
}

# from_manual NAME: the program of that name in libnuioa-client(3), as a reader would copy it
from_manual() {
    sed -n "/^\.\\\\\" $1\$/,/^\.EE\$/p" "$here/../../man/libnuioa-client.3.in" |
        sed -e '/^\./d' -e 's/\\e/\\/g' -e 's/\\-/-/g'
}
