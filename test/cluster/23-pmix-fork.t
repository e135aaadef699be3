#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# libnuioa-client in a forked child of a rank, where PMIx has no thread that answers: the child is
# told what the environment says, and never hangs. Python's multiprocessing makes such children.
. "$(dirname "$0")/testlib.sh"
. "$here/pmixlib.sh"
setup
need_trial
plugin on "topology=$topology" default=on "${patient[@]}"

# ranks N COMMAND...: the ranks' output is in $out
ranks() {
    local n=$1
    shift
    launched=$((launched + 1))
    TIMEOUT=400 user env LD_LIBRARY_PATH="$home:/opt/slurm/lib" "${openmpi_by_ucx[@]}" \
        srun -N2 -n "$n" --exclusive --mpi=pmix "$@"
    [ "$rc" -eq 0 ] || lose "$*"
}

ranks 2 "$home/forked"
is "a rank reads PMIx" "$(all rank)" "2 2"
is "its child has one thread, and loads the library" "$(all loaded_after)" "1 1"
is "with 4 threads" "$(all loaded_after_4)" "1 1"
is "the rank has loaded the library, and asked, before" "$(all loaded_before)" "1 1"
is "with 4 threads" "$(all loaded_before_4)" "1 1"
is "50 children while other threads are in PMIx_Get" "$(all many)" "50x1 50x1"
is "and the rank still reads PMIx" "$(all rank_then)" "2 2"
note "milliseconds: one thread $(all loaded_after_ms), 4 threads $(all loaded_after_4_ms)"

cat >"$CLUSTER_DIR/home/pool.py" <<'END'
import ctypes, multiprocessing, multiprocessing.pool, os

mpi = ctypes.CDLL("libmpi.so.40", ctypes.RTLD_GLOBAL)
client = ctypes.CDLL("libnuioa-client.so.1")
client.nuioa_client_open.restype = ctypes.c_void_p

def ask(_=None):
    handle = ctypes.c_void_p(client.nuioa_client_open())
    source = client.nuioa_client_source(handle)
    client.nuioa_client_close(handle)
    return source

def ask_in_threads(_):
    with multiprocessing.pool.ThreadPool(3) as threads:
        return sorted(set(threads.map(ask, range(3))))

def of_pool(what):
    with multiprocessing.get_context("fork").Pool(3) as pool:
        try:
            return pool.map_async(what, range(3)).get(60)
        except multiprocessing.TimeoutError:
            return "hangs"

mpi.MPI_Init(None, None)
rank = os.environ["PMIX_RANK"]
print(f"{rank} rank={ask()}\n{rank} pool={of_pool(ask)}\n{rank} threads={of_pool(ask_in_threads)}",
      flush=True)
mpi.MPI_Finalize()

END
if in_node ctl /usr/bin/python3 -c 'import ctypes; ctypes.CDLL("libmpi.so.40")' 2>/dev/null; then
    ranks 2 /usr/bin/python3 pool.py
    is "Python: a rank reads PMIx" "$(all rank)" "2 2"
    is "Python: its multiprocessing.Pool" "$(all pool)" "[1, 1, 1] [1, 1, 1]"
    is "Python: with threads of their own" "$(all threads)" "[[1], [1], [1]] [[1], [1], [1]]"
else
    skip "Python's multiprocessing" "no Python, or no Open MPI"
fi

plugin off
finish
