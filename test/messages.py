#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes doc/messages.md: what the plugin and the tools print, out of their sources.

    test/messages.py >doc/messages.md

A message is what a call of SINKS prints, or another literal that reads like a sentence. What --help
prints, headings of tables, keys and paths are no messages.
"""
import ast
import glob
import os
import re

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
HEAD = """# Messages

What nuioa prints when something is wrong, or to explain what it did. Search this page for
three words of a message. Where the last column is empty, the message says what to do, or
nothing is to be done. NAME, FILE and REASON stand for a text, N for a number, `{A|B}` for one
of several texts, `[A]` for a text that may be missing. `test/messages.py >doc/messages.md`
writes this page from the sources. Never edit it.

| message | who sees it | what to do |
|---|---|---|"""

# Who sees a message: the first row whose pattern fits the file.
SEEN_BY = (
    (r"spank/slurmd\.c", "administrator, slurmd.log"),
    (r"pmix/server/", "administrator, slurmd.log"),
    (r"lib/topology/(cache|node_serialize)", "administrator, slurmd.log or nuioa cache"),
    (r"lib/topology/distance_site", "administrator, slurmd.log or a tool"),
    (r"lib/(ranks|plan|slots|nics|output)/", "user, srun or a tool"),
    (r"lib/", "user, srun or a tool"),
    (r"spank/(srun|report)/", "user, srun"),
    (r"spank/task/", "user, in the job's output"),
    (r"spank/", "user, srun; administrator, slurmd.log"),
    (r"pmix/", "program that uses libnuioa-client"),
    (r"mpi/", "user, in the job's output"),
    (r"tools/(doctor|exec|probe)/", r"user, nuioa \1"),
    (r"tools/([a-z]+)(_.*|\.py|\.c)$", r"user, nuioa \1"),
)
# What to do where the message does not say it: the first row that fits the file and the message.
DO = (
    (r"(out of|too much|lacked|MB of( free)?) memory|no memory to",
     "Free memory, or request more (srun --mem)."),
    (r"REASON", "Remove the cause that REASON names."),
    (r"topology/(cache|node_serial)", "Run nuioa cache as root on the node."),
    (r"lib/(profile/profile|topology/distance_site)|probe/latency|plan_input",
     "Correct the file or the value that the message names."),
    (r"", ""),
)
SINKS = re.compile(r"""(nuioa_(fail|warn|profile_warn)|tool_(fail|usage)|profile_fail|refuse|usage
    |log_line|doctor_report|slurm_(error|info|verbose|spank_log)|fail|Fail(ure|ed)|say|blame)$""",
                   re.X)
# Which argument is the format, where a literal before it is something else
FORMAT_AT = {"nuioa_fail": 2, "nuioa_warn": 1, "tool_usage": 1, "doctor_report": 3, "snprintf": 2,
             "fprintf": 1}
# Calls whose texts are read, compared or no messages
QUIET = re.compile(r"""(str|mem)[a-z]*cmp|str(str|chr|cspn|pbrk|len|spn)$|f?open|sscanf|getenv
    |nuioa_(sysfs|block|hash)_|nuioa_text_table_(init|wrap)|json_|tool_json|get_info|_has$|is_one_of
    |add_heads|_Static_assert|__asm__|draw$|compile$|match$|search$|split|join|(starts|ends)with
    |add_argument|get$""", re.X)
HELP = re.compile(r"help|usage|heads?$|format|columns", re.I)
HELP_FILES = ("lib/option/option_table.c",)
SENTENCE = re.compile(r"[A-Za-z]{2,}[ ,:]+[A-Za-z]{2,}.* [a-z]{2,}|: [a-z]{2,} [a-z]{2,}")

TOKEN = re.compile(r"""(?P<skip>/\*.*?\*/|//[^\n]*|\s+|\\\n)|(?P<hash>\#(?:\\\n|/\*.*?\*/|[^\n])*)
    |(?P<str>"(?:\\.|[^"\\])*")|(?P<char>'(?:\\.|[^'\\])+')|(?P<id>[A-Za-z_]\w*)
    |(?P<num>[0-9][\w.]*)|(?P<op>->|\S)""", re.X | re.S)
CONVERSION = re.compile(r"%(?:%|[-+ #0]*(\*|\d+)?(?:\.(\*|\d+))?(?:[hlzjt]{0,2})([a-zA-Z]))")


def files(end, under="lib spank pmix mpi tools"):
    """The names of the files that git would have: below these directories, with this end."""
    return sorted(os.path.relpath(path, TOP) for room in under.split() for path in glob.glob(
        os.path.join(TOP, room, "**", "*" + end), recursive=True) if os.path.isfile(path))


def read(name):
    with open(os.path.join(TOP, name), encoding="utf-8", errors="replace") as file:
        return file.read()


def macros():
    """{name: text} of macros that are a literal"""
    found = {}
    for name in files(".[ch]"):
        for macro, text in re.findall(r'^#define (\w+)\s+((?:\\\n|[^\n])*)', read(name), re.M):
            parts = re.findall(r'"(?:\\.|[^"\\])*"', text)
            if parts and not re.sub(r'"(?:\\.|[^"\\])*"|[\\\s()]', "", text):
                found[macro] = "".join(part[1:-1] for part in parts)
    return found


class Token:
    def __init__(self, kind, text, line):
        self.kind, self.text, self.line = kind, text, line


def tokens(source, defines):
    """The tokens of C; literals behind each other are one."""
    line, out = 1, []
    for found in TOKEN.finditer(source):
        kind, text = found.lastgroup, found.group()
        if kind == "id" and (text in defines or text.startswith("PRI")):
            kind, text = "str", '"%s"' % defines.get(text, "u")
        if kind == "str" and out and out[-1].kind == "str":
            out[-1].text += text[1:-1]
        elif kind == "str":
            out.append(Token(kind, text[1:-1], line))
        elif kind not in ("skip", "hash"):
            out.append(Token(kind, text, line))
        line += found.group().count("\n")
    return out


def groups(toks, at):
    """The arguments behind the bracket toks[at], as lists of tokens, and the index of its end."""
    depth, args = 0, [[]]
    for i in range(at, len(toks)):
        text = toks[i].text if toks[i].kind == "op" else ""
        depth += (text in ("(", "[", "{") and text != "") - (text in (")", "]", "}") and text != "")
        if depth == 0:
            return args, i
        if depth == 1 and text == ",":
            args.append([])
        elif i > at:
            args[-1].append(toks[i])
    return args, len(toks) - 1


def choices(arg):
    """The literals of an argument that is one, or chooses one; else none"""
    if not any(t.kind == "str" for t in arg):
        return []
    if len(arg) > 1 and not any(t.text == "?" for t in arg):
        return []
    depth, found = 0, []
    for before, t in zip([Token("op", "?" if len(arg) == 1 else "", 0)] + arg, arg):
        if t.kind == "op":
            depth += (t.text in "([") - (t.text in ")]")
        elif t.kind == "str" and before.text in ("?", ":", "("):
            found.append(t.text)
        elif before.text in ("?", ":"):
            found.append(placeholder(arg))
    return found


def placeholder(arg):
    names = [t.text for t in arg if t.kind == "id"] if arg else []
    if re.search(r"err|text|why|reason|cause", " ".join(names)):
        return "REASON"
    if "nuioa_report_plural" in names:
        return "(s)"
    return "FILE" if re.search(r"path|file|directory|where", " ".join(names)) else "NAME"


def one_of(texts, args):
    """The texts as the page shows them, with what stands for the arguments"""
    shown = list(dict.fromkeys(expand(text, args) for text in texts))
    if set(shown) == {"", "s"}:
        return "(s)"
    some = "|".join(text for text in shown if text)
    return some if len(shown) == 1 else "[%s]" % some if "" in shown else "{%s}" % some


def expand(text, args):
    left = list(args)

    def one(found):
        if found.group() == "%%":
            return "%"
        for star in (found.group(1), found.group(2)):
            if star == "*" and left:
                left.pop(0)
        arg = left.pop(0) if left else []
        if found.group(3) not in "sc":
            return "N"
        inner = [t for t in arg if t.kind == "str"]
        shown = choices(arg)
        return one_of(shown, []) if inner and shown else placeholder(arg)
    text = CONVERSION.sub(one, text).replace("'REASON'", "'NAME'").replace("\\n", " ")
    return re.sub(r"\\(.)", r"\1", text).strip()


class Message:
    """A text, the lines of its call, and what code names to have it from a table"""

    def __init__(self, text, file, first_line, last_line, key=""):
        self.text, self.file, self.key = text, file, key
        self.lines = range(first_line, last_line + 1)


def is_message(text, sink):
    plain = re.sub(r"\b(NAME|FILE|REASON|N)+\b|\(s\)|^nuioa:", " ", text)
    if SINKS.match(sink):
        return re.search(r"[A-Za-z]{3}", plain)
    return SENTENCE.search(plain) and not re.match(r"\s*(Usage:|nuioa \w+ )", text)


def c_messages(name, defines):
    toks = tokens(read(name), defines)
    owner, table, stack, taken = "", "", [], set()
    for i, t in enumerate(toks):
        if t.kind == "op" and t.text in "([{":
            stack.append((toks[i - 1].text if t.text == "(" else "{", i))
        elif t.kind == "op" and t.text in ")]}" and stack:
            stack.pop()
        if t.kind == "id" and not stack:
            owner, table = t.text, ""
        if t.text == "[" and any(before.text == "static" for before in toks[max(0, i - 6):i]):
            owner = table = toks[i - 1].text
        if t.kind != "str" or i in taken:
            continue
        call, at = next((c for c in reversed(stack) if re.match(
            r"\{|(?!(if|for|while|sizeof|switch|return)$)[A-Za-z_]", c[0])), ("{", -1))
        call = call.strip("{")
        if not call and (HELP.search(owner) or name in HELP_FILES) or QUIET.search(call):
            continue
        field = toks[i - 2].text if toks[i - 1].text == "=" and toks[i - 3].text == "." else ""
        if field in ("words", "excludes"):
            continue
        if field == "needs":  # of tools/tool.h
            t.text = "--NAME requires --" + t.text
        args, end = groups(toks, at) if call else ([[t]], i)
        here = next((n for n, arg in enumerate(args) if t in arg), 0)
        spot = FORMAT_AT.get(call, here)
        taken.update(n for n in range(i, end) if any(toks[n] in arg for arg in args))
        text = one_of(choices(args[spot]) if spot < len(args) else [], args[spot + 1:])
        if text and is_message(text, call):
            yield Message(text, name, toks[at if call else i].line, toks[end].line,
                          enumerator(toks, i) or ("" if call else table))


def enumerator(toks, i):
    """What code names to have this text of a table: [NAME] = "text", { "name", ... "text" }, or
    NUIOA_REASON(NAME, "text")"""
    back = [t.text for t in toks[max(0, i - 4):i]]
    if back[:2] == ["NUIOA_REASON", "("]:
        return back[2]
    if back[-2:] == ["]", "="] and back[-3] != "[":
        return back[-3]
    for t, before in zip(reversed(toks[:i]), reversed(toks[:i - 1])):
        if t.text in (";", "}"):
            break
        if before.text == "{" and t.kind == "str":
            return '"%s"' % t.text
    return ""


def python_text(node):
    """The text of a literal, of literals with % behind them, or of one that is chosen; else None"""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        return python_text(node.left)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return (python_text(node.left) or "%s") + (python_text(node.right) or "%s")
    if isinstance(node, ast.IfExp):
        return python_text(node.body)
    return None


def py_messages(name):
    tree, inner = ast.parse(read(name)), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            inner.add(node.value)  # a docstring
        if isinstance(node, ast.Assign) and HELP.search(ast.unparse(node.targets[0])):
            inner.update(ast.walk(node))
        call = ast.unparse(node.func).split(".")[-1] if isinstance(node, ast.Call) else ""
        for arg in (node.args if call and not QUIET.search(call) else [node] if not call else []):
            text = python_text(arg) if arg not in inner else None
            if text is None:
                continue
            inner.update(ast.walk(arg))
            text = expand(text, [])
            if is_message(text, call):
                yield Message(text, name, node.lineno, node.end_lineno)


def messages():
    defines = macros()
    for name in files(".c") + files("_list.h"):
        yield from c_messages(name, defines)
    for name in files(".py"):
        yield from py_messages(name)


def first(rows, text):
    pattern, result = next(row for row in rows if re.search(row[0], text))
    return re.search(pattern, text).expand(result) if "\\" in result else result


def by_text():
    """{text: its messages}, sorted by the first words"""
    rows = {}
    for message in messages():
        rows.setdefault(message.text, []).append(message)
    return dict(sorted(rows.items(), key=lambda row: (re.sub(
        r"\b[A-Z]+\b|[^A-Za-z0-9 ]", "", row[0]).strip().lower(), row[0])))


def page():
    """Of a finding of the doctor, what to do is the second text of its kind."""
    print(HEAD)
    advice = {m.key: m.text for m in messages() if m.file.endswith("doctor/kinds.c")}
    for text, sites in by_text().items():
        who = "; ".join(dict.fromkeys(first(SEEN_BY, m.file) for m in sites))
        do = advice.get(sites[0].key) or first(DO, sites[0].file + " " + text)
        if do != text:
            print("| %s | %s | %s |" % (text.replace("|", "\\|"), who, do.replace("|", "\\|")))


if __name__ == "__main__":
    page()
