#!/usr/bin/env python3
"""Tests that the layering lint finds faults."""

import unittest

import layering
from sample_tree import SampleTreeTest


class LayeringTest(SampleTreeTest):
    def problems(self, name, text):
        self.write(name, text)
        return layering.check_tree(self.root)

    def assert_found(self, name, line, what):
        problems = self.problems(name, "// first\n" + line + "\n")
        self.assertEqual(len(problems), 1, problems)
        self.assertIn(f"{name}:2: ", problems[0])
        self.assertIn(what, problems[0])

    def test_a_tree_that_keeps_to_the_arrows_passes(self):
        self.write("src/core/units.h", "#include <cstdint>\n#include <tl/expected.hpp>\n")
        self.write("src/core/clock.cc", '#include <mutex>\n#include "core/clock.h"\nauto t = steady_clock::now();\n')
        self.write("src/cluster/state.cc", '#include <mutex>\n#include <absl/hash/hash.h>\n#include "core/units.h"\n')
        self.write("src/http/server/server.cc", "#include <httplib.h>\n#include <sys/socket.h>\n#include <thread>\n")
        self.write("extender/main.cc", '#include "daemon/run.h"\n#include "kube/reflector.h"\n')
        self.write("tests/unit/any_test.cc", "#include <httplib.h>\n#include <thread>\n")
        self.assertEqual(layering.check_tree(self.root), [])

    def test_an_arrow_against_the_direction_is_found(self):
        self.assert_found("src/core/units.h", '#include "cluster/node.h"', "core may not include from cluster")

    def test_an_arrow_between_neighbours_is_found(self):
        self.assert_found("src/http/client.cc", '#include "json/text.h"', "http may not include from json")

    def test_the_library_may_not_include_a_program(self):
        self.assert_found("src/kube/reflector.cc", '#include "extender/health.h"', "kube may not include from extender")

    def test_the_product_may_not_include_research(self):
        for name, folder in (("src/sim/trace.cc", "sim"), ("cli/simulate/simulation.cc", "cli"),
                             ("controller/main.cc", "controller")):
            with self.subTest(name=name):
                self.assert_found(name, '#include "research/rounds/simulator.h"',
                                  f"{folder} may not include from research/rounds")
                self.write(name, "")

    def test_research_may_include_the_product_and_goes_by_its_own_arrows(self):
        self.write("research/rounds/simulator.cc",
                   '#include "sim/simulation_run.h"\n#include "research/baseline/round.h"\n')
        self.write("research/tests/unit/rounds/simulator_test.cc",
                   '#include "research/lab/lab_runs.h"\n#include <thread>\n')
        self.assertEqual(layering.check_tree(self.root), [])
        self.assert_found("research/baseline/round.cc", '#include "research/rounds/simulator.h"',
                          "research/baseline may not include from research/rounds")

    def test_research_is_pure_but_for_its_program(self):
        self.write("research/lab/main.cc", "#include <fstream>\n")
        self.assert_found("research/rounds/simulator.cc", "#include <fstream>", "research/rounds is pure: no <fstream>")

    def test_a_header_without_its_folder_is_found(self):
        self.assert_found("src/core/units.cc", '#include "units.h"', "without its folder")

    def test_our_header_in_angle_brackets_is_found(self):
        self.assert_found("src/core/units.cc", "#include <core/units.h>", "with quotes")

    def test_a_library_in_a_foreign_folder_is_found(self):
        self.assert_found("src/kube/api_client.cc", "#include <httplib.h>", "belongs to http")

    def test_flags_belong_to_one_folder(self):
        self.assert_found("extender/main.cc", "#include <CLI/CLI.hpp>", "belongs to daemon, cli, research/lab")

    def test_an_unknown_library_is_found(self):
        self.assert_found("src/json/text.cc", "#include <simdjson/simdjson.h>", "does not know")

    def test_files_in_a_pure_folder_are_found(self):
        self.assert_found("src/cluster/node.cc", "#include <fstream>", "cluster is pure: no <fstream>")

    def test_sockets_in_a_pure_folder_are_found(self):
        self.assert_found("src/allocation/best_fit.cc", "#include <sys/socket.h>", "allocation is pure")

    def test_a_mutex_is_for_the_cluster_alone(self):
        self.assert_found("src/allocation/best_fit.cc", "#include <mutex>", "allocation is pure")

    def test_the_wall_clock_in_a_pure_folder_is_found(self):
        self.assert_found("src/cluster/node.cc", "auto now = std::chrono::system_clock::now();", "system_clock::now")

    def test_the_systems_clock_by_our_own_name_is_found(self):
        self.assert_found("src/cluster/node.cc", "auto now = SystemClock().Now();", "SystemClock")

    def test_the_environment_in_a_pure_folder_is_found(self):
        self.assert_found("src/core/backoff.cc", 'auto home = getenv("HOME");', "no getenv")

    def test_a_comment_may_speak_of_anything(self):
        self.assertEqual(self.problems("src/core/backoff.cc", "// unlike getenv and std::thread\n"), [])

    def test_the_pure_half_is_in_one_namespace_and_every_other_folder_in_its_own(self):
        self.write("src/core/units.h", "namespace synergy {\nnamespace {\n")
        self.write("research/reference/job.h", "namespace synergy::reference {\n")
        self.write("src/http/server/server.h", "namespace httplib {\nnamespace synergy::http {\n")
        self.write("deviceplugin/sources/nvml_api.h", "namespace synergy::deviceplugin::nvml {\n")
        self.write("tests/unit/core/units_test.cc", "namespace anything {\n")
        self.assertEqual(layering.check_tree(self.root), [])

    def test_a_namespace_of_its_own_in_the_pure_half_is_found(self):
        self.assert_found("src/inventory/gpu.h", "namespace synergy::inventory {",
                          "the names of inventory are in synergy, not in")

    def test_an_exception_is_for_its_own_files_alone(self):
        self.assert_found("src/sim/trace.h", "namespace synergy::reference {",
                          "the names of sim are in synergy, not in")

    def test_the_pure_halfs_namespace_elsewhere_is_found(self):
        self.assert_found("extender/main.cc", "namespace synergy {",
                          "the names of extender are in synergy::extender, not in synergy")

    def test_a_neighbours_namespace_is_found(self):
        self.assert_found("src/http/server/server.h", "namespace synergy::httpd {",
                          "the names of http are in synergy::http, not in")

    def test_a_folder_that_is_not_in_the_table_is_found(self):
        self.assertIn("is not in the table", self.problems("src/misc/things.cc", "")[0])

    def test_a_circle_in_the_table_is_found(self):
        self.assertEqual(layering.check_table({"a": ["b"], "b": ["c"], "c": ["a"]}), ["a -> b -> c -> a is a circle"])
        self.assertEqual(layering.check_table(layering.ARROWS), [])


if __name__ == "__main__":
    unittest.main()
