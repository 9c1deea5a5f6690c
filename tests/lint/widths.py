#!/usr/bin/env python3
"""Lines of Python and of CMake that are too wide. clang-format and docs.py check C++ and prose.

usage: widths.py [TREE]
"""

import sys

import tree

PYTHON = 120
CMAKE = 140


def width_of(name):
    """The number of columns that a line of the file may have; None where this does not check the file."""
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
