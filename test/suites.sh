# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2154
# The suites of test/run: suite_NAME prints TAP on stdout. $top, $build and $log are set.

# --- building ------------------------------------------------------------------------------------

# Makes the machines to test with again when what makes them has changed.
machines() {
    local room=$top/test/topologies
    [ -z "$(find "$room" -name '*.py' -newer "$room/quad.xml" 2>&1)" ] ||
        { "$room/make-topologies.py" && "$room/make-gpu-topologies.py"; }
}

# configure DIR [OPTION...]: bootstraps and configures when something changed since the last time.
# The tests name the plugin's place in plugstack.conf; it is not that of the machine's own Slurm.
configure() {
    local dir=$1 wanted
    shift
    wanted="--prefix=/usr --libdir=/usr/lib --with-plugindir=/usr/lib/slurm --sysconfdir=/etc $*"
    if [ ! -e "$top/configure" ] || [ "$top/configure.ac" -nt "$top/configure" ] ||
        [ "$top/m4/nuioa.m4" -nt "$top/configure" ]; then
        "$top/bootstrap" || return
    fi
    machines || return
    mkdir -p "$dir"
    if [ -e "$dir/config.status" ] && [ "$dir/config.status" -nt "$top/configure" ] &&
        [ "$(cat "$dir/configured-with" 2>/dev/null)" = "$wanted" ]; then
        return
    fi
    # shellcheck disable=SC2086
    (cd "$dir" && "$top/configure" $wanted) && echo "$wanted" >"$dir/configured-with"
}

# stage: installs into a tree of its own, as a package would, and tells the tests where.
stage() {
    rm -rf "$build/stage"
    make -C "$build" install DESTDIR="$build/stage"
}

export NUIOA_GUEST_LOGS=$log/guest
export NUIOA_STAGE=$build/stage NUIOA_BUILD=$build NUIOA=$build/tools/nuioa
if [ -z "${NUIOA_CORPUS:-}" ] && [ -d "$top/../shared/corpus" ]; then
    NUIOA_CORPUS=$(cd "$top/../shared/corpus" && pwd)
    export NUIOA_CORPUS
fi
if [ -z "${NUIOA_CASES:-}" ] && [ -d "$top/../shared/cases" ]; then
    NUIOA_CASES=$(cd "$top/../shared/cases" && pwd)
    export NUIOA_CASES
fi

# --- TAP -----------------------------------------------------------------------------------------

# tap_filter NAME <TAP, then "# exit status N": its lines, so that several can follow each other in
# one stream. A test that printed no plan, a wrong one, or ended badly without saying so is one
# failure more.
tap_filter() {
    local name=$1 line result plan= status= ran=0 bad=0
    while IFS= read -r line; do
        case $line in
        "# exit status "*) status=${line##* } ;;
        "#"*) ;;
        1..*)
            plan=${line#1..} plan=${plan%%[!0-9]*}
            [ "$plan" != 0 ] || printf 'ok - %s # SKIP %s\n' "$name" "$line"
            continue
            ;;
        "Bail out!"*) bad=1 line="not ok - $name: $line" ;;
        "ok"* | "not ok"*)
            ran=$((ran + 1)) result=ok
            # cmocka says "not ok" of what it skips
            case $line in *"# SKIP"*) ;; "not ok"*) bad=1 result="not ok" ;; esac
            [[ $line =~ ^(not )?ok\ *[0-9]*\ *(-\ )?(.*)$ ]]
            line="$result - $name: ${BASH_REMATCH[3]}"
            ;;
        *) continue ;;
        esac
        printf '%s\n' "$line"
    done
    if [ -z "$plan" ]; then
        echo "not ok - $name: died without a plan (status $status)"
    elif [ "$plan" -ne "$ran" ]; then
        echo "not ok - $name: planned $plan tests, ran $ran"
    elif [ "$status" != 0 ] && [ "$bad" = 0 ]; then
        echo "not ok - $name: all passed, but status $status"
    fi
}

