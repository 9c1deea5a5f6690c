#!/usr/bin/env python3
"""Tests that the structure lint finds faults."""

import unittest

import structure
import tree
from sample_tree import SampleTreeTest


class StructureTest(SampleTreeTest):
    def problems(self):
        names = structure.product_files(self.root)
        included = structure.includes(self.root, names)
        folder = "src/engine"
        files = sum(name.startswith(folder + "/") and "/" not in name[len(folder) + 1:] for name in names)
        return structure.check_folder(folder, files, *structure.look_at(folder, included))

    def test_a_header_and_its_source_are_a_room_and_a_subfolder_is_one(self):
        self.write("src/engine/gangs.h")
        self.write("src/engine/gangs.cc", '#include "engine/gangs.h"\n#include "engine/tuner/tuner.h"\n')
        self.write("src/engine/tuner/tuner.h", '#include "engine/tuner/memory.h"\n')
        self.write("src/engine/tuner/memory.h")
        names = structure.product_files(self.root)
        rooms, arrows = structure.look_at("src/engine", structure.includes(self.root, names))
        self.assertEqual((rooms, arrows), ({"gangs", "tuner"}, {("gangs", "tuner")}))
        self.assertEqual(self.problems(), [])

    def test_a_full_folder_is_found(self):
        for number in range(structure.MOST_FILES + 1):
            self.write(f"src/engine/part{number // 2}.{'h' if number % 2 else 'cc'}")
        self.assertIn("26 files", self.problems()[0])

    def test_too_many_rooms_are_found(self):
        for number in range(13):
            self.write(f"src/engine/room{number}.h")
        self.assertIn("13 rooms", self.problems()[0])

    def test_too_many_arrows_are_found(self):
        for number in range(7):
            others = "".join(f'#include "engine/room{other}.h"\n' for other in range(number))
            self.write(f"src/engine/room{number}.h", others)
        self.assertIn("21 arrows", self.problems()[0])

    def test_a_circle_is_found(self):
        self.write("src/engine/one.h", '#include "engine/two.h"\n')
        self.write("src/engine/two.cc", '#include "engine/three.h"\n')
        self.write("src/engine/two.h")
        self.write("src/engine/three.h", '#include "engine/one.h"\n')
        self.assertIn("one -> two -> three -> one is a circle", self.problems()[0])

    def test_tests_are_not_counted(self):
        self.write("tests/unit/engine/room_test.cc")
        self.assertEqual(structure.product_files(self.root), [])
        self.assertEqual(tree.cpp_files(self.root), ["tests/unit/engine/room_test.cc"])


if __name__ == "__main__":
    unittest.main()
