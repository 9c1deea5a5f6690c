#!/usr/bin/env python3
"""Tests that the names lint finds faults."""

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

    def test_persons_in_identifiers_are_found(self):
        for number, (name, text) in enumerate((
                ("a.cc", "int x;\nvoid TellNode(int told_at);\n"), ("a.h", "\nclass ProfileBook final {};\n"),
                ("a.cc", "\nenum { kNobody };\n"), ("a.py", "x = 1\nheard = x\n"), ("a.py", "\ndef says(it): pass\n"))):
            with self.subTest(text):
                name = f"case{number}/{name}"
                self.write(name, text)
                found = [problem for problem in names.check_tree(self.root) if problem.startswith(f"{name}:2: ")]
                self.assertNotEqual(found, [])
                self.assertIn("machines are not persons", found[0])

    def test_persons_in_file_names_are_found(self):
        self.assert_found("src/busy_teller.h", "", 'replace "teller"')

    def test_other_words_and_prose_pass(self):
        self.assert_passes("a.cc", '#include "said.h"\nint bookmark = Essays("who said"); // tells\n')
        self.assert_passes("a.h", 'char x[] = R"(told)";\nint bookmark;\n')
        self.assert_passes("a.py", 'bookmark = "told"  # nobody\n')

    def test_names_that_others_gave_pass(self):
        self.assert_passes("src/json/tape_builder.cc", "size_t at = stream.Tell();\n")

    def test_relative_clauses_as_names_of_tests_are_found(self):
        self.write("a_test.cc", "\nTEST_F(Tuner,\n       WhatFailsIsRetried) {}\n")
        self.write("b_test.py", "class X:\n    def test_of_two_one_runs(self): pass\n")
        first, second = names.check_tree(self.root)
        self.assertIn("a_test.cc:2: WhatFailsIsRetried", first)
        self.assertIn("b_test.py:2: test_of_two_one_runs", second)

    def test_names_of_tests_that_begin_with_their_subject_pass(self):
        self.assert_passes("a_test.cc", "TEST(Tuner, OffersThatFailAreRetried) {}\nTEST(Tuner, Offered) {}\n")
        self.assert_passes("a_test.py", "def test_one_of_two_runs(): pass\n")

    def test_other_peoples_data_is_left_alone(self):
        self.assert_passes("tests/data/trace.csv", "FIX" "ME\n")

    def test_binary_files_are_skipped(self):
        self.assert_passes("logo.bin", "\0TO" "DO")


if __name__ == "__main__":
    unittest.main()
