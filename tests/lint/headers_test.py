#!/usr/bin/env python3
"""Tests that the lint of headers finds faults."""

import unittest

import headers
from sample_tree import SampleTreeTest

GUARDED = "// What it is for.\n#pragma once\n"


class HeadersTest(SampleTreeTest):
    def test_sources_that_begin_with_their_own_headers_pass(self):
        self.write("src/core/units.h", GUARDED)
        self.write("src/core/units.cc", '// How.\n#include "core/units.h"\n\n#include <string>\n')
        self.write("extender/binding/binder.h", GUARDED)
        self.write("extender/binding/binder.cc", '#include "extender/binding/binder.h"\n')
        self.write("tests/support/files.h", GUARDED)
        self.write("tests/support/files.cc", '#include "support/files.h"\n')
        self.write("extender/main.cc", "#include <string>\n")
        self.assertEqual(headers.check_tree(self.root), [])

    def test_an_include_before_its_own_header_is_found(self):
        self.write("src/core/units.h", GUARDED)
        self.write("src/core/units.cc", '#include <string>\n#include "core/units.h"\n')
        self.assertEqual(
            headers.check_tree(self.root),
            ["src/core/units.cc: the first include has to be its own header, units.h"])

    def test_a_source_that_does_not_include_its_own_header_is_found(self):
        self.write("src/core/units.h", GUARDED)
        self.write("src/core/units.cc", "int units = 1;\n")
        self.assertEqual(len(headers.check_tree(self.root)), 1)

    def test_a_header_without_a_guard_is_found(self):
        self.write("src/core/units.h", "// #pragma once\nstruct Units {};\n")
        self.assertEqual(headers.check_tree(self.root), ["src/core/units.h: the line #pragma once is missing"])


if __name__ == "__main__":
    unittest.main()
