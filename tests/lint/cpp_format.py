#!/usr/bin/env python3
"""Checks that clang-format-19, with the tree's .clang-format, would change no C++ file.

usage: cpp_format.py [TREE]

scripts/lint.sh --fix formats the files.
"""

import os
import shutil
import subprocess
import sys

import tree

# Other versions differ in details, so the check has to use this one.
PROGRAM = "clang-format-19"
BATCH = 50  # files per call


def check_tree(root, fix=False):
    if shutil.which(PROGRAM) is None:
        return [f"{PROGRAM} is missing: scripts/setup.sh installs it"]
    names = tree.cpp_files(root)
    problems = []
    mode = ["-i"] if fix else ["--dry-run", "-Werror"]
    for start in range(0, len(names), BATCH):
        run = subprocess.run([PROGRAM, "--style=file", *mode, *names[start:start + BATCH]],
                             cwd=root, capture_output=True, text=True, check=False)
        problems += [line for line in run.stderr.splitlines() if "error:" in line]
        if run.returncode != 0 and not problems:
            problems.append(run.stderr.strip() or f"{PROGRAM} failed")
    return problems


def main(arguments):
    fix = "--fix" in arguments
    roots = [argument for argument in arguments if argument != "--fix"]
    return tree.report(check_tree(os.path.abspath(roots[0] if roots else "."), fix))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
