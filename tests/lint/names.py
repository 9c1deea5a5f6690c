#!/usr/bin/env python3
"""Finds names that say nothing, names in code that personify machines, tests whose names begin with
a relative clause, postponed work, and paths that exist only on one machine.

usage: names.py [TREE]
"""

import io
import re
import sys
import tokenize

import tree

# Words that do not describe a file's contents.
EMPTY_WORDS = {"util", "utils", "utility", "utilities", "common", "helper", "helpers", "manager", "managers"}
# The words are split, so that this file passes its own check.
PUT_OFF = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|X" r"XX)\b")
MACHINE_PATH = re.compile(r"(?<![\w.$}\"/~-])/(?:work|root|home/[a-z]\w*|Users/\w+|mnt)/[\w.]")
# Words for what people do, refused as parts of identifiers in C++ and Python: a program records,
# reports, reads and checks.
PERSONS = frozenset(
    "who whoever whom nobody somebody anybody everybody tell tells told telling teller hear hears heard hearing "
    "say says said saying hope hopes hoped believe believes believed belief book books booked booking".split())
# File -> names that come from other projects.
GIVEN = {"src/json/tape_builder.cc": {"Tell"}}  # RapidJSON's streams have it
PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
CPP_NOT_CODE = re.compile(
    r'R"(\w*)\([\s\S]*?\)\1"|"(?:[^"\\\n]|\\.)*"|//[^\n]*|^\s*#\s*include[^\n]*', re.MULTILINE)
CPP_TEST = re.compile(r"^(?:TEST\w*|RC_GTEST\w*)\(\s*\w+,\s*(\w+)", re.MULTILINE)
# A test's name states what holds, and begins with the subject.
CLAUSE = re.compile(
    r"(?:What|Whatever|Which|Whose|That|Those|Of)[A-Z]|test_(?:what|whatever|which|whose|that|those|of)_")
# Data from other projects, kept unchanged.
FOREIGN = ("tests/data/", "tests/golden/", "tests/fuzz/corpus/")


def words(name):
    """Returns the words of a path. Splits it at punctuation, and where lower case is followed by
    upper case."""
    return re.findall(r"[a-z]+|[A-Z][a-z]+|[A-Z]+", name.rsplit(".", 1)[0])


def identifiers(name, text):
    """Yields line numbers and the identifiers in each line, outside comments and literals."""
    if name.endswith(".py"):
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.NAME:
                yield token.start[0], token.string
        return
    code = CPP_NOT_CODE.sub(lambda match: "\n" * match[0].count("\n"), text)
    for number, line in enumerate(code.splitlines(), 1):
        for identifier in re.findall(r"\b[A-Za-z_]\w*", line):
            yield number, identifier


def tests(name, text):
    """Yields line numbers and names of the file's tests."""
    if name.endswith(".py"):
        for number, line in enumerate(text.splitlines(), 1):
            found = re.match(r"\s*def (test_\w+)", line)
            if found:
                yield number, found[1]
        return
    for found in CPP_TEST.finditer(text):
        yield text.count("\n", 0, found.start()) + 1, found[1]


def problems_of_code(name, text):
    """Returns line numbers and what is wrong with the identifiers in these lines."""
    problems = []
    for number, identifier in identifiers(name, text):
        persons = {part.lower() for part in PARTS.findall(identifier)} & PERSONS
        if persons and identifier not in GIVEN.get(name, ()):
            problems.append((number, f'{identifier}: machines are not persons; replace "{min(persons)}"'))
    problems += [(number, f"{test}: begin with what the test is about, not with a relative clause")
                 for number, test in tests(name, text) if CLAUSE.match(test)]
    return problems


def check_tree(root):
    problems = []
    for name in tree.files(root):
        for word in words(name):
            if word.lower() in EMPTY_WORDS:
                problems.append(f'{name}: "{word}" does not say what is in it')
            if word.lower() in PERSONS and name.endswith((*tree.CPP_SUFFIXES, ".py")):
                problems.append(f'{name}: machines are not persons; replace "{word}"')
        text = None if name.startswith(FOREIGN) else tree.read(root, name)
        if text and name.endswith((*tree.CPP_SUFFIXES, ".py")):
            problems += [f"{name}:{number}: {what}" for number, what in problems_of_code(name, text)]
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
