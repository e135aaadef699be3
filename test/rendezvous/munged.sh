# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# For the tests of this directory: a munged of their own. Source after tap.sh.

gather_dir=$(mktemp -d /tmp/nuioa-gather.XXXXXX)
chmod 0755 "$gather_dir"
gather_pids=()
(umask 077 && head -c 128 /dev/urandom >"$gather_dir/key")

# start_munged NAME: sets munged_pid and munged_socket
start_munged() {
    local dir=$gather_dir/$1 tries=0
    mkdir -m 0755 "$dir"
    munged --foreground --force --key-file="$gather_dir/key" --log-file="$dir/log" --pid-file="$dir/pid" \
        --seed-file="$dir/seed" --socket="$dir/socket" >"$dir/out" 2>&1 &
    munged_pid=$!
    gather_pids+=("$munged_pid")
    munged_socket=$dir/socket
    until [ -S "$munged_socket" ]; do
        tries=$((tries + 1))
        [ "$tries" -lt 250 ] || { note "munged did not start" "$(cat "$dir/out")"; return 1; }
        sleep 0.02
    done
}

stop_all() {
    local pid
    for pid in "${gather_pids[@]}"; do
        kill -CONT "$pid" 2>/dev/null
        kill "$pid" 2>/dev/null
        wait "$pid" 2>/dev/null
    done
    rm -rf "$gather_dir"
}
trap stop_all EXIT
