#!/usr/bin/env python3
"""Tests that the lint of places finds faults."""

import unittest

import places
from sample_tree import SampleTreeTest


class PlacesTest(SampleTreeTest):
    def test_a_forges_registry_is_named_where_users_install_from_it(self):
        for name in (".github/workflows/release.yml", "RELEASING.md", "docs/quick-start.md"):
            self.write(name, "docker pull ghcr.io/owner/image\n")
        self.assertEqual(places.check_tree(self.root), [])

    def test_it_is_found_anywhere_else(self):
        for name in ("scripts/release/push.sh", "charts/synergy/values.yaml", "docs/tuner.md", "src/core/units.h"):
            self.write(name, "\nregistry: GHCR.io/owner\n")
        self.assertEqual([problem.split(": ")[0] for problem in places.check_tree(self.root)],
                         ["charts/synergy/values.yaml:2", "docs/tuner.md:2", "scripts/release/push.sh:2",
                          "src/core/units.h:2"])

    def test_sums_of_modules_are_left_alone(self):
        self.write("tests/go.sum", "ghcr.io/owner/module v1 h1:x\n")
        self.assertEqual(places.check_tree(self.root), [])


if __name__ == "__main__":
    unittest.main()
