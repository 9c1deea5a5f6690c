#include "controller/progress/failure_keeper.h"

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_clock.h"
#include "support/managed_pods.h"
#include "support/recorded_events.h"
#include "support/silent_log.h"

namespace synergy::controller {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

// An API server with histories that count their versions.
class FakeFailureApi final : public kube::FailureApi {
 public:
  Result<std::vector<FailureHistory>> ListHistories(std::stop_token) override {
    if (down) return Fail(ErrorCode::kUnavailable, "down");
    std::vector<FailureHistory> all;
    for (const auto& [name, history] : histories) all.push_back(history);
    return all;
  }
  Result<FailureHistory> ReadHistory(const std::string& of_namespace, std::stop_token) override {
    const auto found = histories.find(of_namespace);
    if (found == histories.end()) return Fail(ErrorCode::kNotFound, "none");
    return found->second;
  }
  Result<FailureHistory> WriteHistory(const FailureHistory& history, std::stop_token) override {
    if (down) return Fail(ErrorCode::kUnavailable, "down");
    FailureHistory& stored = histories[history.of_namespace];
    if (stored.resource_version != history.resource_version)
      return Fail(ErrorCode::kConflict, "changed");
    stored = history;
    stored.resource_version = fmt::to_string(++version);
    ++writes;
    return stored;
  }
  Result<EndedPod> ReadPod(const std::string&, const std::string& name, std::stop_token) override {
    ++reads;
    const auto found = pods.find(name);
    if (found == pods.end()) return Fail(ErrorCode::kNotFound, "none");
    return found->second;
  }
  Result<wire::OwnerFacts> ReadOwner(const std::string&, const ObjectOwner& owner,
                                     std::stop_token) override {
    const auto found = owners.find(owner.kind + " " + owner.name);
    if (found == owners.end()) return Fail(ErrorCode::kNotFound, "none");
    return found->second;
  }

  std::map<std::string, FailureHistory> histories;
  std::map<std::string, EndedPod> pods;
  std::map<std::string, wire::OwnerFacts> owners;
  int version = 0;
  int writes = 0;
  int reads = 0;
  bool down = false;
};

class FailureKeeperTest : public ::testing::Test {
 protected:
  EndedPod Failed(const std::string& name, int32_t exit_code = 139,
                  const std::string& team = "team") {
    EndedPod pod;
    pod.uid = "uid-" + name;
    pod.pod_namespace = team;
    pod.name = name;
    pod.node = "n1";
    pod.container = "train";
    pod.gpus = Gpus(1);
    pod.managed = pod.failed = true;
    pod.owner = {"batch/v1", "Job", "bert", "uid-bert"};
    pod.ends.push_back({"train", 0, exit_code, "Error", "", clock.WallNow() - minutes(10),
                        clock.WallNow() - seconds(1)});
    return pod;
  }
  void Observe(const std::string& name, const std::string& rule, const std::string& node = "n1",
               int32_t run = 0) {
    reports.Observe(node, {{"uid-" + name, "train", run, {.rule = rule, .evidence = "line"}}},
                    clock.Now());
  }
  void Steps(Duration time) {
    for (Duration done{}; done < time; done += seconds(1)) {
      keeper->Step({});
      clock.Advance(seconds(1));
    }
  }
  std::vector<std::string> Recorded(const std::string& team = "team") {
    std::vector<std::string> all;
    for (const FailureRecord& record : api.histories[team].records)
      all.push_back(record.pod + " " + record.category);
    return all;
  }
  void Begin() {
    keeper = std::make_unique<FailureKeeper>(
        api, reports, state, events, [this] { return leads; }, seconds(25), clock, log, metrics);
  }

