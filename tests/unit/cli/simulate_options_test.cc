#include "cli/simulate/simulate_options.h"

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
}

TEST(SimulateOptionsTest, ReadsAllOptions) {
  SimulateArguments arguments = Good();
  arguments.gpus = 4;
  arguments.cpus = 48;
  arguments.memory = "256Gi";
  arguments.round = "10m";
  arguments.restart_cost = "0s";
  arguments.window = "40:50";
  const auto options = CheckArguments(arguments);
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->server, (ResourceVector{Gpus(4), Cores(48), Bytes(256LL << 30)}));
  EXPECT_EQ(options->round, Seconds(600));
  EXPECT_EQ(options->restart_cost, Seconds(0));
  ASSERT_TRUE(options->window);
  EXPECT_EQ(options->window->first, 40);
  EXPECT_EQ(options->window->end, 50);
}

TEST(SimulateOptionsTest, JobsComeFromATraceOrFromAGenerator) {
  SimulateArguments neither = Good();
  neither.workloads.clear();
  EXPECT_EQ(ErrorOf(neither), "set --trace or --generate, or --from-cluster --since");
  SimulateArguments both = Good();
  both.traces = {"trace.csv"};
  EXPECT_EQ(ErrorOf(both), "--generate: not with --trace: set one of the two, not both");
  SimulateArguments trace = neither;
  trace.traces = {"trace.csv"};
  EXPECT_EQ(ErrorOf(trace), "no error");
}

TEST(SimulateOptionsTest, LatenciesThatAreNotNamedKeepTheirDefaults) {
  SimulateArguments arguments = Good();
  arguments.latency = "bind=20ms,resize=2s";
  const auto options = CheckArguments(arguments);
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->latencies.bind, std::chrono::milliseconds(20));
  EXPECT_EQ(options->latencies.resize, std::chrono::seconds(2));
  EXPECT_EQ(options->latencies.start, Latencies{}.start);
}

TEST(SimulateOptionsTest, ErrorsNameTheOption) {
  const auto error_with = [](std::string SimulateArguments::* field, const char* value) {
    SimulateArguments arguments = Good();
    arguments.*field = value;
    return ErrorOf(arguments);
  };
  EXPECT_EQ(error_with(&SimulateArguments::profiles, ""), "no error") << "the paper's are built in";
  EXPECT_EQ(error_with(&SimulateArguments::memory, "500"),
            "--memory: \"500\" has no unit: write 500GB or 500Gi");
  EXPECT_EQ(
      error_with(&SimulateArguments::recorded, "cores=8"),
      "--recorded: \"cores=8\": write gpus=8,cpus=96,memory=1Ti, or some of these, each once");
  EXPECT_EQ(error_with(&SimulateArguments::memory, "much"),
            "--memory: \"much\" is not a size: write it as 500GB or 500Gi");
  EXPECT_EQ(error_with(&SimulateArguments::round, "300"),
            "--round: \"300\" is not a duration: write it as 10ms, 300s, 5m, 1.5h or 2d");
  EXPECT_EQ(error_with(&SimulateArguments::round, "0.5s"), "--round: must be at least 1s");
  EXPECT_EQ(error_with(&SimulateArguments::restart_cost, "-1s"),
            "--restart-cost: \"-1s\" is not a duration: write it as 10ms, 300s, 5m, 1.5h or 2d");
  EXPECT_TRUE(
      error_with(&SimulateArguments::latency, "stop=1s").starts_with("--latency: \"stop=1s\""));
  EXPECT_TRUE(error_with(&SimulateArguments::latency, "bind=1s,bind=2s")
                  .starts_with("--latency: \"bind=2s\""));
  EXPECT_TRUE(
      error_with(&SimulateArguments::latency, "bind=1").starts_with("--latency: bind: \"1\" is"));
  EXPECT_TRUE(error_with(&SimulateArguments::window, "50:40").starts_with("--window: "));
}

TEST(SimulateOptionsTest, ProfilesAreMeasuredOrPublishedAtATime) {
  SimulateArguments arguments = Good();
  EXPECT_EQ(CheckArguments(arguments)->profiles_after, std::nullopt);
  arguments.profiles_after = "1.5s";
  EXPECT_EQ(CheckArguments(arguments)->profiles_after, std::chrono::milliseconds(1500));
  arguments.profiles_after = "soon";
  EXPECT_TRUE(ErrorOf(arguments).starts_with("--profiles-after: \"soon\""));
  arguments.profiles_after = "1s";
  arguments.live_profiles = true;
  EXPECT_EQ(ErrorOf(arguments), "--profiles-after: not with --live-profiles");
}

TEST(SimulateOptionsTest, WithAClusterProfilesMayBeItsOwn) {
  SimulateArguments arguments = Good();
  arguments.profiles.clear();
  arguments.cluster = "cluster.json";
  arguments.remaining = "2h";
  const auto options = CheckArguments(arguments);
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_TRUE(options->starts_from_cluster);
  EXPECT_EQ(options->remaining, Seconds(7200));
}

TEST(SimulateOptionsTest, RacksOfAClusterAreKnown) {
  SimulateArguments arguments = Good();
  arguments.cluster = "cluster.json";
  arguments.rack_servers = 4;
  EXPECT_EQ(ErrorOf(arguments),
            "--rack-servers: not with the nodes of a cluster, whose racks are known");
}

TEST(SimulateOptionsTest, ClusterOptionsNeedACluster) {
  SimulateArguments arguments = Good();
  arguments.remaining = "2h";
  EXPECT_EQ(ErrorOf(arguments), "--remaining: only with --from-cluster or --cluster");
  arguments = Good();
  arguments.save_cluster = "cluster.json";
  EXPECT_EQ(ErrorOf(arguments), "--save-cluster: only with --from-cluster");
}

TEST(SimulateOptionsTest, KeepsChangesForTheFilesThatShowThem) {
  SimulateArguments arguments = Good();
  EXPECT_FALSE(CheckArguments(arguments)->keeps_changes);
  arguments.html = "page.html";
  EXPECT_TRUE(CheckArguments(arguments)->keeps_changes);
  arguments.html.clear();
  arguments.changes = "changes.csv";
  EXPECT_TRUE(CheckArguments(arguments)->keeps_changes);
}

TEST(SimulateOptionsTest, RecordedServersDefaultToTheSimulatedOnes) {
  SimulateArguments arguments = Good();
  EXPECT_EQ(CheckArguments(arguments)->recorded, std::nullopt);
  arguments.recorded = "cpus=96,memory=1Ti";
  EXPECT_EQ(CheckArguments(arguments)->recorded,
            (ResourceVector{Gpus(8), Cores(96), Bytes(1LL << 40)}));
}

TEST(SimulateOptionsTest, AClusterCanBeSavedWithoutASimulation) {
  SimulateArguments arguments;
  arguments.from_cluster = true;
  arguments.save_cluster = "cluster.json";
  EXPECT_EQ(ErrorOf(arguments), "no error");
}

}  // namespace
}  // namespace synergy::cli::testing
