#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# A user's own srun that listens, and never answers, or answers by a byte now and then: a node waits
# no longer than the site allows, and no longer than its step is wanted.
. "$(dirname "$0")/testlib.sh"
setup
need_plugin
install -m 0644 "$here/forge.c" "$CLUSTER_DIR/home/forge.c"
ok "the srun that is silent compiles" \
    in_node ctl gcc -shared -fPIC -o "$home/forge.so" "$home/forge.c" -ldl
printf 'nuioa-profile 1\nranks 8\npair 1 2 100 1 0\n' >"$CLUSTER_DIR/home/profile"
awk 'BEGIN { print "nuioa-profile 1\nranks 16"
    for (i = 0; i < 16; i++) for (k = i + 1; k < 16; k++) print "pair", i, k, i + k, 1, 0 }' \
    >"$CLUSTER_DIR/home/dense"

forgery=SILENT

is_running() { in_node node1 pgrep -x slurmstepd >/dev/null; }
is_over() { ! is_running; }

# silent SRUN-ARG...: in the background, until a second after the step has begun on its first node
silent() {
    in_node -u nobody ctl env LD_PRELOAD="$home/forge.so" "FORGERY_$forgery=1" timeout -s KILL 100 \
        srun --nuioa=report "$@" "$home/rank" >"$CLUSTER_DIR/home/silent.out" 2>&1 &
    silent=$!
    ok "$name: the step begins" await 20 is_running
    sleep 1
}

# end_silent: that srun never ends by itself
end_silent() {
    in_node ctl sh -c 'kill -KILL $(pgrep -x srun)' 2>/dev/null
    wait "$silent"
    in_node ctl scancel -u "$(id -u nobody)"
    idle 200
}

for how in "-N1 -n2 -w node1" "-N4 -n8 --exclusive" \
    "-N4 -n8 --exclusive --nuioa-hints=@$home/profile"; do
    for auth in key munge; do
        name="auth=$auth, srun ${how/$home\//} says nothing"
        plugin on "topology=$topology" timeout_ms=60000 deadline_ms=60000 "auth=$auth"
        # shellcheck disable=SC2086
        silent $how
        ok "$name: the node still waits after a second" is_running
        is "$name: no rank runs" "$(grep -c HOST= "$CLUSTER_DIR/home/silent.out")" 0
        in_node ctl scancel -u "$(id -u nobody)"
        ok "$name: scancel ends the step" await 15 is_over
        end_silent
    done
done

# The slice of these ranks has 2 KB, so the drops last for 100 s
for auth in key munge; do
    name="auth=$auth, srun sends a byte now and then"
    plugin on "topology=$topology" timeout_ms=60000 deadline_ms=60000 "auth=$auth"
    forgery=DRIPS silent -N1 -n16 --exclusive -w node1 "--nuioa-hints=@$home/dense"
    ok "$name: the node still waits after a second" is_running
    in_node ctl scancel -u "$(id -u nobody)"
    ok "$name: scancel ends the step" await 15 is_over
    end_silent
done

# A user's patience ends where the site's does
plugin on "topology=$topology" deadline_ms=60000
name="nobody has set a limit"
silent --nuioa-timeout-ms=60000 -N1 -n2 -w node1
ok "$name: the step runs and ends while srun's 60 s are not over" await 30 is_over
end_silent
plugin on "topology=$topology" deadline_ms=60000 timeout_max_ms=30000
launch 8 -N4 --exclusive --nuioa --nuioa-timeout-ms=60000
is "longer than the site waits: the job runs" "$rc,$ranks" "0,8"
one_line "longer than the site waits: one line"
like "longer than the site waits: it says so" "$(nuioa_lines)" 'timeout_ms: 60000 ms .*: 30000 ms'
launch 8 SLURM_NUIOA_TIMEOUT_MS=60000 -N4 --exclusive --nuioa
one_line "longer than the site waits, by the environment: one line"
launch 8 SLURM_NUIOA_TIMEOUT_MS=60000 -N4 --exclusive
is "of a plugin that is off nothing is said" "$(nuioa_lines)" ""
launch 8 -N4 --exclusive --nuioa --nuioa-timeout-ms=30000
is "not longer: not a word" "$(nuioa_lines)" ""
launch 8 -N4 --exclusive --nuioa
is "what the site says: not a word" "$(nuioa_lines)" ""

plugin off
finish
