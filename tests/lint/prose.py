#!/usr/bin/env python3
"""Checks the prose of the manual (README.md and docs/*.md), the runbooks and the pages that forges
show: sentences are short, also on average over a page, and contain no phrases that a native writer
would not use. The manual is also short enough to be read to the end.

usage: prose.py [--table] [TREE]

`--table` prints, for each page, the number of words, the number of sentences, and their mean and
greatest length.
"""

import re
import sys

import docs
import tree

MOST_WORDS = 28    # words of a sentence, at most
MEAN_WORDS = 16.0  # mean over the sentences of a page, at most
ALL_WORDS = 25000  # words of the manual, at most, as wc -w counts them
# Phrases that a native writer would not use, and what to write instead.
PHRASES = {
    "for good": "permanently", "so long": "as long", "anew": "again", "likewise": "the same way",
    "whoever": "anyone who", "whomever": "anyone whom", "somebody": "someone, or the program",
    "nobody": "no one, or the program", "hereby": "so", "besides": "also", "of one's own": "of your own",
    "in vain": "without success", "has to be told": "needs", "is told": "receives", "the same goes for": "also",
}
# Checked like the manual, but not a part of it.
SHOWN_BY_FORGES = ("CHANGELOG.md", "CONTRIBUTING.md", "GOVERNANCE.md", "RELEASING.md", "ROADMAP.md", "SECURITY.md",
                   "examples/README.md")
PHRASE = re.compile(r"\b(?:" + "|".join(each.replace(" ", r"\s+") for each in PHRASES) + r")\b", re.IGNORECASE)
CODE = re.compile(r"`[^`]*`")
LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
ITEM = re.compile(r"^\s*(?:[*-]|\d+\.) +")
WORD = re.compile(r"[\w'’/%.-]*\w[\w'’/%.-]*")
END = re.compile(r"(?<=[.!?])[*_)\"]*\s+(?=[*_(\"]*[A-Z`0-9])")


def is_manual(name):
    return name == "README.md" or (name.startswith("docs/") and name.endswith(".md") and name.count("/") == 1)


def is_checked(name):
    return (is_manual(name) or name in SHOWN_BY_FORGES or
            (name.startswith(("docs/runbooks/", ".github/")) and name.endswith(".md")))


def blocks(text):
    """Yields the first line and the text of each paragraph and list item outside code and
    tables."""
    start, lines = 0, []
    for number, line in enumerate([*docs.without_code(text), ""], 1):
        apart = not line.strip() or line.startswith(("|", "#", "<!--", "    ", "```"))
        if (apart or ITEM.match(line)) and lines:
            yield start, " ".join(lines)
            lines = []
        if not apart:
            start = start if lines else number
            lines.append(ITEM.sub("", line).strip())


def sentences(text):
    """Yields each sentence, with the line at which its paragraph begins. A code span counts as a
    word, and a link as its text."""
    for number, words in blocks(text):
        plain = LINK.sub(r"\1", CODE.sub("Code", words))
        for sentence in END.split(plain):
            if re.search(r"\w", sentence):
                yield number, sentence.strip()


def lengths(text):
    """Returns each sentence with its line and its number of words."""
    return [(number, sentence, len(WORD.findall(sentence))) for number, sentence in sentences(text)]


def check_page(name, text):
    counted = lengths(text)
    problems = [f'{name}:{number}: a sentence of {words} words, more than {MOST_WORDS}: "{sentence[:60]}..."'
                for number, sentence, words in counted if words > MOST_WORDS]
    mean = sum(words for *_, words in counted) / max(1, len(counted))
    if mean > MEAN_WORDS:
        problems.append(f"{name}: sentences of {mean:.1f} words in the mean, more than {MEAN_WORDS:.0f}")
    rows = [(number, CODE.sub("", LINK.sub(r"\1", line)))
            for number, line in enumerate(docs.without_code(text), 1) if line.startswith("|")]
    for number, words in [*((number, sentence) for number, sentence, _ in counted), *rows]:
        for found in PHRASE.finditer(words):
            phrase = " ".join(found.group().split())
            problems.append(f'{name}:{number}: "{phrase}": say "{PHRASES[phrase.lower()]}"')
    return problems


def pages(root, is_wanted):
    return {name: tree.read(root, name) or "" for name in tree.files(root) if is_wanted(name)}


def check_tree(root):
    checked = pages(root, is_checked)
    problems = [problem for name, text in sorted(checked.items()) for problem in check_page(name, text)]
    words = sum(len(text.split()) for name, text in checked.items() if is_manual(name))
    if words > ALL_WORDS:
        problems.append(f"the manual has {words} words, more than {ALL_WORDS}: move what was tried to docs/evidence, "
                        "how it is built to docs/internals")
    return problems


def table(root):
    print(f"{'page':28} {'words':>6} {'sentences':>9} {'mean':>5} {'longest':>7}")
    every, words = [], 0
    for name, text in sorted(pages(root, is_manual).items()):
        counted = [length for *_, length in lengths(text)]
        every += counted
        words += len(text.split())
        mean = sum(counted) / max(1, len(counted))
        print(f"{name:28} {len(text.split()):6} {len(counted):9} {mean:5.1f} {max(counted, default=0):7}")
    print(f"{'all':28} {words:6} {len(every):9} {sum(every) / max(1, len(every)):5.1f} {max(every, default=0):7}")


def main(arguments):
    root = next((each for each in arguments if not each.startswith("--")), ".")
    if "--table" in arguments:
        table(root)
        return 0
    return tree.report(check_tree(root))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
