#!/usr/bin/env python3
"""Tests that the header check fails for a header that cannot be included alone."""

import os
import subprocess
import unittest

from sample_tree import SampleTreeTest

HERE = os.path.dirname(os.path.abspath(__file__))
PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(sample LANGUAGES CXX)
include(%s/header_check.cmake)
add_library(sample STATIC program.cc)
synergy_check_headers(sample ${CMAKE_SOURCE_DIR} sample.h)
"""


class HeaderCheckTest(SampleTreeTest):
    def build(self, header):
        self.write("CMakeLists.txt", PROJECT % HERE)
        self.write("program.cc", '#include <string>\n#include "sample.h"\n')
        self.write("sample.h", header)
        build = os.path.join(self.root, "build")
        subprocess.run(["cmake", "-S", self.root, "-B", build], check=True, capture_output=True)
        return subprocess.run(["cmake", "--build", build], check=False, capture_output=True, text=True)

    def test_a_self_contained_header_passes(self):
        built = self.build("#pragma once\n#include <string>\nstruct Sample { std::string text; };\n")
        self.assertEqual(built.returncode, 0, built.stderr)

    def test_a_header_that_lives_on_what_others_include_is_found(self):
        built = self.build("#pragma once\nstruct Sample { std::string text; };\n")
        self.assertNotEqual(built.returncode, 0)
        self.assertIn("sample.h:2:", built.stderr)

    def test_a_header_with_a_source_beside_it_is_left_to_that(self):
        self.write("sample.cc")
        built = self.build("#pragma once\nstruct Sample { std::string text; };\n")
        self.assertEqual(built.returncode, 0, built.stderr)


if __name__ == "__main__":
    unittest.main()
