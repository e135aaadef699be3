# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# TAP for shell tests: source this, call ok/is/like/skip, end with done_testing.
# A test that dies before done_testing prints no plan, which test/run counts as a failure.

tap_count=0
tap_failed=0

# pass NAME / fail NAME [DIAGNOSTIC...]
pass() { tap_count=$((tap_count + 1)); printf 'ok %d - %s\n' "$tap_count" "$1"; }
fail() {
    tap_count=$((tap_count + 1)); tap_failed=$((tap_failed + 1))
    printf 'not ok %d - %s\n' "$tap_count" "$1"; shift
    [ $# -eq 0 ] || printf '%s\n' "$@" | sed 's/^/#   /'
}

# ok NAME COMMAND...: passes if COMMAND succeeds; its output is shown only when it does not.
ok() {
    local name=$1 out; shift
    if out=$("$@" 2>&1); then pass "$name"; else fail "$name" "command: $*" "$out"; fi
}

# is NAME GOT WANTED: exact string comparison.
is() { if [ "$2" = "$3" ]; then pass "$1"; else fail "$1" "got:    $2" "wanted: $3"; fi; }

# like NAME GOT REGEX: extended regular expression.
like() { if [[ $2 =~ $3 ]]; then pass "$1"; else fail "$1" "got:     $2" "wanted: /$3/"; fi; }

# unlike NAME GOT REGEX
unlike() { if [[ $2 =~ $3 ]]; then fail "$1" "got:      $2" "unwanted: /$3/"; else pass "$1"; fi; }

# skip NAME REASON: counted as skipped by test/run, never as passed.
skip() { tap_count=$((tap_count + 1)); printf 'ok %d - %s # SKIP %s\n' "$tap_count" "$1" "$2"; }

# skip_all NAME REASON: ends the test; what is left of it is one skip.
skip_all() { skip "$@"; done_testing; exit; }

# note TEXT...
note() { printf '%s\n' "$@" | sed 's/^/# /'; }

# hand_on PREFIX <TAP: another test's results, as this one's, and what it says of failures
hand_on() {
    local line name reason
    while IFS= read -r line; do
        [[ $line =~ ^(not )?ok\ +[0-9]*\ *(-\ )?(.*)$ ]] && name=$1${BASH_REMATCH[3]}
        reason=${line##*# SKIP}
        case $line in
        "ok "*"# SKIP"*) skip "${name%% # SKIP*}" "${reason# }" ;;
        "ok "*) pass "$name" ;;
        "not ok "*) fail "$name" ;;
        "#"*) printf '%s\n' "$line" ;;
        esac
    done
}

done_testing() { printf '1..%d\n' "$tap_count"; [ "$tap_failed" -eq 0 ]; }
