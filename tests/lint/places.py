#!/usr/bin/env python3
"""Checks that the name of a host that publishes the project occurs only in instructions to install
it from there, and in workflows: everything else works with any host.

usage: places.py [TREE]
"""

import re
import sys

import tree

# A registry of images, as a word -> the paths that may name it.
PLACES = {
    "ghcr.io": (".github/", "RELEASING.md", "README.md", "docs/operate.md", "docs/quick-start.md"),
}
# This check and its test, checksums of modules, and data from other projects.
SKIPPED = ("tests/lint/places", "tests/data/", "go.sum")


def check_tree(root):
    problems = []
    for name in tree.files(root):
        if name.startswith(SKIPPED) or name.endswith(SKIPPED):
            continue
        for number, line in enumerate((tree.read(root, name) or "").splitlines(), 1):
            problems += [f"{name}:{number}: {word} belongs into {', '.join(places)} only"
                         for word, places in PLACES.items()
                         if re.search(rf"\b{re.escape(word)}\b", line, re.IGNORECASE) and not name.startswith(places)]
    return problems


def main(arguments):
    return tree.report(check_tree(arguments[0] if arguments else "."))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
