#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# A limit of open files (ulimit -Hn) that is just enough for srun is enough with a report and hints,
# too: a child of srun's has the connections.
. "$(dirname "$0")/testlib.sh"
setup
plugin on "${patient[@]}" topology="$topology"
printf '%s\n' 'nuioa-profile 1' 'ranks 8' 'pair 0 1 100 1 0' 'pair 2 3 5000 9 0' \
    >"$CLUSTER_DIR/home/profile"
step=(-N4 -n8 --exclusive --nuioa=report "--nuioa-hints=@$home/profile")

# scant LIMIT COMMAND...: with so many open files. An srun without any repeats one line for ever.
scant() {
    tally 8 bash -c '{ prlimit --nofile="$0" "$@" 2>&1 >&3 | uniq >&2; } 3>&1
        exit ${PIPESTATUS[0]}' "$1" "${@:2}" "$home/rank"
}

for _ in {1..20}; do
    before=$lost
    scant 24 srun "${step[@]}"
    [ "$lost" -eq "$before" ] || break # each loss takes a minute
done
is "srun can open 24 files: 20 launches, none is lost" "$launched,$lost" 20,0
one_report "... and the report is there: srun keeps nothing open for it" 4
plugin off
rm "$CLUSTER_DIR/home/profile"
finish
