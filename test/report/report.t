#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Tests srun's side of a report under attack, and a node's side with faults, against a real munged
# and without Slurm. NUIOA_BUILD is the build tree. Usage: report.t [PROGRAM PART]
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../tap.sh"

reason=
[ "$(id -u)" -eq 0 ] || reason="needs root, to be several users"
[ -n "${NUIOA_BUILD:-}" ] || reason="NUIOA_BUILD is not set"
command -v munged >/dev/null || reason="no munged"
[ -n "$reason" ] || grep -q '^EXTRA_PROGRAMS' "$NUIOA_BUILD/test/report/Makefile" ||
    reason="not built: no slurm/spank.h or no munge"
if [ -n "$reason" ]; then
    skip "report" "$reason"
    done_testing
    exit 0
fi
room=$NUIOA_BUILD/test/report
made=$(make -s -C "$room" attack fault readers scale strangers 2>&1) ||
    { fail "the programs are built" "$made"; done_testing; exit 1; }
. "$here/munged.sh"
. "$here/profile.sh"
declare -A socket pid
# A clock that is ten minutes fast
fast='#include <time.h>
time_t time(time_t *to)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return to ? (*to = now.tv_sec + 600) : now.tv_sec + 600;
}'
ok "the fast clock compiles" gcc -shared -fPIC -o "$work_dir/fast.so" -x c - <<<"$fast"
for name in one dead other fast; do
    LD_PRELOAD=$([ $name != fast ] || echo "$work_dir/fast.so") \
        start_munged $name "$([ $name = other ] && echo other-key)" ||
        { fail "munged starts"; done_testing; exit 1; }
    socket[$name]=$munged_socket pid[$name]=$munged_pid
    [ $name = one ] || disown "$munged_pid" # it is killed, of which the shell need not tell
done
library=$(readlink -f "$(ldconfig -p | awk '$1 == "libmunge.so.2" { print $NF; exit }')")

# relay NAME ARGUMENT...: runs a program and passes its results on.
relay() {
    local name=$1 out
    [ "${only:-$name}" = "$name" ] || return
    shift
    out=$(timeout 300 "$room/$name" "$@" ${part:+"$part"} 2>&1)
    hand_on "$name: " <<<"$out"
    [[ $out =~ (^|$'\n')1\.\. ]] || fail "$name: did not finish" "$(tail -n 3 <<<"$out")"
}

only=${1-} part=${2-}
relay attack "${socket[one]}"
relay fault "${socket[one]}" "${socket[dead]}" "${pid[dead]}" "${socket[other]}" "${socket[fast]}" \
    "$library"
relay strangers "${socket[one]}" "${socket[other]}" "${pid[other]}"
if [ -z "$only" ]; then
    figures=$(timeout 300 "$room/scale" "${socket[one]}" 10000)
    is "10,000 nodes are answered and reported" $? 0
    megabytes=${figures##* }
    ok "srun's child needs less than 16 MB for them ($megabytes)" test "${megabytes%.*}" -lt 16
fi
if [ "${only:-readers}" = readers ] && [ ! -e /dev/fuse ]; then
    skip "a busy file server" "no /dev/fuse"
elif [ "${only:-readers}" = readers ]; then
    make_profile 100
    like "2 nodes read a small profile: flows" "$(read_slowly 1e9 2)" '^2 0 '
    make_profile 10000
    figures=$(read_slowly 5e6 50)
    like "50 of 10,000 nodes that share one server: the list" "$figures" '^0 50 '
    note "the longest wait: ${figures##* } ms"
fi
done_testing
