#!/usr/bin/env python3
"""Checks that sources include their own headers first, so that the compiler checks whether these
headers can be included alone.

Such a source compiles only if its header needs nothing from other headers. Headers without a source
are compiled one by one (header_check.cmake). Also checks that each header has the line #pragma once.

usage: headers.py [TREE]
"""

import os
import re
import sys

import tree

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
PRAGMA_ONCE = re.compile(r"^#pragma once$", re.MULTILINE)


def check_tree(root):
    problems = []
    names = tree.cpp_files(root)
    headers = {name for name in names if name.endswith(".h")}
    for name in names:
        text = tree.read(root, name)
        if name in headers:
            if not PRAGMA_ONCE.search(text):
                problems.append(f"{name}: the line #pragma once is missing")
            continue
        header = name.removesuffix(".cc") + ".h"
        first = INCLUDE.search(text)
        if header in headers and not (first and os.path.basename(first.group(1)) == os.path.basename(header)):
            problems.append(f"{name}: the first include has to be its own header, {os.path.basename(header)}")
    return problems


if __name__ == "__main__":
    sys.exit(tree.report(check_tree(sys.argv[1] if len(sys.argv) > 1 else ".")))
