#!/usr/bin/env python3
"""Checks how the code is divided into folders (docs/ARCHITECTURE.md): no folder has too many files,
and the includes within a folder form no cycle.

usage: structure.py [--table] [TREE]

A folder's rooms are its subfolders and its files; a header and the sources with its name are one
room. An arrow leads from a room that includes to the room that is included. --table prints the
numbers of both for every folder, the lines of the product's C++, and the small pairs: a header and
its source that together have too few lines and no comment that says why they are separate files.
"""

import collections
import os
import re
import sys

import tree

# A folder with more sources and headers of its own has to be divided.
MOST_FILES = 25
# Folder -> its most rooms and arrows, if one page is to show all of them.
SEEN = {folder: (12, 20)
        for folder in ("cli", "controller", "deviceplugin", "extender", "nodeagent", "src/engine", "src/wire")}
# A header and source with fewer lines together belong into another file, or have a comment that
# says why not: "// This file is separate because ...".
FEWEST_LINES = 80
APART = "// This file is separate because "
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)


def product_files(root):
    return [name for name in tree.cpp_files(root) if not name.startswith(("tests/", "research/tests/"))]


def includes(root, names):
    """Returns file -> the files of the tree that it includes."""
    known = set(names)
    found = {}
    for name in names:
        targets = INCLUDE.findall(tree.read(root, name))
        found[name] = [path for target in targets for path in (target, f"src/{target}") if path in known]
    return found


def room_of(name, folder):
    """Returns the room of a file; None for a file outside the folder."""
    if not name.startswith(folder + "/"):
        return None
    first, *rest = name[len(folder) + 1:].split("/")
    return first if rest else first.rsplit(".", 1)[0]


def look_at(folder, included):
    """Returns the folder's rooms, and its arrows as pairs of rooms."""
    rooms = {room_of(name, folder) for name in included} - {None}
    arrows = set()
    for name, targets in included.items():
        pairs = {(room_of(name, folder), room_of(target, folder)) for target in targets}
        arrows |= {(one, other) for one, other in pairs if one and other and one != other}
    return rooms, arrows


def circle_in(arrows):
    """Returns the rooms of a cycle, in order; empty if there is none."""
    to = collections.defaultdict(list)
    for one, other in sorted(arrows):
        to[one].append(other)
    done = set()

    def visit(room, path):
        if room in path:
            return path[path.index(room):] + [room]
        if room in done:
            return []
        for other in to[room]:
            if circle := visit(other, path + [room]):
                return circle
        done.add(room)
        return []

    for room in list(to):
        if circle := visit(room, []):
            return circle
    return []


def small_pairs(root, names):
    """Returns the name of each small pair, and its lines."""
    known = set(names)
    for header in names:
        source = header.removesuffix(".h") + ".cc"
        if not header.endswith(".h") or source not in known:
            continue
        text = tree.read(root, header)
        lines = text.count("\n") + tree.read(root, source).count("\n")
        if lines < FEWEST_LINES and APART not in text:
            yield header, lines


def check_folder(folder, files, rooms, arrows):
    problems = []
    if files > MOST_FILES:
        problems.append(f"{folder}: {files} files; above {MOST_FILES} a folder is divided by subjects")
    if folder in SEEN:
        most_rooms, most_arrows = SEEN[folder]
        if len(rooms) > most_rooms or len(arrows) > most_arrows:
            problems.append(
                f"{folder}: {len(rooms)} rooms and {len(arrows)} arrows; at most {most_rooms} and {most_arrows}")
        if circle := circle_in(arrows):
            problems.append(f"{folder}: {' -> '.join(circle)} is a circle")
    return problems


def main(arguments):
    table = "--table" in arguments
    root = next((argument for argument in arguments if not argument.startswith("--")), ".")
    names = product_files(root)
    included = includes(root, names)
    files = collections.Counter(os.path.dirname(name) for name in names)
    folders = sorted(set(files) | set(SEEN))
    problems = []
    for folder in folders:
        rooms, arrows = look_at(folder, included)
        problems += check_folder(folder, files[folder], rooms, arrows)
        if table:
            print(f"{folder:24} {files[folder]:3} files {len(rooms):3} rooms {len(arrows):3} arrows")
    if table:
        lines = sum(tree.read(root, name).count("\n") for name in names if not name.startswith("research/"))
        print(f"{lines} lines of C++ without research")
        for header, count in small_pairs(root, names):
            print(f"{header}: {count} lines with its source; below {FEWEST_LINES}, a neighbour takes them, or the "
                  "header says why not")
    return tree.report(problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
