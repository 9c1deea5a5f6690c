#!/usr/bin/env python3
"""Tests that the widths lint finds faults."""

import unittest

import widths
from sample_tree import SampleTreeTest


class WidthsTest(SampleTreeTest):
    def assert_widest(self, name, width):
        self.write(name, "x" * width + "\n")
        self.assertEqual(widths.check_tree(self.root), [])
        self.write(name, "\n" + "x" * (width + 1) + "\n")
        self.assertEqual(widths.check_tree(self.root), [f"{name}:2: {width + 1} columns, more than {width}"])

    def test_python_has_120_columns(self):
        self.assert_widest("tests/chart/chart_test.py", 120)

    def test_cmake_has_140_columns(self):
        self.assert_widest("src/CMakeLists.txt", 140)

    def test_modules_of_cmake_have_140_columns(self):
        self.assert_widest("cmake/FindCbc.cmake", 140)

    def test_columns_are_characters_not_bytes(self):
        self.write("a.py", "\u00b5" * 120)
        self.assertEqual(widths.check_tree(self.root), [])

    def test_other_files_are_left_alone(self):
        for name in ("docs/tuner.md", "src/core/units.h", "scripts/test.sh"):
            self.write(name, "x" * 500)
        self.assertEqual(widths.check_tree(self.root), [])


if __name__ == "__main__":
    unittest.main()
