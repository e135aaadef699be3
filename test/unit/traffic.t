#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# nuioa traffic: exit statuses, signals, who prints, and that its command does not outlive it. The
# NICs are those of a machine of topologies/, which has no counters here; figures are in
# test/cluster/67-traffic.t and test/guest/rails.t.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tool.sh
. "$here/tool.sh"
export HWLOC_XMLFILE=$machines/four-rails.xml
unset "${!PMI@}" "${!OMPI_@}" LOCAL_RANK MPI_LOCALRANKID

# until COMMAND...: waits until it is true; the limit only ends what hangs
until_true() {
    local i
    for ((i = 0; i < 600; i++)); do
        if "$@" 2>/dev/null; then return; fi
        sleep 0.1
    done
    return 1
}
tables() { grep -c '^nuioa: .*: NIC traffic of all programs' "$@"; }

# --- the command line ----------------------------------------------------------------------------

run traffic --help
like "--help" "$status $out" '^0 usage: nuioa traffic \[--json\] \[--\] COMMAND'

# --- exit statuses -------------------------------------------------------------------------------

run traffic -- sh -c 'echo out; exit 7'
is "the exit status is the command's, and so is the standard output" "$status $out" "7 out"
like "... one table on stderr" "$err" \
    '^nuioa: [^ ]+: NIC traffic of all programs in the [0-9.]+ s until local rank 0 ended
  NIC +received +sent +share +busy +unknown
  mlx5_0:1 +\? +\? +\? +\? +no counters of bytes
'
like "... no bound without counters" "$err" \
    'what nearer ranks can save is unknown, as is the rate or traffic of mlx5_'
run traffic true --help
is "without --; options of the command are its own" "$status $(tables <<<"$err")" "0 1"
run traffic --json -- sh -c 'exit 3'
is "--json: one line" "$status $(wc -l <<<"$err")" "3 1"
cp "$work/err" "$work/out"
is "... its keys" "$(json "sorted(d), sorted(d['nics'][0])")" \
    "['host', 'nics', 'nuioa', 'saving', 'seconds'] \
['busy', 'name', 'received', 'sent', 'share', 'unknown']"
is "... unknown is null" "$(json "[d['saving']] + list(d['nics'][0].values())[1:]")" \
    "[None, None, None, None, None, 'no counters of bytes']"
run traffic ./absent
is "not found: 127" "$status $(grep -c 'nuioa: ./absent: No such file' <<<"$err")" "127 1"
run traffic /dev/null
is "no program: 126" "$status" 126
for name in TERM KILL ABRT SEGV USR1; do
    # shellcheck disable=SC2016
    python3 -c 'import subprocess, sys; print(subprocess.run(sys.argv[1:],
        stderr=subprocess.DEVNULL).returncode)' "$tool" traffic -- sh -c 'kill -$0 $$' $name \
        >"$work/out"
    is "it dies by SIG$name, as the command did" "$(<"$work/out")" "-$(kill -l $name)"
done
is "... and leaves no core of its own" "$(find . -maxdepth 1 -name 'core*' -newer "$work/out")" ""

# --- what the command inherits -------------------------------------------------------------------

# found COMMAND...: what it finds when SIGCHLD and SIGPIPE are ignored, and SIGUSR1 is blocked
found() {
    python3 -c 'import os, signal, sys
for number in signal.SIGCHLD, signal.SIGPIPE:
    signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
os.execvp(sys.argv[1], sys.argv[1:])' "$@" 2>/dev/null
}
state=(grep -E '^(Sig(Blk|Ign)|ShdPnd|Cpus_allowed|Umask):' /proc/self/status)
is "the command finds signals as they were" "$(found "$tool" traffic -- "${state[@]}")" \
    "$(found "${state[@]}")"
is "... and files" "$("$tool" traffic -- ls /proc/self/fd 2>/dev/null)" "$(ls /proc/self/fd)"
found "$tool" traffic -- sh -c 'exit 5'
is "... and its status is known" $? 5

# --- who prints ----------------------------------------------------------------------------------

# rank SETTING...: with variables of a launcher: tables; whether it is the same process
rank() {
    env "$@" "$tool" traffic -- sh -c 'echo $$' >"$work/out" 2>"$work/err" &
    local pid=$!
    wait $pid
    echo "$(tables "$work/err") $([ "$(<"$work/out")" = $pid ] && echo same)"
}
is "srun, local rank 0" "$(rank SLURM_LOCALID=0 SLURM_PROCID=4 SLURM_GTIDS=4,5)" "1 "
is "srun, local rank 1" "$(rank SLURM_LOCALID=1 SLURM_PROCID=5 SLURM_GTIDS=4,5)" "0 same"
is "mpirun, local rank 0, in a step of Slurm" \
    "$(rank OMPI_COMM_WORLD_LOCAL_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE=2 SLURM_LOCALID=1)" "1 "
is "mpirun, local rank 1" \
    "$(rank OMPI_COMM_WORLD_LOCAL_RANK=1 OMPI_COMM_WORLD_LOCAL_SIZE=2 SLURM_LOCALID=0)" "0 same"
is "MPICH's mpiexec, local rank 0" "$(rank MPI_LOCALRANKID=0 MPI_LOCALNRANKS=2 PMI_RANK=2)" "1 "
is "MPICH's mpiexec, local rank 1" "$(rank MPI_LOCALRANKID=1 MPI_LOCALNRANKS=2 PMI_RANK=3)" "0 same"
is "torchrun, local rank 0" "$(rank LOCAL_RANK=0 LOCAL_WORLD_SIZE=2 RANK=2)" "1 "
is "torchrun, local rank 1" "$(rank LOCAL_RANK=1 LOCAL_WORLD_SIZE=2 RANK=3)" "0 same"
is "PMIx alone does not say it" "$(rank PMIX_RANK=0) $(<"$work/err")" \
    "0 same nuioa: traffic: no table: the launcher does not show which process is local rank 0"
