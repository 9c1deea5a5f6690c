#include "cli/simulate_options.h"

#include <string>

#include <gtest/gtest.h>

namespace synergy::cli::testing {
namespace {

SimulateArguments Good() {
  SimulateArguments arguments;
  arguments.workloads = {"jobs=10"};
  arguments.profiles = "profiles.json";
  return arguments;
}

std::string ErrorOf(const SimulateArguments& arguments) {
  const auto options = CheckArguments(arguments);
  return options ? "no error" : options.error().message;
}

TEST(SimulateOptionsTest, TheDefaultsAreThePapersServersAndRounds) {
  const auto options = CheckArguments(Good());
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->server, (ResourceVector{Gpus(8), Cores(24), GB(500)}));
  EXPECT_EQ(options->round, Seconds(300));
  EXPECT_EQ(options->restart_cost, Seconds(30));
  EXPECT_FALSE(options->window);
  EXPECT_FALSE(options->reference);
  EXPECT_FALSE(options->consolidate);
}

TEST(SimulateOptionsTest, WhatIsWrittenIsRead) {
  SimulateArguments arguments = Good();
  arguments.gpus = 4;
  arguments.cpus = 48;
  arguments.memory = "256Gi";
  arguments.round = "10m";
  arguments.restart_cost = "0s";
  arguments.window = "40:50";
  arguments.compat = "reference";
  arguments.placement = "consolidate";
  const auto options = CheckArguments(arguments);
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->server, (ResourceVector{Gpus(4), Cores(48), Bytes(256LL << 30)}));
  EXPECT_EQ(options->round, Seconds(600));
  EXPECT_EQ(options->restart_cost, Seconds(0));
  ASSERT_TRUE(options->window);
  EXPECT_EQ(options->window->first, 40);
  EXPECT_EQ(options->window->end, 50);
  EXPECT_TRUE(options->reference);
  EXPECT_TRUE(options->consolidate);
}

TEST(SimulateOptionsTest, JobsComeFromATraceOrFromAGenerator) {
  SimulateArguments neither = Good();
  neither.workloads.clear();
  EXPECT_EQ(ErrorOf(neither), "give either --trace or --generate");
  SimulateArguments both = Good();
  both.traces = {"trace.csv"};
  EXPECT_EQ(ErrorOf(both), "give either --trace or --generate");
  SimulateArguments trace = neither;
  trace.traces = {"trace.csv"};
  EXPECT_EQ(ErrorOf(trace), "no error");
}

TEST(SimulateOptionsTest, ErrorsNameTheOption) {
  const auto error_with = [](std::string SimulateArguments::* field, const char* value) {
    SimulateArguments arguments = Good();
    arguments.*field = value;
    return ErrorOf(arguments);
  };
  EXPECT_EQ(error_with(&SimulateArguments::profiles, ""), "--profiles: a file is needed");
  EXPECT_EQ(error_with(&SimulateArguments::memory, "much"),
            "--memory: \"much\" is no size: write it as 500GB or 500Gi");
  EXPECT_EQ(error_with(&SimulateArguments::round, "300"),
            "--round: \"300\" is no duration: write it as 300s, 5m, 1.5h or 2d");
  EXPECT_EQ(error_with(&SimulateArguments::round, "0.5s"), "--round: has to be at least 1s");
  EXPECT_EQ(error_with(&SimulateArguments::restart_cost, "-1s"),
            "--restart-cost: \"-1s\" is no duration: write it as 300s, 5m, 1.5h or 2d");
  EXPECT_TRUE(error_with(&SimulateArguments::window, "50:40").starts_with("--window: "));
  EXPECT_EQ(error_with(&SimulateArguments::placement, "consolidate"),
            "--placement: only with --compat reference; our mechanisms always consolidate");
}

}  // namespace
}  // namespace synergy::cli::testing
