#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# test/support with tiny cells, in a repository of its own: rows are written, and kept; a planted
# failure turns its cell red, unless a row of support.owners explains it; a cell of another commit
# is said to be stale. TAP on stdout; takes seconds and needs no root.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/tap.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
unset BUILD_DIR
export GIT_AUTHOR_NAME=test GIT_AUTHOR_EMAIL=test@localhost GIT_COMMITTER_NAME=test \
    GIT_COMMITTER_EMAIL=test@localhost

mkdir -p "$work/test" "$work/doc"
cp "$here/support" "$here/suites.sh" "$here/tap.sh" "$work/test"
cd "$work" || exit
echo /build/ >.gitignore
printf '%s\t%s\t%s\n' one "the first" "test/first; test/second" two "the second" test/second \
    three "with a directory" "test/third DIR" >test/support.cells
printf '#!/bin/sh\nprintf "%s"\n' "# configure says: d is too old\\nok 1 - a | b\\n" >test/first
printf 'printf "%s"\n' "ok 2 - c # SKIP no d\\n1..2\\n" >>test/first
printf '#!/bin/sh\nprintf "ok 1 - e\\n1..1\\n"\n' >test/second
printf '#!/bin/sh\necho "ok 1 - $1"\necho 1..1\n' >test/third
chmod +x test/*
: >test/support.owners

commit() { git add -A && git commit -q -m "$1" && now=$(git log -1 --format=%h); }
git init -q
commit first

# support ARGUMENT...: its status and the last line of what it says
support() { out=$(test/support "$@" 2>&1); out="$?|$(tail -n 1 <<<"$out")"; }
cell() { grep "^| $1 | .*| [0-9]* |$" doc/support.md | cut -d '|' -f 5-9 | tr -d '\n'; }
failures() {
    sed -n '/^## Failures/,/^## Commands/p' doc/support.md | grep '^| [a-z]* | ' |
        grep -v '^| cell'
}
check() { out=$(test/support --check 2>&1); out="$?|$(paste -sd ',' <<<"$out")"; }

support one
is "a cell that passes" "$out" "0|test/support: one: passes: 2 passed, 0 failed, 1 skipped"
is "... its row" "$(cell one)" " $now | 2 | 0 | 1 | passes "
is "... others have not run" "$(cell two)" " - | 0 | 0 | 0 | not run "
is "... no failure" "$(failures)" ""
is "... what configure refuses" "$(grep -c '^| one | d is too old |$' doc/support.md)" 1
check
is "... and nothing is stale" "$out" "0|two: not run,three: not run"
commit "the page"
check
is "a commit of the page makes no cell stale" "$out" "0|two: not run,three: not run"
sed -i 's/^set -u$/set -u # and no more/' test/support
commit "what writes the page"
check
is "... nor does one of what writes it" "$out" "0|two: not run,three: not run"

support three
is "a cell whose directory is not named" "$out" "0|test/support: three: not run: the directory of\
 that Slurm was not named: 0 passed, 0 failed, 0 skipped"
support "three=$work"
is "... and where it is" "$out" "0|test/support: three: passes: 1 passed, 0 failed, 0 skipped"
support four
like "a cell that is none" "$out" '^2\|.*four is no cell'

# Planted: a check that fails, a test that dies, and one that does not start
before=$(git log --format=%h -- test/first | head -n 1)
printf '#!/bin/sh\nprintf "not ok 1 - $PWD/e | <f>\\n1..1\\n"\nexit 1\n' >test/second
commit "a planted fault"
support two
is "a planted failure" "$out" "1|test/support: two: **red**: 0 passed, 1 failed, 0 skipped"
is "... its row is red" "$(cell two)" " $now | 0 | 1 | 0 | **red** "
is "... and names nuioa as the owner, and no directory" "$(failures)" \
    '| two | second: e \| &lt;f> | nuioa | no row of test/support.owners explains it |'
is "... the other cell is stale" "$(cell one)" " $before, stale | 2 | 0 | 1 | passes "
check
is "... and that is said" "$out" "1|one: stale,two: red,three: stale"

printf '^two: second: e\tSlurm\tits bug 1\n' >test/support.owners
commit "an owner"
check
is "all are stale with the next commit" "$out" "1|one: stale,two: stale,two: red,three: stale"
support two
is "a failure that has an owner" "$out" \
    "0|test/support: two: others' failures only: 0 passed, 1 failed, 0 skipped"
is "... who is named" "$(failures)" '| two | second: e \| &lt;f> | Slurm | its bug 1 |'
support one
is "... but not for another cell" "$out" \
    "1|test/support: one: **red**: 1 passed, 1 failed, 1 skipped"
is "... whose failures are added" "$(failures | sed 's/&.*> //' | tr -d '\n')" "| one | second:\
 e \\| | nuioa | no row of test/support.owners explains it || two | second:\
 e \\| | Slurm | its bug 1 |"

printf '#!/bin/sh\necho "ok 1 - g"\n' >test/second
commit "dies"
support two
is "a test that dies is a failure" "$out" \
    "1|test/support: two: **red**: 1 passed, 1 failed, 0 skipped"
rm test/second
commit "is gone"
support two
like "one that does not start, too" "$out" '^1\|.*0 passed, 1 failed'

cp test/first test/second
support two
is "files that are in no commit" "$out|$(cell two)" "0|test/support: two: passes: 1 passed,\
 0 failed, 1 skipped| $now+, stale | 1 | 0 | 1 | passes "
printf '#!/bin/sh\necho "1..0 # SKIP no mirror"\n' >test/second
commit "nothing to do"
support one
is "a command that can do nothing" "$out" "0|test/support: one: passes in part: no mirror: 1\
 passed, 0 failed, 2 skipped"
check
like "... and that is said" "$out" '\|one: passes in part,'
support two
is "... a cell with no other" "$out" "0|test/support: two: not run: no mirror: 0 passed,\
 0 failed, 1 skipped"

cp test/first test/second
commit "as it was"

git clone -q . build/other
(cd build/other && mkdir -p doc && test/support two 2>/dev/null)
check
like "before a page of another clone is taken" "$out" "two: not run"
support --take build/other/doc/support.md
is "a page of another clone" "$out" "0|test/support: two: taken from build/other/doc/support.md"
is "... its row" "$(cell two)" " $now | 1 | 0 | 1 | passes "
before=$(git log -1 --format=%h -- test/third)
is "... not those of other commits" "$(cell three)" " $before, stale | 1 | 0 | 0 | passes "
is "... what configure refuses" "$(grep -c '^| two | d is too old |$' doc/support.md)" 1
support --take no/such
like "a page that is not there" "$out" '^2\|.*no/such cannot be read'
rm -rf build/other

support all "three=$work"
check
is "all cells" "$out" "0|"
done_testing
