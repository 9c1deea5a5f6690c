#!/usr/bin/env python3
"""Checks documentation: links have targets, each page is linked, lines are short, tables have
even rows, and each thing has only one name.

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
# Alerts link to runbooks, and a link to a folder counts for its records.
FOUND_OTHERWISE = ("docs/runbooks/", "docs/adr/")

GLOSSARY = "docs/glossary.md"
WORDS = ["say", "not"]
TERMS = ["term", "meaning"]
# Records of decisions keep the words of their time.
OLD_WORDS = ("docs/adr/",)
# Code spans (which may continue on the next line, but not in the next paragraph), targets of links,
# addresses, and names of pages.
NO_PROSE = re.compile(r"`(?:[^`\n]|\n(?!\n))*`|\]\([^)]*\)|https?://\S+|[\w./-]+\.md\b")


def anchor(heading):
    """Returns the anchor that GitHub generates: lower case, no punctuation, hyphens instead of
    blanks."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def without_code(text):
    """Returns the lines of the text, with empty lines instead of code blocks."""
    lines, fenced = [], False
    for line in text.splitlines():
        is_fence = FENCE.match(line) is not None
        lines.append("" if fenced or is_fence else line)
        fenced ^= is_fence
    return lines


def uneven_rows(lines):
    """Returns the numbers of the table rows that have more or fewer cells than their header, and of
    headers without a row of hyphens below."""
    uneven, columns = [], None
    for number, line in enumerate(lines, 1):
        if not line.lstrip().startswith("|"):
            columns = None
            continue
        cells = CODE.sub("", line).replace(r"\|", "").strip().count("|") - 1
        if columns is None:
            columns = cells
            below = lines[number].strip() if number < len(lines) else ""
            if not below.startswith("|") or set(below) - set("|-: "):
                uneven.append(number)
        elif cells != columns:
            uneven.append(number)
    return uneven


def table_rows(lines, header):
    """Yields the line number and the cells of each row in tables with this header."""
    above = None
    for number, line in enumerate(lines, 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            above = None
        elif above is None:
            above = cells
        elif above == header and set(line) - set("|-: "):
            yield number, cells


def pattern(word):
    """Returns a pattern that matches the word, its plural and its forms as a verb, even across the
    end of a line."""
    parts = r"\s+".join(map(re.escape, word.split()))
    return re.compile(rf"\b{parts}(?:e?s|d|ed|ing)?\b", re.IGNORECASE)


class Glossary:
    """The glossary's words, and the words that it refuses."""

    def __init__(self, lines):
        rows = list(table_rows(lines, WORDS))
        self.instead = {word: cells[0] for _, cells in rows for word in cells[1].split(", ")}
        self.patterns = [(pattern(word), preferred) for word, preferred in self.instead.items()]
        self.refusing_lines = {number for number, _ in rows}
        self.problems = []
        if not rows:
            self.problems.append(f"{GLOSSARY}: there is no table with the columns {' and '.join(WORDS)}")
        for column, table in ((0, table_rows(lines, TERMS)), (1, rows)):
            first = {}
            for number, cells in table:
                for term in cells[column].split(", "):
                    line = first.setdefault(term.lower(), number)
                    if line != number:
                        self.problems.append(f'{GLOSSARY}:{number}: "{term}" is in line {line}, too')

    def check(self, name, lines):
        if name == GLOSSARY:
            # A row's first cell is checked against the other rows. The words that a row refuses are
            # not checked.
            lines = [line.strip("|").partition("|")[0] if number in self.refusing_lines else line
                     for number, line in enumerate(lines, 1)]
        prose = NO_PROSE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), "\n".join(lines))
        return [f'{name}:{prose.count(chr(10), 0, match.start()) + 1}: '
                f'"{" ".join(match.group().split())}": say "{preferred}" ({GLOSSARY})'
                for refused, preferred in self.patterns for match in refused.finditer(prose)]


def in_use(name, lines):
    """Returns the lines to which the glossary applies: released parts of a changelog keep their
    words."""
    if name != "CHANGELOG.md":
        return lines
    headings = [index for index, line in enumerate(lines) if line.startswith("## ")]
    return lines[:headings[1]] if len(headings) > 1 else lines


class Page:
    def __init__(self, text):
        lines = without_code(text)
        self.lines = lines
        # Tables and code cannot be wrapped.
        self.wide = [number for number, line in enumerate(lines, 1)
                     if len(CODE.sub("", line)) > WIDTH and not line.startswith(("|", "    "))]
        self.uneven = uneven_rows(lines)
        self.anchors = set()
        for heading in filter(None, map(HEADING.match, lines)):
            name = anchor(heading.group(1))
            self.anchors.add(f"{name}-1" if name in self.anchors else name)
        whole = "\n".join(lines)
        self.links = [(whole.count("\n", 0, link.start()) + 1, link.group(1)) for link in LINK.finditer(whole)]


def target_of(name, link):
    """Returns the file and anchor in the tree to which a link in the file `name` leads; None if it
    leads elsewhere."""
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
    glossary = Glossary(pages[GLOSSARY].lines if GLOSSARY in pages else [])
    problems = list(glossary.problems)
    reached = set()
    for name, page in pages.items():
        if not name.startswith(OLD_WORDS):
            problems += glossary.check(name, in_use(name, page.lines))
        problems += [f"{name}:{number}: more than {WIDTH} columns" for number in page.wide]
        problems += [f"{name}:{number}: this row does not match its table's header" for number in page.uneven]
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
