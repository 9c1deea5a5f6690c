#!/usr/bin/env python3
"""Tests that the lint of the prose finds faults."""

import unittest

import prose
from sample_tree import SampleTreeTest

SHORT = "Synergy measures how fast a training runs. Then it moves CPU.\n"


def sentence(words):
    return " ".join(["Pods", *["word"] * (words - 1)]) + "."


class ProseTest(SampleTreeTest):
    def problems(self, text, name="docs/page.md"):
        self.write(name, text)
        return prose.check_tree(self.root)

    def test_short_sentences_pass(self):
        self.assertEqual(self.problems(f"# Page\n\n{SHORT}"), [])

    def test_a_long_sentence_is_found_with_its_paragraph(self):
        text = f"# Page\n\n{SHORT}\n* {sentence(29)}\n* {sentence(2)}\n"
        (found,) = self.problems(text)
        self.assertIn("docs/page.md:5: a sentence of 29 words", found)

    def test_the_longest_sentence_that_is_allowed_passes(self):
        self.assertEqual(self.problems(f"{sentence(28)} {sentence(2)}\n"), [])

    def test_a_sentence_may_go_over_lines(self):
        words = sentence(30).split()
        text = f"{' '.join(words[:15])}\n{' '.join(words[15:])}\n\n{SHORT}"
        self.assertIn("a sentence of 30 words", self.problems(text)[0])

    def test_a_page_of_long_sentences_is_found(self):
        (found,) = self.problems(" ".join([sentence(17)] * 5))
        self.assertIn("17.0 words in the mean", found)

    def test_emphasis_and_code_begin_sentences(self):
        text = f"**{sentence(20)}** `Code` {sentence(10)} *{sentence(4)}*\n"
        self.assertEqual(self.problems(text), [])

    def test_code_tables_and_targets_of_links_are_no_prose(self):
        long = sentence(40)
        text = f"{SHORT}\n```\n{long}\n```\n\n| {long} |\n\n[A page](https://example.com/anew) has `{long}`.\n"
        self.assertEqual(self.problems(text), [])

    def test_phrases_are_found_over_the_end_of_a_line(self):
        self.assertEqual(self.problems("It was in\nvain.\n"), ['docs/page.md:1: "in vain": say "without success"'])

    def test_phrases_are_found_in_tables(self):
        self.assertEqual(self.problems(f"{SHORT}\n| a |\n| --- |\n| nobody |\n"),
                         ['docs/page.md:5: "nobody": say "no one, or the program"'])

    def test_runbooks_are_checked_but_not_part_of_the_manual(self):
        name = "docs/runbooks/SynergyDown.md"
        self.assertEqual(self.problems("Nobody knows.\n", name), [f'{name}:1: "Nobody": say "no one, or the program"'])
        self.assertEqual(self.problems(f"{SHORT}\n" * (prose.ALL_WORDS // 11 + 1), name), [])

    def test_pages_that_forges_show_are_checked(self):
        for name in ("ROADMAP.md", ".github/pull_request_template.md"):
            self.assertNotEqual(self.problems(sentence(50), name), [])
            self.write(name, SHORT)

    def test_other_pages_are_not_checked(self):
        for name in ("docs/internals/page.md", "docs/evidence/page.md", "docs/adr/0001-page.md", "tests/page.md"):
            self.assertEqual(self.problems(sentence(50), name), [])
        self.assertNotEqual(self.problems(sentence(50), "README.md"), [])

    def test_a_manual_that_is_too_long_is_found(self):
        (found,) = self.problems(f"{SHORT}\n" * (prose.ALL_WORDS // 11 + 1))
        self.assertIn("the manual has", found)


if __name__ == "__main__":
    unittest.main()
