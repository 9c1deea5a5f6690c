#!/usr/bin/env python3
"""The names lint must find its faults."""

import unittest

import names
from sample_tree import SampleTreeTest


class NamesTest(SampleTreeTest):
    def assert_found(self, name, text, what):
        self.write(name, text)
        problems = names.check_tree(self.root)
        self.assertEqual(len(problems), 1, problems)
        self.assertIn(what, problems[0])

    def assert_passes(self, name, text=""):
        self.write(name, text)
        self.assertEqual(names.check_tree(self.root), [])

    def test_speaking_names_pass(self):
        for name in ["src/core/units.h", "scripts/setup.sh", "docs/commonplace.md", "tests/utilisation_test.py"]:
            self.assert_passes(name)

    def test_empty_words_are_found_in_files_and_folders(self):
        for number, name in enumerate(["string_util.cc", "utils/strings.cc", "NodeManager.h", "http-helpers.go"]):
            with self.subTest(name):
                folder = f"case{number}/"
                self.write(folder + name)
                self.assertEqual(len([p for p in names.check_tree(self.root) if folder in p]), 1)

    def test_work_that_was_put_off_is_found(self):
        self.assert_found("a.cc", "int x;\n// TO" "DO: later\n", "a.cc:2: TO" "DO")

    def test_a_template_of_mktemp_is_no_work_put_off(self):
        self.assert_passes("a.sh", "mktemp synergy.XX" "XXXX\n")

    def test_a_path_of_one_machine_is_found(self):
        self.assert_found("a.sh", "cd /ho" "me/somebody/synergy\n", "a.sh:1: a path of one machine")

    def test_a_path_in_a_folder_of_ours_passes(self):
        self.assert_passes("a.sh", 'mkdir "$folder/ro' 'ot/bin"\ncd ~/work/x\n')

    def test_other_peoples_data_is_left_alone(self):
        self.assert_passes("tests/data/trace.csv", "FIX" "ME\n")

    def test_binary_files_are_skipped(self):
        self.assert_passes("logo.bin", "\0TO" "DO")


if __name__ == "__main__":
    unittest.main()
