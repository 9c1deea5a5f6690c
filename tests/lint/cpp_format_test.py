#!/usr/bin/env python3
"""Tests that the format lint finds faults."""

import os
import unittest
from unittest import mock

import cpp_format
from sample_tree import SampleTreeTest


class FormatTest(SampleTreeTest):
    def setUp(self):
        super().setUp()
        self.write(".clang-format", "BasedOnStyle: Google\nColumnLimit: 100\n")

    def test_formatted_code_passes(self):
        self.write("a.cc", "int main() { return 0; }\n")
        self.assertEqual(cpp_format.check_tree(self.root), [])

    def test_unformatted_code_is_found_and_can_be_fixed(self):
        self.write("src/a.h", "int   Twice(int x){return 2*x;}\n")
        problems = cpp_format.check_tree(self.root)
        self.assertTrue(problems)
        self.assertIn("src/a.h:1:", problems[0])
        cpp_format.check_tree(self.root, fix=True)
        with open(os.path.join(self.root, "src/a.h"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "int Twice(int x) { return 2 * x; }\n")

    def test_a_missing_program_is_a_failure(self):
        with mock.patch.object(cpp_format, "PROGRAM", "clang-format-that-nobody-has"):
            self.assertIn("is missing", cpp_format.check_tree(self.root)[0])


if __name__ == "__main__":
    unittest.main()
