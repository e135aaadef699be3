#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# A user's own srun whose process for reports never answers, or that is stopped or killed: no rank
# waits for it, and each node prints its own report, however short the step is.
. "$(dirname "$0")/testlib.sh"
setup
build forge "the srun that is silent"
silent=(LD_PRELOAD="$home/forge.so" FORGERY_SILENT=1)
plugin on "topology=$topology" default=on "${patient[@]}"

# A short step ends before srun is given up; with a long one the report comes while it runs.
for round in 1 2 3 4 5; do
    launch 8 "${silent[@]}" -N4 --exclusive --nuioa=report
    is "a short step, $round: it runs, and each node reports" "$rc,$ranks,$(reported)" \
        "0,8,$own_reports"
    is "... the first node says why" \
        "$(grep -c '^nuioa: report: srun took no record (no answer in time): each' <<<"$err")" 1
done
install -d -o nobody "$CLUSTER_DIR/home/waiting"
in_node -u nobody ctl env "${silent[@]}" SLURM_TEST_STARTED="$home/waiting" timeout 100 \
    srun -N4 -n4 --exclusive --nuioa=report \
    sh -c ': >$SLURM_TEST_STARTED/$SLURM_PROCID; until [ -e ~/go ]; do sleep 0.1; done' \
    >/dev/null 2>"$CLUSTER_DIR/home/waiting.err" &
four_run() { [ "$(started waiting)" -eq 4 ]; }
four_report() {
    [ "$(grep -c '^nuioa: node[1-4], 1 rank' "$CLUSTER_DIR/home/waiting.err")" -eq 4 ]
}
ok "a long step: its ranks run" await 60 four_run
ok "... and each node reports meanwhile" await 60 four_report
# On each node one process is left for the report: the user cannot look into it.
for what in "head -c 1 mem" "head -c 1 maps" "head -c 1 environ" "ls fd"; do
    is "... whose ${what##* } its user cannot read" "$(in_node -u nobody node2 sh -c "
        for p in \$(pgrep -x -u nobody slurmstepd); do
            echo found; cd /proc/\$p; $what >/dev/null && echo read; done" 2>/dev/null)" found
done
touch "$CLUSTER_DIR/home/go"
wait $!
rm -r "$CLUSTER_DIR/home/go" "$CLUSTER_DIR/home/waiting"

# Somebody stops that process: the node prints, and does not wait.
cat >"$CLUSTER_DIR/home/stops" <<'END'
#!/bin/sh
kill -STOP $(pgrep -x -u "$(id -u)" slurmstepd)
END
chmod 755 "$CLUSTER_DIR/home/stops"
for _ in 1 2 3; do
    user env "${silent[@]}" srun -N1 -n1 -w node1 --nuioa=report "$home/stops"
    is "a rank stops the process that reports: the step ends, and the node reports" \
        "$rc,$(reported)" "0,node1"
done
ok "nothing is left of it" idle 100
is "... no process either" "$(in_node node1 pgrep -c slurmstepd)" 0
plugin off
finish
