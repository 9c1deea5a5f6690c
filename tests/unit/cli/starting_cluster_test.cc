#include "cli/simulate/starting_cluster.h"

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/cluster/product_simulator.h"
#include "support/fake_api_server.h"

namespace synergy::cli::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kNode =
    R"({"kind":"Node","metadata":{"name":"n1"},"status":{
        "capacity":{"cpu":"8","memory":"32Gi","pods":"110","nvidia.com/gpu":"4"},
        "allocatable":{"cpu":"8","memory":"32Gi","pods":"110","nvidia.com/gpu":"4"}}})";
constexpr const char* kProfile =
    R"({"kind":"TrainingProfile","metadata":{"name":"m","namespace":"default"},"spec":{"gpus":1,
        "points":[{"cpu":1,"memory":"1Gi","throughput":1},{"cpu":4,"memory":"1Gi","throughput":1}]}})";

std::string PodText(const std::string& name, const std::string& spec, const std::string& status,
                    int gpus = 1) {
  return fmt::format(
      R"({{"kind":"Pod","metadata":{{"name":"{0}","namespace":"default","uid":"{0}"}},
          "spec":{{{1}"containers":[{{"name":"c","resources":{{"requests":{{"cpu":"1","nvidia.com/gpu":"{3}"}}}}}}]}},
          "status":{{{2}}}}})",
      name, spec, status, gpus);
}

const wire::PodRules kRules{.gpu_resource = "nvidia.com/gpu", .claims = {}};

Result<PresentCluster> Parse(const std::vector<std::string>& items,
                             const wire::PodRules& rules = kRules) {
  return ParseCluster(fmt::format(R"({{"kind":"List","items":[{}]}})", fmt::join(items, ",")),
                      "cluster.json", rules);
}

enum class Manager { kSynergy, kOthers };

// Runs two jobs, one of four GPUs that takes a minute and one of a single GPU, on four GPUs of
// which a pod has three.
Result<SimulationRun> RunBeside(std::optional<Seconds> remaining, Manager manager) {
  auto cluster =
      Parse({kNode, kProfile, PodText("a", R"("nodeName":"n1",)", R"("phase":"Running")", 3)});
  EXPECT_TRUE(cluster) << cluster.error().message;
  for (Pod& pod : cluster->start.pods) {
    if (manager == Manager::kOthers) continue;
    ManagedContainer fungible;
    fungible.container = "c";
    fungible.requested = fungible.floor = fungible.demand = fungible.fair_share = pod.requests.main;
    fungible.in_force = fungible.set_aside = fungible.requested;
    pod.fungible = std::make_shared<const ManagedContainer>(std::move(fungible));
  }
  ModelProfiles profiles;
  for (const ProfileObject& profile : cluster->profiles) profiles.Add(profile);
  ProductOptions options;
  options.pod_namespace = "default";
  options.remaining = remaining;
  options.restart_cost = Duration::zero();
  const std::vector<ProductJob> jobs = {
      {.id = 1, .model = "m", .gpus = Gpus(4), .ideal = Seconds(60)},
      {.id = 2, .model = "m", .gpus = Gpus(1), .ideal = Seconds(60)}};
  return SimulateProduct(cluster->start, jobs, profiles, options);
}

TEST(StartingClusterTest, PodsThatEndOrWaitForOthersAreLeftOut) {
  const auto cluster = Parse({kNode, PodText("done", R"("nodeName":"n1",)", R"("phase":"Failed")"),
                              PodText("runs", R"("nodeName":"n1",)", R"("phase":"Running")"),
                              PodText("theirs", R"("schedulerName":"other",)", ""),
                              PodText("ours", R"("schedulerName":"synergy-scheduler",)", "")});
  ASSERT_TRUE(cluster) << cluster.error().message;
  std::vector<std::string> names;
  for (const Pod& pod : cluster->start.pods) names.push_back(pod.name);
  EXPECT_THAT(names, ElementsAre("runs", "ours"));
  EXPECT_EQ(cluster->gpus(), Gpus(4));
}

