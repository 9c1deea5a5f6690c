#!/usr/bin/env python3
"""Tests that the documentation lint finds faults."""

import unittest

import docs
from sample_tree import SampleTreeTest

PAGE = """# Page

## What it does

See [the other](other.md#its-own-heading-with-code), [its
folder](../src) and [elsewhere](https://kubernetes.io/docs).
"""
OTHER = """# Other

## Its own heading, with `code`

Back to [the page](page.md#what-it-does), or [up](#other). [Glossary](glossary.md).
"""
GLOSSARY = """# Glossary

| term | meaning |
| --- | --- |
| keen, idle | what wants more; what does not |
| control group | what the kernel counts by |

| say | not |
| --- | --- |
| control group | cgroup, kernel group |
| preempt | pre-empt |
"""


class DocsTest(SampleTreeTest):
    def setUp(self):
        super().setUp()
        self.write("src/core/units.h")
        self.write("docs/page.md", PAGE)
        self.write("docs/other.md", OTHER)
        self.write("docs/glossary.md", GLOSSARY)

    def assert_found(self, what):
        problems = docs.check_tree(self.root)
        self.assertEqual(len(problems), 1, problems)
        self.assertIn(what, problems[0])

    def test_pages_that_hold_together_pass(self):
        self.assertEqual(docs.check_tree(self.root), [])

    def test_a_link_to_a_missing_file_is_found_with_its_line(self):
        self.write("docs/page.md", PAGE.replace("../src", "../source"))
        self.assert_found("docs/page.md:5: ../source: there is no such file")

    def test_a_link_to_a_missing_heading_is_found(self):
        self.write("docs/other.md", OTHER.replace("what-it-does", "what-it-did"))
        self.assert_found("docs/page.md has no such heading")

    def test_a_heading_in_a_code_block_is_none(self):
        self.write("docs/page.md", PAGE.replace("## What it does", "```sh\n## What it does\n```"))
        self.assert_found("docs/page.md has no such heading")

    def test_an_unlinked_page_is_found(self):
        self.write("docs/lost.md", "# Lost\n\n[Itself](#lost)\n")
        self.assert_found("docs/lost.md: no page links to it")

    def test_runbooks_are_found_by_alerts(self):
        self.write("docs/runbooks/SynergyDown.md", "# SynergyDown\n")
        self.assertEqual(docs.check_tree(self.root), [])

    def test_lines_that_are_too_long_are_found_outside_of_tables_and_code(self):
        line = "word " * 21
        self.write("docs/page.md", f"{PAGE}\n| {line} |\n| --- |\n\n```\n{line}\n```\n")
        self.assertEqual(docs.check_tree(self.root), [])
        self.write("docs/page.md", f"{PAGE}\n{line}\n")
        self.assert_found("docs/page.md:8: more than 100 columns")

    def test_a_row_with_other_cells_than_its_header_is_found(self):
        table = "\n| one | `a | b` |\n| --- | --- |\n| two | three\\|four |\n"
        self.write("docs/page.md", PAGE + table)
        self.assertEqual(docs.check_tree(self.root), [])
        for broken, line in (("| two | three | | four | five |", 10), ("| two |", 10)):
            self.write("docs/page.md", PAGE + table.replace("| two | three\\|four |", broken))
            self.assert_found(f"docs/page.md:{line}: this row does not match")
        self.write("docs/page.md", PAGE + "\n| one | two | | --- | --- | | three | four |\n")
        self.assert_found("docs/page.md:8: this row does not match")

    def test_a_refused_word_is_found_with_its_replacement(self):
        for text, word, preferred in (("The cgroup.", "cgroup", "control group"),
                                ("Two CGroups.", "CGroups", "control group"),
                                ("A kernel\ngroup.", "kernel group", "control group"),
                                ("| a | [It pre-empts](other.md) |\n| - | - |", "pre-empts", "preempt")):
            with self.subTest(text):
                self.write("docs/page.md", f"{PAGE}\n{text}\n")
                self.assert_found(f'docs/page.md:8: "{word}": say "{preferred}" (docs/glossary.md)')

    def test_code_targets_and_longer_words_may_have_it(self):
        text = ("`cgroup`, `a\ncgroup`, cgroupfs, [its page](https://example.com/cgroup), cgroup.md\n\n"
                "```\ncgroup\n```\n")
        self.write("docs/page.md", f"{PAGE}\n{text}")
        self.assertEqual(docs.check_tree(self.root), [])

    def test_a_single_backquote_ends_with_its_paragraph(self):
        self.write("docs/page.md", f"{PAGE}\nA ` alone.\n\nA cgroup and a `span`.\n")
        self.assert_found('docs/page.md:10: "cgroup"')

    def test_history_keeps_its_words(self):
        self.write("docs/adr/0001-groups.md", "# A cgroup each\n")
        self.write("CHANGELOG.md", "# Changelog\n\n## Unreleased\n\nNew.\n\n## 0.1\n\nA cgroup.\n")
        self.assertEqual(docs.check_tree(self.root), [])
        self.write("CHANGELOG.md", "# Changelog\n\n## Unreleased\n\nA cgroup.\n\n## 0.1\n\nOld.\n")
        self.assert_found("CHANGELOG.md:5:")

    def test_a_term_that_is_defined_twice_is_found(self):
        more = "\n| term | meaning |\n| --- | --- |\n| Idle | another |\n"
        self.write("docs/glossary.md", GLOSSARY + more)
        self.assert_found('docs/glossary.md:15: "Idle" is in line 5, too')

    def test_a_word_that_is_refused_twice_is_found(self):
        self.write("docs/glossary.md", GLOSSARY + "| group | cgroup |\n")
        self.assert_found('docs/glossary.md:12: "cgroup" is in line 10, too')

    def test_a_word_that_is_preferred_and_refused_is_found(self):
        self.write("docs/glossary.md", GLOSSARY + "| evict | preempt |\n")
        self.assert_found('docs/glossary.md:11: "preempt": say "evict"')

    def test_a_glossary_without_words_is_found(self):
        self.write("docs/glossary.md", GLOSSARY.partition("| say")[0])
        self.assert_found("docs/glossary.md: there is no table with the columns say and not")


if __name__ == "__main__":
    unittest.main()
