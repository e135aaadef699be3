# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034,SC2154
# For tests of nuioa(1): which one, where it may write, and how it is called. Source it with $here
# set.

# shellcheck source=../tap.sh
. "$here/../tap.sh"
tool=${NUIOA:-${NUIOA_STAGE:+$NUIOA_STAGE/usr/bin/nuioa}}
machines=$here/../topologies
if [ -z "$tool" ] || [ ! -x "$tool" ]; then
    skip_all "nuioa(1)" "it is not built (env NUIOA or NUIOA_STAGE)"
fi
umask 022
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset "${!SLURM_@}"
# run ARGUMENT...: sets status, out, err
run() {
    timeout 60 "$tool" "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    out=$(<"$work/out") err=$(<"$work/err")
}

# For run: nuioa exec, with as much time for hwloc as a busy machine needs.
patient=(exec --deadline-ms 60000)

# unanswered WANTED ARGUMENT...: one line says why
unanswered() {
    local wanted=$1
    shift
    run "$@"
    is "no answer: nuioa $*" \
        "$status|$out|$(grep -c . <<<"$err")|$(grep -cF -- "$wanted" <<<"$err")" \
        "1||1|1"
}

# answers NAME ARGUMENT...: status 0, something on stdout, nothing on stderr
answers() {
    local name=$1
    shift
    run "$@"
    is "$name" "$status|${out:+text}|$err" "0|text|"
}

# json EXPRESSION: of the last answer, with d the document; prints what python prints
json() { python3 -c "import json,sys; d=json.load(open('$work/out')); print($1)" 2>&1; }