told="0 same nuioa: traffic: no table: the launcher does not show which process is local rank 0"
is "a local rank that cannot be" "$(rank LOCAL_RANK=5 LOCAL_WORLD_SIZE=2) $(<"$work/err")" "$told"
is "two launchers: the process that says so" "$(rank LOCAL_RANK=1 LOCAL_WORLD_SIZE=2 \
    OMPI_COMM_WORLD_LOCAL_RANK=2 OMPI_COMM_WORLD_LOCAL_SIZE=4) $(<"$work/err")" "$told"
is "... and one that does not" "$(rank LOCAL_RANK=1 LOCAL_WORLD_SIZE=2 \
    OMPI_COMM_WORLD_LOCAL_RANK=3 OMPI_COMM_WORLD_LOCAL_SIZE=4) $(<"$work/err")" "0 same "

# --- signals -------------------------------------------------------------------------------------

# It notes each signal, and ends with USR2.
cat >"$work/note" <<'END'
#!/bin/bash
for name in TERM INT HUP QUIT USR1 ALRM CONT XCPU RTMIN; do trap "echo $name >>'$1'" $name; done
trap "echo USR2 >>'$1'; exit 9" USR2
echo $$ >"$1.pid"
while :; do sleep 0.05; done
END
chmod +x "$work/note"

# begin: starts it in a process group of its own; sets pid
begin() {
    rm -f "$work/seen" "$work/seen.pid"
    set -m
    env --default-signal "$tool" traffic -- "$work/note" "$work/seen" 2>"$work/err" &
    pid=$!
    set +m
    until_true test -s "$work/seen.pid"
}
# finish_run: the last signal, to it alone, comes after all others
finish_run() {
    kill -USR2 $pid
    wait $pid
    status=$?
}

begin
for name in TERM INT HUP QUIT USR1 ALRM CONT XCPU RTMIN; do
    kill -$name $pid
    until_true grep -q $name "$work/seen"
done
finish_run
is "signals are handed on, once" "$status $(sort "$work/seen" | paste -sd' ')" \
    "9 ALRM CONT HUP INT QUIT RTMIN TERM USR1 USR2 XCPU"
is "... the table comes after them" "$(tables "$work/err")" 1
begin
for name in TERM INT HUP USR1 ALRM RTMIN; do
    kill -$name -- -$pid
    until_true grep -q $name "$work/seen"
done
finish_run
is "what the whole process group gets, the command gets once" \
    "$status $(sort "$work/seen" | paste -sd' ')" "9 ALRM HUP INT RTMIN TERM USR1 USR2"
begin
kill -STOP -- -$pid
until_true grep -q '^State:.T' "/proc/$(<"$work/seen.pid")/status"
kill -CONT -- -$pid
until_true grep -q CONT "$work/seen"
finish_run
is "stopped and continued with its group" "$status $(paste -sd' ' "$work/seen")" "9 CONT USR2"

# gone PID: it does not run any more
gone() { [ ! -e "/proc/$1" ] || grep -q '^State:.[ZX]' "/proc/$1/status"; }
begin
kill -KILL $pid
is "killed: the command does not outlive it" \
    "$(until_true gone "$(<"$work/seen.pid")" && echo gone)" gone
{ wait $pid; } 2>/dev/null
all_gone() { for other in $(pgrep -g $pid); do gone "$other" || return; done; }
is "... nor does anything else" "$(until_true all_gone && echo gone)" gone

# A terminal: Ctrl-C once, and Ctrl-Z stops the job for the shell.
cat >"$work/terminal" <<'END'
import os, pty, signal, sys, time
seen, command = sys.argv[1], sys.argv[2:]
def wait_for(word):
    for _ in range(600):
        if os.path.exists(seen) and word in open(seen).read():
            return
        time.sleep(0.1)
def shell():  # the leader of the session, which has the job in the foreground
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    job = os.fork()
    if not job:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        os.execvp(command[0], command)
    status = os.waitpid(job, os.WUNTRACED)[1]
    stopped = os.WIFSTOPPED(status) and os.WSTOPSIG(status) == signal.SIGTSTP
    os.tcsetpgrp(0, job)
    os.kill(-job, signal.SIGCONT)
    wait_for("CONT")
    os.kill(job, signal.SIGUSR2)
    status = os.waitpid(job, 0)[1]
    open(seen + ".end", "w").write("%s %d" % (stopped, os.WEXITSTATUS(status)))
    os._exit(0)
pid, terminal = pty.fork()
if not pid:
    shell()
for _ in range(600):
    if os.path.exists(seen + ".pid"):
        break
    time.sleep(0.1)
os.write(terminal, b"\x03")
wait_for("INT")
os.write(terminal, b"\x1a")
try:
    while os.read(terminal, 1000):
        pass
except OSError:
    pass
os.waitpid(pid, 0)
END
rm -f "$work"/seen*
timeout 300 python3 "$work/terminal" "$work/seen" "$tool" traffic -- "$work/note" "$work/seen" \
    >/dev/null
is "a terminal: Ctrl-C once; Ctrl-Z stops it for the shell, which continues it" \
    "$(<"$work/seen.end") $(paste -sd' ' "$work/seen")" "True 9 INT CONT USR2"

done_testing