TEST(StartingClusterTest, SchedulerOfWaitingPodsIsASetting) {
  wire::PodRules rules = kRules;
  rules.claims.scheduler_name = "theirs";
  const auto cluster = Parse({kNode, PodText("theirs", R"("schedulerName":"theirs",)", ""),
                              PodText("ours", R"("schedulerName":"synergy-scheduler",)", "")},
                             rules);
  ASSERT_TRUE(cluster) << cluster.error().message;
  ASSERT_EQ(cluster->start.pods.size(), 1u);
  EXPECT_EQ(cluster->start.pods.front().name, "theirs");
}

TEST(StartingClusterTest, NodesWithSlicesAreCountedApart) {
  const auto cluster = Parse({kNode, R"({"kind":"Node","metadata":{"name":"n2"},"status":{
      "allocatable":{"cpu":"8","memory":"32Gi","pods":"110","nvidia.com/gpu.shared":"8"}}})"});
  ASSERT_TRUE(cluster) << cluster.error().message;
  EXPECT_EQ(cluster->gpus(), Gpus(4));
  EXPECT_EQ(cluster->SharedNodes(), 1u);
  EXPECT_EQ(cluster->FairShare()->cpu, Cores(2)) << "of a whole GPU";
}

TEST(StartingClusterTest, TheFairShareOfAGpuIsTheClusters) {
  const auto cluster = Parse({kNode});
  ASSERT_TRUE(cluster);
  const auto share = cluster->FairShare();
  ASSERT_TRUE(share) << share.error().message;
  EXPECT_EQ(*share, (ResourceVector{Gpus(1), Cores(2), Bytes(8LL << 30)}));
}

TEST(StartingClusterTest, ErrorsNameTheFile) {
  const auto none = Parse({});
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("cluster.json: no Node has nvidia.com/gpu"));
  const auto wrong = Parse({R"({"kind":"Node","metadata":{}})"});
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("cluster.json: Node without a name: metadata"));
}

TEST(StartingClusterTest, AJobWaitsForThePodsThatRunAlready) {
  for (const Manager manager : {Manager::kSynergy, Manager::kOthers}) {
    const auto run = RunBeside(Seconds(100), manager);
    ASSERT_TRUE(run) << run.error().message;
    ASSERT_EQ(run->jobs.size(), 2u);
    EXPECT_GE(run->jobs.front().start, Seconds(100));
    EXPECT_LT(run->jobs.front().start, Seconds(120));
  }
}

TEST(StartingClusterTest, JobThatNeverStartsDoesNotHideFiguresOfOthers) {
  for (const Manager manager : {Manager::kSynergy, Manager::kOthers}) {
    const auto run = RunBeside(std::nullopt, manager);
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_LT(run->jobs[0].start, Seconds(0));
    EXPECT_LT(run->jobs[0].finish, Seconds(0));
    EXPECT_GE(run->jobs[1].finish, Seconds(60));
    EXPECT_EQ(run->end, run->jobs[1].finish);
    EXPECT_GT(run->gpu_utilisation, 0.9);
    EXPECT_LE(run->gpu_utilisation, 1);
  }
}

TEST(StartingClusterTest, TheApiServersAnswersMakeSuchAFile) {
  synergy::testing::FakeApiServer server;
  server.SetNodes(
      {{.name = "n1",
        .allocatable_json = R"({"cpu":"8","memory":"32Gi","pods":"110","nvidia.com/gpu":"4"})"}});
  server.SetPods({{.name = "b",
                   .node = "n1",
                   .phase = "Running",
                   .requests_json = R"({"cpu":"2","nvidia.com/gpu":"1"})"}});
  const auto client = *kube::ApiClient::Create(server.access());
  std::vector<std::string> notes;
  const auto text = ReadCluster(*client, notes);
  ASSERT_TRUE(text) << text.error().message;
  const auto cluster = ParseCluster(*text, "the cluster", kRules);
  ASSERT_TRUE(cluster) << cluster.error().message;
  EXPECT_EQ(cluster->gpus(), Gpus(4));
  ASSERT_EQ(cluster->start.pods.size(), 1u);
  EXPECT_EQ(cluster->start.pods.front().node, "n1");
}

}  // namespace
}  // namespace synergy::cli::testing
