#!/usr/bin/env python3
"""Finds comments and messages that a native writer would not write: comments of C++, Python and
shell that begin with a fragment, and words that personify machines, in comments or in the programs'
string literals.

usage: words.py [--table] [TREE]

`--table` prints, by folder, how many comment blocks there are, and how many of them begin with a
fragment or have such a word.
"""

import ast
import collections
import io
import re
import sys
import tokenize

import tree

# Matches a genitive, a relative clause or a conjunction at the beginning of a block: "What a pod holds: ...".
FRAGMENT = re.compile(
    r"(?:Of|What|Whatever|Who|Whoever|Whose|Whom|Which|That|Those|Nobody|Somebody|Else|Likewise|Thus|So|"
    r"(?:Within|After|Above|Below|Beyond|By|For|To|In|From|At|On) (?:which|what|whom)|(?:Until|Since|Up to) when|"
    r"As (?:far|long|much|many) as)\b")
# Words for persons, which a relative pronoun for persons may follow.
PERSONS = ("people", "users", "user", "tenant", "administrator,", "person", "author", "anybody", "operator", "one")
WORDS = re.compile(r"\b(?:whoever|whomever|nobody|somebody|anew|likewise|hopes?|hoped|hears?|heard|"
                   r"(?:is|are|was|were|be|been) told|"
                   + "".join(f"(?<!{person} )" for person in PERSONS) + r"who)\b", re.IGNORECASE)
LITERAL = re.compile(r'//[^\n]*|"((?:[^"\\\n]|\\.)*)"')
# Generated files, or data from other projects.
SKIPPED = ("tests/data/", "tests/golden/", "tests/fuzz/corpus/", "manifests/")


def is_checked(name):
    return name.endswith((*tree.CPP_SUFFIXES, ".py", ".sh")) and not name.startswith(SKIPPED)


def comment_lines(name, text):
    """Yields (line number, comment, whether it stands alone) for each line that ends with a comment."""
    if name.endswith(".py"):
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string.lstrip("#").strip(), not token.line[:token.start[1]].strip()
        return
    mark = "#" if name.endswith(".sh") else "//"
    for number, line in enumerate(text.splitlines(), 1):
        code, found, words = line.partition(mark if line.strip().startswith(mark) else f" {mark} ")
        if found:
            yield number, words.lstrip(mark[0]).strip(), not code.strip()


def docstrings(name, text):
    """Yields the number of the first line and the words of each docstring in a Python file."""
    for node in ast.walk(ast.parse(text)) if name.endswith(".py") else ():
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node):
            yield node.body[0].lineno, " ".join(ast.get_docstring(node).split())


def blocks(name, text):
    """Returns the number of the first line and the words of each docstring and of each comment
    block on lines of its own."""
    alone = {number: words for number, words, is_alone in comment_lines(name, text) if is_alone}
    found = list(docstrings(name, text))
    start, lines = 0, []
    for number in range(1, len(text.splitlines()) + 2):
        if number in alone:
            start = start or number
            lines.append(alone[number])
        elif lines:
            found.append((start, " ".join(lines).strip()))
            start, lines = 0, []
    return [(number, words) for number, words in sorted(found)
            if words and not words.startswith(("NOLINT", "clang-format", "shellcheck", "!/"))]


def trailing(name, text):
    """Returns comments behind code, with their lines' numbers."""
    return [(number, words) for number, words, is_alone in comment_lines(name, text) if not is_alone]


def messages(text):
    """Yields string literals of several words, with their lines' numbers."""
    for literal in LITERAL.finditer(text):
        if " " in (literal[1] or "").strip():
            yield text.count("\n", 0, literal.start()) + 1, literal[1]


def has_messages(name):
    return (name.endswith(tree.CPP_SUFFIXES) and not name.startswith("tests/")
            and "/tests/" not in name)


def problems_of(name, text, with_messages=False):
    """Returns line numbers and the problems there."""
    problems = []
    for number, words in blocks(name, text):
        if FRAGMENT.match(words):
            problems.append((number, f'a fragment begins the comment: "{words[:60]}"'))
        for word in WORDS.finditer(words):
            problems.append((number,
                             f'"{word.group()}": name the pod, the job or the process; machines are not persons'))
    for number, words in [*trailing(name, text), *(messages(text) if with_messages else [])]:
        for word in WORDS.finditer(words):
            problems.append((number,
                             f'"{word.group()}": name the pod, the job or the process; machines are not persons'))
    return problems


def check_tree(root):
    found = []
    for name in tree.files(root):
        if is_checked(name):
            found += [f"{name}:{number}: {what}"
                      for number, what in problems_of(name, tree.read(root, name) or "", has_messages(name))]
    return found


def table(root):
    counts = collections.defaultdict(lambda: [0, 0, 0])
    for name in tree.files(root):
        if not is_checked(name):
            continue
        parts = name.split("/")
        text = tree.read(root, name) or ""
        of_file = counts["/".join(parts[:2]) if parts[0] in ("src", "tests") else parts[0]]
        of_file[0] += len(blocks(name, text))
        of_file[1] += sum(bool(FRAGMENT.match(words)) for _, words in blocks(name, text))
        of_file[2] += sum(len(WORDS.findall(words)) for _, words in [*blocks(name, text), *trailing(name, text)])
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
