#!/usr/bin/env python3
"""Finds names that say nothing, postponed work, and paths that exist on one machine only.

usage: names.py [TREE]
"""

import re
import sys

import tree

# Words that do not describe a file's contents.
EMPTY_WORDS = {"util", "utils", "utility", "utilities", "common", "helper", "helpers", "manager", "managers"}
# Written apart, so that this file passes its own check.
PUT_OFF = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|X" r"XX)\b")
MACHINE_PATH = re.compile(r"(?<![\w.$}\"/~-])/(?:work|root|home/[a-z]\w*|Users/\w+|mnt)/[\w.]")
# Data of others, kept unchanged.
FOREIGN = ("tests/data/", "tests/golden/", "tests/fuzz/corpus/")


def words(name):
    """Returns the words of a path: split at punctuation and where lower case turns into upper."""
    return re.findall(r"[a-z]+|[A-Z][a-z]+|[A-Z]+", name.rsplit(".", 1)[0])


def check_tree(root):
    problems = []
    for name in tree.files(root):
        for word in words(name):
            if word.lower() in EMPTY_WORDS:
                problems.append(f'{name}: "{word}" does not say what is in it')
        text = None if name.startswith(FOREIGN) else tree.read(root, name)
        for number, line in enumerate((text or "").splitlines(), 1):
            put_off = PUT_OFF.search(line)
            if put_off:
                problems.append(f"{name}:{number}: {put_off.group()}: do it, or write an issue")
            path = MACHINE_PATH.search(line)
            if path:
                problems.append(f"{name}:{number}: a path of one machine: {line.strip()[:80]}")
    return problems


def main(arguments):
    return tree.report(check_tree(arguments[0] if arguments else "."))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
