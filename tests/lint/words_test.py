#!/usr/bin/env python3
"""Tests that the words lint finds faults."""

import unittest

import words
from sample_tree import SampleTreeTest


class WordsTest(SampleTreeTest):
    def found(self, text, name="src/core/a.cc"):
        self.write(name, text)
        return words.check_tree(self.root)

    def test_sentences_pass(self):
        for text in ["// Returns the pods that run.\nint x;\n", "int x;  // by UID\n", "// Users who may edit pods.\n",
                     "// Stops after so many failures.\n// Of those, none counts.\n", "// Offset of the first byte.\n"]:
            with self.subTest(text):
                self.assertEqual(self.found(text), [])

    def test_a_fragment_that_begins_a_block_is_found(self):
        for text in ["// Of a pod that waits: how long.\n", "int x;\n  // Whose turn it is.\n",
                     "// Within which it ends.\n"]:
            with self.subTest(text):
                problems = self.found(text)
                self.assertEqual(len(problems), 1, problems)
                self.assertIn("a fragment begins the comment", problems[0])

    def test_words_of_people_are_found_in_blocks_and_behind_code(self):
        for text in ["// Returns at once if nobody waits.\n", "int x;  // whoever leads\n", "// The pods who wait.\n"]:
            with self.subTest(text):
                problems = self.found(text)
                self.assertEqual(len(problems), 1, problems)
                self.assertIn("machines are not persons", problems[0])

    def test_words_of_people_are_found_in_messages(self):
        text = 'auto x = Fail("nobody reads it");\n'
        self.assertEqual(self.found(text, "tests/unit/core/a.cc"), [])
        self.assertEqual(self.found('auto x = words["nobody"];\n'), [])
        self.assertEqual(len(self.found(text)), 1)

    def test_comments_and_docstrings_of_scripts_are_checked(self):
        for name, text in (("a.py", '"""Of a pod that waits."""\n'),
                           ("a.py", "def f():\n    # Whose turn it is.\n    g()\n"),
                           ("a.py", "x = 1  # whoever leads\n"),
                           ("a.py", 'def f():\n    """Returns at once.\n\n    Nobody waits."""\n'),
                           ("a.sh", "#!/bin/sh\n\n# Of a node.\n"), ("a.sh", "x=1 # nobody waits\n")):
            with self.subTest(text):
                self.assertEqual(len([each for each in self.found(text, name) if each.startswith(name)]), 1)

    def test_text_that_is_no_comment_is_left_alone(self):
        for name, text in (("a.py", 'x = "# nobody"\n'), ("a.py", "# Waits.\nx = 1\n"),
                           ("a.sh", "# shellcheck source=lib/whoever.sh\n"), ("a.sh", 'echo "$#" who\n'),
                           ("a.cc", 'x = "//nobody";\n')):
            with self.subTest(text):
                self.assertEqual(self.found(text, name), [])

    def test_data_of_others_is_left_alone(self):
        self.assertEqual(self.found("// Of nobody.\n", "tests/data/a.cc"), [])


if __name__ == "__main__":
    unittest.main()