  testing::FakeClock clock;
  testing::SilentSink sink;
  Logger log{sink, clock, LogLevel::kDebug, LogFormat::kText};
  metrics::ControllerMetrics metrics;
  ClusterState state;
  testing::RecordedEvents events;
  FakeFailureApi api;
  FailureReports reports;
  bool leads = true;
  std::unique_ptr<FailureKeeper> keeper = std::make_unique<FailureKeeper>(
      api, reports, state, events, [this] { return leads; }, seconds(25), clock, log, metrics);
};

TEST_F(FailureKeeperTest, AFailureIsAnEventOnPodAndOwnerAMetricAndARecord) {
  keeper->Upsert(Failed("a", 1));
  Observe("a", "cuda-out-of-memory");
  Steps(seconds(5));
  EXPECT_THAT(events.reasons(), ElementsAre("SynergyFailure a", "SynergyFailure bert"));
  EXPECT_EQ(events.all[0].type, "Warning");
  EXPECT_THAT(events.all[0].message, HasSubstr("gpu-oom"));
  EXPECT_EQ(events.all[1].kind, "Job");
  EXPECT_EQ(events.all[1].api_version, "batch/v1");
  EXPECT_THAT(metrics.Render(), HasSubstr("synergy_failures_total{category=\"gpu-oom\"} 1"));
  EXPECT_THAT(Recorded(), ElementsAre("a gpu-oom"));
  // The same pod again, as in a new list.
  keeper->Replace({Failed("a", 1)});
  Steps(seconds(40));
  EXPECT_THAT(events.all, SizeIs(2));
  EXPECT_EQ(api.writes, 1);
}

TEST_F(FailureKeeperTest, WithoutAnAgentsReportTheStatusCountsAfterAWhile) {
  keeper->Upsert(Failed("a"));
  Steps(seconds(20));
  EXPECT_THAT(events.all, IsEmpty());
  Steps(seconds(10));
  EXPECT_THAT(Recorded(), ElementsAre("a segfault"));
}

TEST_F(FailureKeeperTest, OnlyTheAgentOfThePodsNodeCounts) {
  keeper->Upsert(Failed("a"));
  Observe("a", "cuda-out-of-memory", "n2");
  Steps(seconds(30));
  EXPECT_THAT(Recorded(), ElementsAre("a segfault"));
}

TEST_F(FailureKeeperTest, PodsThatSynergyDoesNotManageDoNotCount) {
  EndedPod foreign = Failed("a");
  foreign.managed = false;
  keeper->Upsert(foreign);
  Steps(seconds(30));
  EXPECT_THAT(events.all, IsEmpty());
  EXPECT_EQ(api.writes, 0);
}

TEST_F(FailureKeeperTest, PodsOfOneOwnerThatFailTogetherAreOneAttempt) {
  keeper->Upsert(Failed("a", 1));
  Steps(seconds(2));
  keeper->Upsert(Failed("b", 1));
  reports.Observe("n1",
                  {{"uid-a", "train", 0, {.rule = "peer-lost", .evidence = "closed by peer"}},
                   {"uid-b", "train", 0, {.rule = "module-not-found", .evidence = "No module"}}},
                  clock.Now());
  Steps(seconds(10));
  EXPECT_THAT(events.reasons(),
              UnorderedElementsAre("SynergyFailure a", "SynergyFailure b", "SynergyFailure bert"));
  EXPECT_THAT(events.lines(), Contains(HasSubstr("bert: pod b failed, and 1 more pods")));
  ASSERT_THAT(Recorded(), ElementsAre("a peer-lost", "b import"));
  const auto& records = api.histories["team"].records;
  EXPECT_EQ(records[0].attempt, records[1].attempt);
  EXPECT_FALSE(records[0].leads);
  EXPECT_TRUE(records[1].leads);
}

TEST_F(FailureKeeperTest, TheOutermostOwnerGetsTheEvent) {
  api.owners["Job bert"] = {"uid-bert", "", {"jobset.x-k8s.io/v1alpha2", "JobSet", "set", "u3"}};
  api.owners["JobSet set"] = {
      "u3", "research", {"trainer.kubeflow.org/v1alpha1", "TrainJob", "train", "u4"}};
  keeper->Upsert(Failed("a"));
  Steps(seconds(30));
  EXPECT_EQ(events.all.back().kind, "TrainJob");
  EXPECT_EQ(events.all.back().pod_name, "train");
  EXPECT_EQ(api.histories["team"].records[0].owner.kind, "TrainJob");
  EXPECT_EQ(api.histories["team"].records[0].queue, "research");
}

TEST_F(FailureKeeperTest, AJobSetWhoseJobIsDeletedGetsTheEvent) {
  api.owners["JobSet set"] = {"u3", "", {}};
  EndedPod pod = Failed("a");
  pod.job_set = "set";
  keeper->Upsert(pod);
  Steps(seconds(30));
  EXPECT_EQ(events.all.back().kind, "JobSet");
  EXPECT_EQ(events.all.back().pod_uid, "u3");
}

TEST_F(FailureKeeperTest, AnOwnerThatWasReplacedIsNotFollowed) {
  api.owners["Job bert"] = {"uid-another", "", {"jobset.x-k8s.io/v1alpha2", "JobSet", "set", "u3"}};
  keeper->Upsert(Failed("a"));
  Steps(seconds(30));
  EXPECT_EQ(events.all.back().kind, "Job");
}

TEST_F(FailureKeeperTest, RestartsKeepTheHistoryAndReportNothingTwice) {
  keeper->Upsert(Failed("a"));
  Steps(seconds(30));
  Begin();
  keeper->Replace({Failed("a"), Failed("b")});
  Steps(seconds(30));
  EXPECT_THAT(Recorded(), ElementsAre("a segfault", "b segfault"));
  EXPECT_THAT(events.reasons(), SizeIs(4));
}

TEST_F(FailureKeeperTest, AConflictIsMerged) {
  keeper->Upsert(Failed("a"));
  Steps(seconds(30));
  FailureRecord others;
  others.pod = "other";
  others.uid = "uid-other";
  others.category = "import";
  others.at = clock.WallNow();
  api.histories["team"].records.push_back(others);
  api.histories["team"].resource_version = "999";
  keeper->Upsert(Failed("b"));
  Steps(seconds(40));
  EXPECT_THAT(Recorded(), UnorderedElementsAre("a segfault", "b segfault", "other import"));
}

TEST_F(FailureKeeperTest, ADeletedConfigMapIsMadeAgain) {
  keeper->Upsert(Failed("a"));
  Steps(seconds(30));
  api.histories.clear();
  keeper->Upsert(Failed("b"));
  Steps(seconds(60));
  EXPECT_THAT(Recorded(), ElementsAre("a segfault", "b segfault"));
}

TEST_F(FailureKeeperTest, WhileTheApiServerIsDownNothingIsLost) {
  api.down = true;
  keeper->Upsert(Failed("a"));
  Steps(seconds(60));
  EXPECT_THAT(events.all, IsEmpty());
  api.down = false;
  Steps(seconds(10));
  EXPECT_THAT(Recorded(), ElementsAre("a segfault"));
  api.down = true;
  keeper->Upsert(Failed("b"));
  Steps(seconds(60));
  keeper->StartOver();
  api.down = false;
  Steps(seconds(10));
  EXPECT_THAT(Recorded(), ElementsAre("a segfault", "b segfault"));
}

TEST_F(FailureKeeperTest, AReplicaThatDoesNotLeadReportsNothing) {
  leads = false;
  keeper->Upsert(Failed("a"));
  Steps(seconds(30));
  EXPECT_THAT(events.all, IsEmpty());
  EXPECT_EQ(api.writes, 0);
}

TEST_F(FailureKeeperTest, FailuresOfLongAgoDoNotCount) {
  EndedPod old = Failed("a");
  old.ends[0].finished = clock.WallNow() - hours(2);
  keeper->Replace({old});
  Steps(seconds(30));
  EXPECT_THAT(events.all, IsEmpty());
}

TEST_F(FailureKeeperTest, ARestartedContainerIsReportedByItsPodsStatus) {
  state.UpsertNode(testing::NodeOfFour("n1"));
  state.UpsertPod(testing::ManagedPod("a", "n1", 3));
  EndedPod pod = Failed("a", 1);
  pod.uid = "uid-a";
  pod.failed = false;
  pod.ends[0].run = 4;
  api.pods["a"] = pod;
  const std::string uid = testing::ManagedPod("a", "n1", 3).uid;
  api.pods["a"].uid = uid;
  reports.Observe("n1", {{uid, "train", 4, {.rule = "module-not-found", .evidence = "line"}}},
                  clock.Now());
  Steps(seconds(30));
  EXPECT_THAT(Recorded(), ElementsAre("a import"));
  EXPECT_EQ(api.reads, 1);
}

// However many pods fail, writes and memory stay bounded, and other namespaces are served.
TEST_F(FailureKeeperTest, AFloodOfOneNamespaceIsBounded) {
  for (int i = 0; i < 3000; ++i) {
    EndedPod pod = Failed(fmt::format("flood-{}", i), 139, "greedy");
    pod.owner = {};
    keeper->Upsert(pod);
  }
  keeper->Upsert(Failed("a", 139, "modest"));
  Steps(seconds(40));
  EXPECT_THAT(Recorded("modest"), ElementsAre("a segfault"));
  Steps(seconds(200));
  EXPECT_LE(api.histories["greedy"].records.size(), kMostFailureRecords);
  EXPECT_THAT(metrics.Render(), HasSubstr("synergy_controller_failures_dropped_total 2500"));
  EXPECT_LE(api.writes, 240 / 5 + 2);
}

}  // namespace
}  // namespace synergy::controller
