# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Functions that up, down, in and plugin share: where an instance lives and which process is a node.
#
# An instance is a directory:
#   slurm.conf hosts munge.key           for all nodes, seen by them as /run/cluster
#   home/                                the user's shared, writable directory
#   munge/                               munged's socket, seen as /run/munge
#   nodes/NAME/                          one node's own, seen as /run/node
#     pid                                "PID STARTTIME" of the node's process 1, outside numbers
#     plugstack.conf topology.xml spool/ log/
# Nothing else exists outside: the namespaces have no names, so they go when process 1 goes.

cluster_die() { echo "${0##*/}: $*" >&2; exit 1; }

# cluster_one_plugin STAGE: dies if there is a second plugin, of which the tests would not know.
cluster_one_plugin() {
    [ "$(find "$1" -name nuioa.so | wc -l)" -le 1 ] ||
        cluster_die "$1 has more than one nuioa.so: configure --with-plugindir=/usr/lib/slurm," \
            "remove $1, and make install"
}

# cluster_find: set CLUSTER_DIR to the instance that is meant, or die.
cluster_find() {
    local found
    if [ -n "${NUIOA_CLUSTER_DIR:-}" ]; then
        CLUSTER_DIR=$NUIOA_CLUSTER_DIR
        [ -d "$CLUSTER_DIR/nodes" ] || cluster_die "no cluster in $CLUSTER_DIR"
        return
    fi
    found=$(compgen -G '/tmp/nuioa-cluster.*/nodes') || cluster_die "no cluster is up"
    [ "$(wc -l <<<"$found")" -eq 1 ] ||
        cluster_die "several clusters are up, set NUIOA_CLUSTER_DIR: $(tr '\n' ' ' <<<"$found")"
    CLUSTER_DIR=${found%/nodes}
}

# cluster_start_time PID: in clock ticks since boot; with the pid it names a process for ever.
cluster_start_time() {
    local stat
    read -r stat 2>/dev/null <"/proc/$1/stat" || return 1
    read -ra stat <<<"${stat##*) }"
    echo "${stat[19]}"
}

# cluster_node_pid NAME: outside pid of the node's process 1; fails if that process is gone.
cluster_node_pid() {
    local pid start
    read -r pid start 2>/dev/null <"$CLUSTER_DIR/nodes/$1/pid" || return 1
    [ "$(cluster_start_time "$pid")" = "$start" ] || return 1
    echo "$pid"
}

cluster_nodes() { ls "$CLUSTER_DIR/nodes"; }
