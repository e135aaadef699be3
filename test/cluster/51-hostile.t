#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Hints files that nobody should hand to srun. Typed: one line that says where and what, and no job.
# As a default of the site: one line, and the job runs without hints. The nodes hear of neither.
. "$(dirname "$0")/testlib.sh"
setup

bad=$CLUSTER_DIR/home/bad
install -d -m 0755 "$bad"
head=$'nuioa-profile 1\nranks 8\n'
pair='pair 0 7 1048576 16 1048576'

# hostile NAME TEXT WHAT-IS-SAID: a file of that text
hostile() {
    printf '%s' "$2" >"$bad/$1"
    rejected "$1" ":$3"
}

# logs: how many lines of the nodes' slurmds are the plugin's, without what it says of each step
logs() {
    in_node ctl sh -c 'cat /run/cluster/nodes/*/log/slurmd.log' | grep 'nuioa: ' | grep -vc debug
}

# rejected NAME WHAT-IS-SAID: the file of that name, as an option and as the site's default
rejected() {
    local name=$1 said=$2 before file=$home/bad/$1
    before=$(logs)
    refused --nuioa "--nuioa-hints=$file"
    is "$name: nothing starts, and srun fails" "$ranks, $((rc != 0 && rc != 124))" "0, 1"
    one_line "$name: one line"
    like "$name: it says where and what" "$(nuioa_lines)" "--nuioa-hints: $file$said"
    is "$name: no job was made" "$(in_node ctl squeue -h)" ""

    plugin on "topology=$topology" "hints=$file" "${patient[@]}"
    launch 8 -N2 --nuioa
    is "$name: as the site's default: the job runs" "$rc" 0
    one_line "$name: as the site's default: one line"
    like "$name: as the site's default: it says where and what" "$(nuioa_lines)" \
        "hints: $file$said"
    is "$name: as the site's default: no hints, the rest counts" \
        "$(of 0 NUIOA_WEIGHT), $(of 0 NUIOA_VERSION)" ", 1"
    is "$name: the nodes said nothing" "$(logs)" "$before"
    plugin on "topology=$topology" "${patient[@]}"
}

plugin on "topology=$topology" "${patient[@]}"

# A good file is taken, so the errors below come from what is wrong with the other files.
printf '%s' "$head$pair"$'\n' >"$bad/good"
launch 8 -N2 --nuioa "--nuioa-hints=$home/bad/good"
is "a good one: ranks have weights" "$rc, $(of 7 NUIOA_WEIGHT | wc -w)" "0, 1"

plugin -n node1 on "topology=$topology" policy=fast "${patient[@]}"
launch 8 -N2 --nuioa
like "what a node does say is found" "$(logs)" '^[1-9]'
plugin on "topology=$topology" "${patient[@]}"

hostile truncated "$head$pair"$'\npair 0 6 104' "4: 'pair' needs two ranks and 3 numbers"
hostile truncated-early 'nuioa-profile 1' " not a profile"
hostile negative "${head}pair 0 7 -5 1 0"$'\n' "3: '-5' is not a number from 0 to 1e18"
hostile nan "${head}pair 0 7 NaN 1 0"$'\n' "3: 'NaN' is not a number from 0 to 1e18"
hostile infinite "${head}pair 0 7 inf 1 0"$'\n' "3: 'inf' is not a number from 0 to 1e18"
hostile two-to-63 "${head}pair 0 7 9223372036854775808 1 0"$'\n' \
    "3: '9223372036854775808' is not a number from 0 to 1e18"
hostile two-to-64 "${head}pair 0 7 18446744073709551616 1 0"$'\n' \
    "3: '18446744073709551616' is not a number from 0 to 1e18"
hostile wrong-rank "${head}pair 0 8 1 1 0"$'\n' "3: '8' is not a rank from 0 to 7"
hostile negative-rank "${head}pair -1 0 1 1 0"$'\n' "3: '-1' is not a rank from 0 to 7"
hostile many-ranks $'nuioa-profile 1\nranks 4294967297\n' \
    "2: 'ranks' needs a number from 1 to 1048576"

truncate -s 1G "$bad/gigabyte"
rejected gigabyte ": larger than 256 MB"
head -c 4096 /bin/sh >"$bad/binary"
rejected binary ":1: not a text file"
{ printf '%s' "$head"; head -c 2000000 /dev/zero | tr '\0' x; } >"$bad/long-line"
rejected long-line ":3: 'x*' is not one of ranks, rank, pair, coll"
mkfifo -m 0666 "$bad/pipe"
rejected pipe ": not a regular file"
printf '0 1\n1 nan\n' >"$bad/matrix"
rejected matrix ":2: .*nan"

rm -rf "$bad"
plugin off
finish
