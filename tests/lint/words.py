#!/usr/bin/env python3
"""Comments and messages that a native reader stumbles over: comments that begin with a fragment,
and words, in comments or in the programs' string literals, that make persons of machines.

usage: words.py [--table] [TREE]

`--table` prints, by folder, how many comment blocks there are, and how many of them begin with a
fragment or have such a word.
"""

import collections
import re
import sys

import tree

# Matches a genitive, a relative clause or a conjunction that begins a block: "What a pod holds: ...".
FRAGMENT = re.compile(
    r"(?:Of|What|Whatever|Who|Whoever|Whose|Whom|Which|That|Those|Nobody|Somebody|Else|Likewise|Thus|So|"
    r"(?:Within|After|Above|Below|Beyond|By|For|To|In|From|At|On) (?:which|what|whom)|(?:Until|Since|Up to) when|"
    r"As (?:far|long|much|many) as)\b")
# Whether or not they begin it.
WORDS = re.compile(r"\b(?:whoever|whomever|nobody|somebody|anew|likewise|hopes?|hoped|hears?|heard|"
                   r"(?:is|are|was|were|be|been) told|"
                   r"(?<!people )(?<!users )(?<!user )(?<!person )(?<!author )(?<!anybody )(?<!operator "
                   r")(?<!one )who)\b", re.IGNORECASE)
LITERAL = re.compile(r'//[^\n]*|"((?:[^"\\\n]|\\.)*)"')
# Programs whose messages are not reworded yet.
UNCHECKED_MESSAGES = ("deviceplugin/", "nodeagent/")
# Generated, or data of others.
SKIPPED = ("tests/data/", "tests/golden/", "tests/fuzz/corpus/", "manifests/")


def is_checked(name):
    return name.endswith(tree.CPP_SUFFIXES) and not name.startswith(SKIPPED)


def blocks(text):
    """Comment blocks that stand on lines of their own: their first lines' numbers and their words."""
    found = []
    start, lines = 0, []
    for number, line in enumerate(text.splitlines() + [""], 1):
        stripped = line.strip()
        if stripped.startswith("//"):
            start = start or number
            lines.append(stripped.lstrip("/").strip())
        elif lines:
            found.append((start, " ".join(lines).strip()))
            start, lines = 0, []
    return [(number, words) for number, words in found if words and not words.startswith(("NOLINT", "clang-format"))]


def trailing(text):
    """Comments behind code, with their lines' numbers."""
    for number, line in enumerate(text.splitlines(), 1):
        code, mark, words = line.partition("  // ")
        if mark and code.strip() and not code.strip().startswith("//"):
            yield number, words.strip()


def messages(text):
    """String literals of several words, with their lines' numbers."""
    for literal in LITERAL.finditer(text):
        if " " in (literal[1] or "").strip():
            yield text.count("\n", 0, literal.start()) + 1, literal[1]


def has_messages(name):
    return not name.startswith(("tests/", *UNCHECKED_MESSAGES)) and "/tests/" not in name


def problems_of(text, with_messages=False):
    """Line numbers and what is wrong there."""
    problems = []
    for number, words in blocks(text):
        if FRAGMENT.match(words):
            problems.append((number, f'a fragment begins the comment: "{words[:60]}"'))
        for word in WORDS.finditer(words):
            problems.append((number,
                             f'"{word.group()}": name the pod, the job or the process; machines are no persons'))
    for number, words in [*trailing(text), *(messages(text) if with_messages else [])]:
        for word in WORDS.finditer(words):
            problems.append((number,
                             f'"{word.group()}": name the pod, the job or the process; machines are no persons'))
    return problems


def check_tree(root):
    found = []
    for name in tree.files(root):
        if is_checked(name):
            found += [f"{name}:{number}: {what}"
                      for number, what in problems_of(tree.read(root, name) or "", has_messages(name))]
    return found


def table(root):
    counts = collections.defaultdict(lambda: [0, 0, 0])
    for name in tree.files(root):
        if not is_checked(name):
            continue
        parts = name.split("/")
        text = tree.read(root, name) or ""
        of_file = counts["/".join(parts[:2]) if parts[0] in ("src", "tests") else parts[0]]
        of_file[0] += len(blocks(text))
        of_file[1] += sum(bool(FRAGMENT.match(words)) for _, words in blocks(text))
        of_file[2] += sum(len(WORDS.findall(words)) for _, words in [*blocks(text), *trailing(text)])
    print(f"{'folder':24} {'blocks':>7} {'fragments':>9} {'words':>6}")
    for folder, (all_blocks, fragments, words) in sorted(counts.items()):
        print(f"{folder:24} {all_blocks:7} {fragments:9} {words:6}")
    sums = [sum(column) for column in zip(*counts.values())]
    print(f"{'all':24} {sums[0]:7} {sums[1]:9} {sums[2]:6}   {sums[1] / max(sums[0], 1):.1%} begin with a fragment")


def main(arguments):
    flags = {each for each in arguments if each.startswith("--")}
    root = next((each for each in arguments if not each.startswith("--")), ".")
    if "--table" in flags:
        table(root)
        return 0
    return tree.report(check_tree(root))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
