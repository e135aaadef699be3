# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Starts munged for the tests of this directory. Source it after tap.sh.

work_dir=$(mktemp -d /tmp/nuioa-report.XXXXXX)
chmod 0755 "$work_dir"
munged_pids=()
(umask 077 && head -c 128 /dev/urandom >"$work_dir/key" &&
    head -c 128 /dev/urandom >"$work_dir/other-key")

# start_munged NAME [KEY]: starts a munged, and sets munged_pid and munged_socket
start_munged() {
    local dir=$work_dir/$1 tries=0
    mkdir -m 0755 "$dir"
    munged --foreground --force --key-file="$work_dir/${2:-key}" --log-file="$dir/log" \
        --pid-file="$dir/pid" --seed-file="$dir/seed" --socket="$dir/socket" >"$dir/out" 2>&1 &
    munged_pid=$!
    munged_pids+=("$munged_pid")
    munged_socket=$dir/socket
    until [ -S "$munged_socket" ]; do
        tries=$((tries + 1))
        [ "$tries" -lt 250 ] || { note "munged did not start" "$(cat "$dir/out")"; return 1; }
        sleep 0.02
    done
}

stop_all() {
    local pid
    for pid in "${munged_pids[@]}"; do
        kill -CONT "$pid" 2>/dev/null
        kill "$pid" 2>/dev/null
        wait "$pid" 2>/dev/null
    done
    rm -rf "$work_dir"
}
trap stop_all EXIT
