#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Tests the rendezvous of nodes with srun under attack and with faults, against a real munged and
# without Slurm. NUIOA_BUILD is the build tree.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../tap.sh"

reason=
[ "$(id -u)" -eq 0 ] || reason="needs root, to be several users"
[ -n "${NUIOA_BUILD:-}" ] || reason="NUIOA_BUILD is not set"
command -v munged >/dev/null || reason="no munged"
[ -n "$reason" ] || grep -q '^EXTRA_PROGRAMS' "$NUIOA_BUILD/test/rendezvous/Makefile" ||
    reason="not built: no slurm/spank.h or no munge"
if [ -n "$reason" ]; then
    skip "rendezvous" "$reason"
    done_testing
    exit 0
fi
programs="attack bad_node fault flood scale"
# shellcheck disable=SC2086
made=$(make -s -C "$NUIOA_BUILD/test/rendezvous" $programs 2>&1) ||
    { fail "the programs are built" "$made"; done_testing; exit 1; }
. "$here/munged.sh"
start_munged one || { fail "munged starts"; done_testing; exit 1; }
one=$munged_socket
start_munged two || { fail "a second munged starts"; done_testing; exit 1; }

# relay NAME COMMAND...: runs a program and passes its results on.
relay() {
    local name=$1 line planned=
    shift
    while IFS= read -r line; do
        case $line in
        1..*) planned=1 ;;
        "ok "*) pass "${line#ok * - }" ;;
        "not ok "*) fail "${line#not ok * - }" ;;
        *) printf '%s\n' "$line" ;;
        esac
    done < <(timeout 120 "$@")
    [ -n "$planned" ] || fail "$name: did not finish"
}

relay attack "$NUIOA_BUILD/test/rendezvous/attack" "$one"
relay flood "$NUIOA_BUILD/test/rendezvous/flood" "$one"
relay bad_node "$NUIOA_BUILD/test/rendezvous/bad_node" "$one" "$munged_socket" "$munged_pid"
relay fault "$NUIOA_BUILD/test/rendezvous/fault" "$one" "$munged_socket" "$munged_pid"
for auth in key munge; do
    figures=$(timeout 120 "$NUIOA_BUILD/test/rendezvous/scale" "$one" $auth 10000)
    is "auth=$auth: 10,000 nodes are answered and reported" $? 0
    megabytes=${figures##* }
    ok "auth=$auth: srun needs less than 100 MB for them ($megabytes)" \
        test "${megabytes%.*}" -lt 100
done
done_testing
