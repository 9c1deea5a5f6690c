#!/usr/bin/env python3
"""Checks the width of lines of Python and CMake. clang-format and docs.py check C++ and prose.

usage: widths.py [TREE]
"""

import sys

import tree

PYTHON = 120
CMAKE = 140


def width_of(name):
    """Returns the width of the file's lines in columns; None if this lint does not check the
    file."""
    if name.endswith(".py"):
        return PYTHON
    return CMAKE if name.endswith((".cmake", "CMakeLists.txt")) else None


def check_tree(root):
    problems = []
    for name in tree.files(root):
        width = width_of(name)
        if width is None:
            continue
        for number, line in enumerate((tree.read(root, name) or "").splitlines(), 1):
            if len(line) > width:
                problems.append(f"{name}:{number}: {len(line)} columns, more than {width}")
    return problems


def main(arguments):
    return tree.report(check_tree(arguments[0] if arguments else "."))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
