#!/usr/bin/env python3
"""Documentation: links lead somewhere, each page is linked, lines are short enough to read.

usage: docs.py [TREE]
"""

import os
import re
import sys

import tree

WIDTH = 100
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"#{1,6} +(.*?) *#*$")
FENCE = re.compile(r" *(```|~~~)")
CODE = re.compile(r"`[^`]*`")
# Alerts link to runbooks, and a folder's link stands for its records.
FOUND_OTHERWISE = ("docs/runbooks/", "docs/adr/")


def anchor(heading):
    """As GitHub makes it: lower case, no punctuation, hyphens for blanks."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def without_code(text):
    """The lines of the text, those of code blocks left empty."""
    lines, fenced = [], False
    for line in text.splitlines():
        is_fence = FENCE.match(line) is not None
        lines.append("" if fenced or is_fence else line)
        fenced ^= is_fence
    return lines


class Page:
    def __init__(self, text):
        lines = without_code(text)
        # Tables and code cannot be broken.
        self.wide = [number for number, line in enumerate(lines, 1)
                     if len(CODE.sub("", line)) > WIDTH and not line.startswith(("|", "    "))]
        self.anchors = set()
        for heading in filter(None, map(HEADING.match, lines)):
            name = anchor(heading.group(1))
            self.anchors.add(f"{name}-1" if name in self.anchors else name)
        whole = "\n".join(lines)
        self.links = [(whole.count("\n", 0, link.start()) + 1, link.group(1)) for link in LINK.finditer(whole)]


def target_of(name, link):
    """The file and anchor in the tree that a link of the file `name` names; None: elsewhere."""
    if re.match(r"[a-z]+:", link):
        return None
    path, _, fragment = link.partition("#")
    file = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
    return file, fragment


def check_tree(root):
    files = set(tree.files(root))
    folders = {os.path.dirname(name) for name in files}
    folders |= {os.path.dirname(folder) for folder in folders}
    pages = {name: Page(tree.read(root, name) or "") for name in sorted(files)
             if name.endswith(".md") and not name.startswith("tests/data/")}
    problems = []
    reached = set()
    for name, page in pages.items():
        problems += [f"{name}:{number}: more than {WIDTH} columns" for number in page.wide]
        for number, link in page.links:
            target = target_of(name, link)
            if target is None:
                continue
            file, fragment = target
            reached |= {file} - {name}
            if file not in files | folders:
                problems.append(f"{name}:{number}: {link}: there is no such file")
            elif fragment and file in pages and fragment not in pages[file].anchors:
                problems.append(f"{name}:{number}: {link}: {file} has no such heading")
    for name in pages:
        if name.startswith("docs/") and not name.startswith(FOUND_OTHERWISE) and name not in reached:
            problems.append(f"{name}: no page links to it")
    return problems


def main(arguments):
    return tree.report(check_tree(arguments[0] if arguments else "."))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
