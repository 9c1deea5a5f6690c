#!/usr/bin/env python3
"""The documentation lint must find what it is there for."""

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

Back to [the page](page.md#what-it-does), or [up](#other).
"""


class DocsTest(SampleTreeTest):
    def setUp(self):
        super().setUp()
        self.write("src/core/units.h")
        self.write("docs/page.md", PAGE)
        self.write("docs/other.md", OTHER)

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

    def test_a_page_that_nobody_finds_is_found(self):
        self.write("docs/lost.md", "# Lost\n\n[Itself](#lost)\n")
        self.assert_found("docs/lost.md: no page links to it")

    def test_runbooks_are_found_by_alerts(self):
        self.write("docs/runbooks/SynergyDown.md", "# SynergyDown\n")
        self.assertEqual(docs.check_tree(self.root), [])

    def test_lines_that_are_too_long_are_found_outside_of_tables_and_code(self):
        line = "word " * 21
        self.write("docs/page.md", f"{PAGE}| {line} |\n\n```\n{line}\n```\n")
        self.assertEqual(docs.check_tree(self.root), [])
        self.write("docs/page.md", f"{PAGE}\n{line}\n")
        self.assert_found("docs/page.md:8: more than 100 columns")


if __name__ == "__main__":
    unittest.main()
