#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# A real zsh completes nuioa(1): what is typed with a tab behind it becomes what is wanted, as it
# does in bash, whose words test/unit/tool.t has.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tool.sh
. "$here/tool.sh"

if ! command -v zsh >/dev/null; then
    skip_all "zsh completes" "there is no zsh"
fi

# As installed: zsh's file finds bash's.
share=$work/share
mkdir -p "$share/bash-completion/completions" "$share/zsh/site-functions" "$work/bin"
cp "$here/../../etc/completion/nuioa" "$share/bash-completion/completions"
cp "$here/../../etc/completion/_nuioa" "$share/zsh/site-functions"
ln -s "$(realpath "$tool")" "$work/bin/nuioa"

# One zsh for all lines, on a terminal of its own. Its tab puts all that matches into the line, in
# the order of the alphabet; the key behind it writes the line to a file.
cat >"$work/inner.zsh" <<'END'
fpath=($SHARE/zsh/site-functions $fpath)
autoload -Uz compinit
compinit -u -d $WORK/dump
zstyle ':completion:all::::' completer _all_matches _complete
zstyle ':completion:all:*' old-matches only
zstyle ':completion:*' completer _all_matches _complete
zstyle ':completion:*' insert true
setopt no_auto_remove_slash
write() { print -r -- $BUFFER >>$WORK/lines; BUFFER= }
zle -N write
bindkey '^I' complete-word '^X' write
PROMPT='ready>'
END
cat >"$work/outer.zsh" <<'END'
zmodload zsh/zpty zsh/zselect
read_until() { # PATTERN: of what the terminal shows
    local all= part
    repeat 600; do
        while zpty -rt inner part 2>/dev/null; do all+=$part; done
        [[ $all == *$~1* ]] && return
        zselect -t 10
    done
    print -u2 -r -- "no $1 in: $all"
    exit 1
}
zpty -b inner zsh -f -i
zpty -w inner "source $WORK/inner.zsh"
read_until 'ready>'
for line in "$@"; do
    : >$WORK/lines
    zpty -wn inner "$line"$'\t\x18'
    repeat 600; do [[ -s $WORK/lines ]] && break; zselect -t 10; done
    cat $WORK/lines
done
zpty -d inner
END

# What is typed, and behind | what the line then is.
hagrid=$machines/hagrid5
cases=("nuioa to|nuioa topo"
    "nuioa plan --po|nuioa plan --policy"
    "nuioa plan --ta|nuioa plan --tasks"
    "nuioa plan --policy l|nuioa plan --policy latency"
    "nuioa plan --policy=l|nuioa plan --policy=latency"
    "nuioa plan --policy=|nuioa plan --policy=bandwidth --policy=latency"
    "nuioa plan --policy=latency --cores |nuioa plan --policy=latency --cores auto keep pack share"
    "nuioa profile --me|nuioa profile --metric"
    "nuioa profile $hagrid|nuioa profile $hagrid.xml"
    "nuioa topo --topology $hagrid|nuioa topo --topology $hagrid.xml"
    "nuioa topo --topology=$hagrid|nuioa topo --topology=$hagrid.xml"
    "nuioa plan --tasks |nuioa plan --tasks"
    "$work/bin/nuioa plan --po|$work/bin/nuioa plan --policy")
mapfile -t got < <(HOME=$work TERM=xterm PATH=$work/bin:$PATH WORK=$work SHARE=$share \
    timeout 120 zsh -f "$work/outer.zsh" "${cases[@]%%|*}" 2>"$work/err")
is "zsh completes each line" "${#got[@]} $(<"$work/err")" "${#cases[@]} "
for i in "${!cases[@]}"; do
    typed=${cases[i]%%|*} wanted=${cases[i]#*|} line=${got[i]-}
    is "zsh: ${typed//"$work"/DIR}" "${line%"${line##*[! ]}"}" "$wanted"
done
done_testing
