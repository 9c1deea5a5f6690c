#!/usr/bin/env python3
"""The words lint must find what it is there for."""

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
                self.assertIn("machines are no persons", problems[0])

    def test_words_of_people_are_found_in_messages(self):
        text = 'auto x = Fail("nobody reads it");\n'
        self.assertEqual(self.found(text, "tests/unit/core/a.cc"), [])
        self.assertEqual(self.found('auto x = words["nobody"];\n'), [])
        self.assertEqual(len(self.found(text)), 1)

    def test_data_of_others_is_left_alone(self):
        self.assertEqual(self.found("// Of nobody.\n", "tests/data/a.cc"), [])


if __name__ == "__main__":
    unittest.main()