# run_tap NAME COMMAND...: runs it and hands its results on as they come
run_tap() {
    local name=$1
    shift
    { "$@"; printf '\n# exit status %d\n' $?; } | tap_filter "$name"
}

tap_count() { # <TAP: passed failed skipped
    awk '/^ok.*# *[Ss][Kk][Ii][Pp]/ { s++; next } /^ok/ { p++ } /^not ok/ { f++ }
        END { print p + 0, f + 0, s + 0 }'
}

# <TAP: failed lines, each with the notes just before it and the beginning of its diagnostics
tap_failures() {
    awk '/^ok/ { room = kept = 0; notes = ""; next }
        /^1\.\./ { room = 0; next }
        /^not ok/ { printf "%s%s\n", notes, $0; room = 24; kept = 0; notes = ""; next }
        room > 0 { print; if (!--room) print "#   ..."; next }
        /^#/ && kept < 12 { kept++; notes = notes $0 "\n" }'
}

# merge_logs DIR: results of "make check" in DIR, from what automake keeps of each test
merge_logs() {
    local trs name count=0
    for trs in "$1"/test/unit/*.trs "$1"/test/hooks/*.trs; do
        [ -e "$trs" ] || continue
        name=$(basename "$trs" .trs)
        count=$((count + 1))
        {
            cat "${trs%.trs}.log"
            grep -q '^:recheck: *yes' "$trs" && echo "# exit status 1" || echo "# exit status 0"
        } | tap_filter "$name"
    done
    [ "$count" -gt 0 ] || echo "not ok - no test ran in $1"
}

# as_root COMMAND...: namespaces and images need it
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        sudo env NUIOA_STAGE="$NUIOA_STAGE" NUIOA_BUILD="$NUIOA_BUILD" NUIOA="$NUIOA" \
            NUIOA_GUEST_LOGS="$NUIOA_GUEST_LOGS" NUIOA_CORPUS="${NUIOA_CORPUS:-}" \
            NUIOA_CACHE="${NUIOA_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/nuioa}" "$@"
    fi
}

merged() { "$@" 2>&1; }

# --- suites --------------------------------------------------------------------------------------

# The status is that of make: test/run counts one that no test explains as a failure, as when a
# program does not compile.
suite_unit() {
    local status=0
    make -C "$build" -k -j2 check >&2 || status=$?
    merge_logs "$build"
    return $status
}

suite_sanitizers() {
    local status=0
    configure "$build/sanitizers" --enable-werror --enable-sanitizers >&2 &&
        UBSAN_OPTIONS=print_stacktrace=1 make -C "$build/sanitizers" -k -j2 check >&2 || status=$?
    merge_logs "$build/sanitizers"
    return $status
}

suite_valgrind() {
    local test name
    make -C "$build/test/unit" -s check TESTS= >&2 || return
    make -C "$build/test/hooks" -s check TESTS= >&2 || return
    for test in "$build"/test/unit/*_test "$build"/test/hooks/*_test; do
        [ -e "$test" ] || continue
        name=$(basename "$test")
        CMOCKA_MESSAGE_OUTPUT=TAP srcdir=$top/test/unit run_tap "$name" merged \
            "$build/libtool" --mode=execute valgrind -q --error-exitcode=99 --leak-check=full \
            --show-leak-kinds=definite,indirect --errors-for-leak-kinds=definite,indirect \
            --trace-children=no "$test"
    done
}

suite_lint() {
    run_tap lint "$top/test/lint"
    run_tap decoders "$top/test/fuzz/decoders"
}
suite_install() {
    run_tap install bash "$top/test/install.t"
    run_tap formats "$top/test/formats.t"
    run_tap abi "$top/test/abi/client.t"
}

suite_topologies() {
    local test found=
    for test in "$top"/test/topologies/*.t; do
        [ -e "$test" ] || continue
        found=1
        run_tap "$(basename "$test" .t)" "$test"
    done
    [ -n "$found" ] || echo "not ok - no tests in test/topologies"
    run_tap cases "$top/test/cases/cases.py"
}

suite_hooks() { NUIOA_LOG=$log run_tap hooks "$top/test/hooks/run"; }
suite_layers() { run_tap layers "$top/test/layers"; }
# The disk of the guests: a minute of one processor, of which the other lane knows nothing.
suite_image() {
    as_root "$top/test/guest/image" >&2 && echo "ok - image: the guests' disk" && return
    echo "not ok - image: the guests' disk was not made"
}
suite_cluster() { run_tap cluster as_root "$top/test/cluster/run"; }
suite_report() { run_tap report as_root "$top/test/report/report.t"; }
suite_sim() { NUIOA_SIM_BUILD=$build/sim run_tap sim "$top/test/sim/run" --short; }

suite_fuzz() { run_tap fuzz "$top/test/fuzz/run"; }

suite_trixie() { run_tap trixie as_root "$top/test/cluster/trixie"; }
suite_newest() {
    if [ -n "${NUIOA_NEWEST:-}" ]; then
        run_tap newest as_root "$top/test/cluster/newest" "$NUIOA_NEWEST"
        run_tap newest as_root "$top/test/guest/newest" "$NUIOA_NEWEST"
    else
        echo "ok - newest # SKIP NUIOA_NEWEST does not say where that Slurm is"
    fi
}
# One job of the suite guest: test/run gives them to the lanes.
guest_job() {
    case $1 in
    judge) run_tap judge "$top/test/guest/judge_test.py" ;;
    *) run_tap guest as_root "$top/test/guest/run" "$1" ;;
    esac
}

suite_coverage() { run_tap coverage "$top/test/coverage/run"; }
# What --all leaves out because it takes long. NUIOA_FUZZ_MINUTES: of the processor, each target.
suite_fuzzing() {
    if "$top/test/fuzz/run" --minutes "${NUIOA_FUZZ_MINUTES:-10}" >&2; then
        echo "ok - fuzzing: no finding"
    else
        echo "not ok - fuzzing: findings, or it did not run: $log/fuzzing.err"
    fi
    if "$top/test/fuzz/run" --faults >&2; then
        echo "ok - fuzzing: no finding without memory"
    else
        echo "not ok - fuzzing: findings without memory, or it did not run: $log/fuzzing.err"
    fi
    if "$top/test/fuzz/run" --coverage >&2; then
        echo "ok - fuzzing: inputs and unit tests run each line of the decoders"
    else
        echo "not ok - fuzzing: lines of decoders do not run, or were not counted: $log/fuzzing.err"
    fi
}
suite_red() { run_tap red "$top/test/red" --all; }
suite_faults() { NUIOA_LOG=$log run_tap faults "$top/test/hooks/run" --all; }
suite_load() {
    run_tap load as_root "$top/test/cluster/load"
    run_tap broken as_root "$top/test/cluster/run" "$top/test/cluster/56-broken-node.t"
    run_tap reverse as_root "$top/test/cluster/run" --reverse
}
# And what test/guest/run leaves out.
suite_lines() {
    run_tap lines as_root "$top/test/first-lines" --tap --keep "$log/first-lines"
    run_tap guest as_root "$top/test/guest/run" --absent
    run_tap night as_root "$top/test/guest/run" --night
}
# What a release promises. NUIOA_SPACK: a prefix of Spack's.
suite_release() {
    run_tap archive "$top/test/release.t"
    run_tap abi "$top/test/abi/client.t"
    run_tap support "$top/test/support.t"
    run_tap versions as_root "$top/test/cluster/versions"
    run_tap packages as_root "$top/test/packages"
    run_tap packages-rpm as_root "$top/test/packages-rpm"
    run_tap packages-spack "$top/test/packages-spack"
    run_tap bare as_root "$top/test/bare"
    run_tap bare as_root "$top/test/bare" --load 20
}
suite_builds() {
    run_tap builds as_root "$top/test/builds"
    run_tap configure bash "$top/test/configure.t"
}
suite_analysis() { run_tap analysis "$top/test/analysis/run"; }

suite_distcheck() {
    if make -C "$build" distcheck >&2; then
        echo "ok - make distcheck"
    else
        echo "not ok - make distcheck"
    fi
    run_tap release "$top/test/release.t"
}
