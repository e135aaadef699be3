#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Finds references that lead nowhere, in the manuals and in the project's pages:

- NAME(N) in a manual: a manual of ours that is there, or one of others in FOREIGN;
- SECTION in a manual, where it is written in capitals behind see, in, under or of, or before
  (below), (above), below, above or "in" a manual: a section of that manual;
- NAME(N), Section, in a manual, a page, a sample or the source: a section of that manual of ours;
- a file of the project that a manual or a page names, and a [link](FILE#HEADING);
- "Heading" of CONTRIBUTING.md or of a FILE.md, where the text says that it is one.
"""
import glob
import os
import re
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")

# Manuals of other projects.
FOREIGN = {
    "env": "1", "fi_cxi": "7", "fi_efa": "7", "fi_info": "1", "fi_opx": "7",
    "fi_tcp": "7", "fi_verbs": "7",
    "hwloc": "7", "hwloc-bind": "1", "hwloc-info": "1",
    "intro_mpi": "3", "lstopo": "1",
    "lstopo-no-graphics": "1", "mpirun": "1", "numactl": "8", "salloc": "1", "sbatch": "1",
    "scancel": "1", "scontrol": "1", "sh": "1",
    "slurm.conf": "5", "spank": "7 8", "srun": "1", "sysfs": "5",
    "systemd.service": "5", "taskset": "1", "cgroup.conf": "5", "gres.conf": "5",
}
SECTION = r"[A-Z][A-Z]+(?: [A-Z]+)*"


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def plain(source):
    """The running text of a manual's source: macros and changes of the font are taken out."""
    text = []
    for line in source.splitlines():
        if re.match(r"\.(SH|SS|TH|\\\")", line):
            text.append("")
            continue
        macro = re.match(r"\.([A-Z]{1,2}) (.*)", line)
        if macro and macro[1] in ("BR", "IR", "RB", "RI", "BI", "IB"):
            line = "".join(re.findall(r'"[^"]*"|\S+', macro[2])).replace('"', "")
        elif macro:
            line = macro[2].replace('"', "")
        text.append(re.sub(r"\\f[BIRP]|\\&", "", line).replace("\\-", "-"))
    return re.sub(r"\s+", " ", " ".join(text))


def manuals():
    """{"nuioa(1)": (file, sections, text)}"""
    pages = {}
    for path in sorted(glob.glob("man/*.in")):
        name = re.match(r"man/(.+)\.(\d)\.in", path)
        if name:
            source = read(path)
            sections = {title.strip('"') for title in re.findall(r"^\.S[HS] (.+)$", source, re.M)}
            pages[f"{name[1]}({name[2]})"] = (path, sections, plain(source))
    return pages


def wrong_pages(pages):
    for path, _, text in pages.values():
        for name, number in re.findall(r"\b([a-zA-Z][\w.-]*)\((\d)\)", text):
            if f"{name}({number})" not in pages and number not in FOREIGN.get(name, "").split():
                yield f"{path}: {name}({number}) is no manual of ours, and not in FOREIGN"


def wrong_sections(pages):
    known = {title for _, sections, _ in pages.values() for title in sections if title.isupper()}
    for path, sections, text in pages.values():
        named = re.findall(
            rf"\b(?:see|in|under|of) ({SECTION})\b(?: (?:in|of) ([\w-]+\(\d\)))?", text)
        named += [(title, "") for title in re.findall(rf"({SECTION}),? \(?(?:below|above)\b", text)]
        for title, page in named:
            there = pages[page][1] if page in pages else sections
            # A single word may be a name that is written in capitals.
            if title not in there and (page or title in known or " " in title):
                yield f"{path}: there is no section {title}" + (f" in {page}" if page else "")


def wrong_titles(pages, paths):
    """NAME(N), and then a capital letter, begin a reference to a section, as in nuioa(7), GPUS."""
    said = re.compile(r'([a-z][\w-]*\(\d\)), "?(?=([A-Z].{0,50}))')
    for path in paths:
        text = next((text for file, _, text in pages.values() if file == path), None)
        if text is None:
            text = re.sub(r"\s+(?:(?://|\*|#) )?", " ", read(path)).replace("`", "")
        for page, rest in said.findall(text):
            if page in pages and not any(rest.startswith(title) for title in pages[page][1]):
                yield f"{path}: {page} has no section that \"{rest[:30]}\" begins with"


def headings(path):
    """The headings of a page, and what begins a paragraph in bold."""
    return [line.rstrip(".") for line in
            re.findall(r"^#+ (.+)$|^\*\*(.+?)\*\*", read(path), re.M) for line in line if line]


def anchor(heading):
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def wrong_files(paths):
    name = re.compile(r"(?<![\w./-])((?:doc|etc|lib|man|mpi|pmix|spank|test|tools)/[\w./-]+\.\w+)")
    for path in paths:
        text = read(path).replace("\\-", "-").replace("\\fR", "")
        for file in set(name.findall(text)):
            places = (file, file + ".in", os.path.join(os.path.dirname(path), file))
            if not any(os.path.exists(place) for place in places):
                yield f"{path}: {file} is not there"
        for target in re.findall(r"\]\(([^)\s]+)\)", text) if path.endswith(".md") else []:
            file, _, part = target.partition("#")
            where = os.path.join(os.path.dirname(path), file) if file else path
            if "://" in target:
                continue
            if not os.path.exists(where):
                yield f"{path}: the link to {target} leads nowhere"
            elif part and where.endswith(".md") and part not in map(anchor, headings(where)):
                yield f"{path}: {where} has no heading {part}"


def wrong_headings(paths):
    said = re.compile(r'(?:see|See|in|under|rows (?:for|of)|of) "([A-Z][\w\' ]+)"')
    there = re.compile(r'\b((?:doc/)?[\w]+\.md), "([^"]+)"')
    for path in paths:
        text = re.sub(r"\s+", " ", read(path))
        if path == "CONTRIBUTING.md":
            titles = " ".join(headings(path)) + " " + " ".join(
                title for page in glob.glob("doc/*.md") + ["README.md"] for title in headings(page))
            titles += read("test/unit/tool.t") + " ".join(
                title for _, sections, _ in manuals().values() for title in sections)
            yield from (f"{path}: nothing is called \"{title}\""
                        for title in set(said.findall(text)) if title not in titles)
        for page, title in set(there.findall(text)):
            file = page if os.path.exists(page) else os.path.join("doc", page)
            if not os.path.exists(file) or title not in headings(file):
                yield f"{path}: {page} has no heading \"{title}\""


def main():
    os.chdir(TOP)
    pages = manuals()
    texts = sorted(glob.glob("man/*.in") + glob.glob("*.md") + glob.glob("doc/*.md"))
    headers = sorted(glob.glob("lib/*/*.h") + glob.glob("spank/*/*.h"))
    source = sorted(path for room in ("lib", "spank", "pmix", "mpi", "tools", "etc")
                    for path in glob.glob(f"{room}/**/*", recursive=True)
                    if path.endswith((".c", ".h", ".md", ".in", ".lua")))
    wrong = [*wrong_pages(pages), *wrong_sections(pages), *wrong_files(texts),
             *wrong_headings(texts + headers), *wrong_titles(pages, texts + source)]
    print("\n".join(sorted(set(wrong))), end="\n" if wrong else "")
    return bool(wrong)


sys.exit(main())
