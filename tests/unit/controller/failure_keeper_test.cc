#include "controller/progress/failures/failure_keeper.h"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_clock.h"
#include "support/managed_pods.h"
#include "support/recorded_events.h"
#include "support/recorded_log.h"
#include "unit/controller/fake_profile_api.h"
#include "unit/controller/fake_retry_api.h"

namespace synergy::controller {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

// An API server with histories that count their versions.
class FakeFailureApi final : public kube::FailureApi {
 public:
  Result<std::vector<FailureHistory>> ListHistories(std::stop_token) override {
    ++lists;
    if (down) return Fail(ErrorCode::kUnavailable, "down");
    if (denied.contains("list")) return Fail(ErrorCode::kDenied, "no right");
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
    ++tries[history.of_namespace];
    if (down) return Fail(ErrorCode::kUnavailable, "down");
    if (denied.contains(history.of_namespace)) return Fail(ErrorCode::kDenied, "no right");
    FailureHistory& stored = histories[history.of_namespace];
    if (stored.resource_version != history.resource_version)
      return Fail(ErrorCode::kConflict, "changed");
    stored = history;
    stored.resource_version = fmt::to_string(++version);
    ++writes;
    return stored;
  }
  Result<> RemoveHistory(const FailureHistory& history, std::stop_token) override {
    ++removals;
    if (denied.contains(history.of_namespace)) return Fail(ErrorCode::kDenied, "no right");
    const auto found = histories.find(history.of_namespace);
    if (found == histories.end()) return Fail(ErrorCode::kNotFound, "none");
    if (found->second.resource_version != history.resource_version)
      return Fail(ErrorCode::kConflict, "changed");
    histories.erase(found);
    return {};
  }
  Result<EndedPod> ReadPod(const std::string&, const std::string& name, std::stop_token) override {
    ++reads[name];
    if (denied.contains(name)) return Fail(ErrorCode::kDenied, "no right");
    const auto found = pods.find(name);
    if (found == pods.end()) return Fail(ErrorCode::kNotFound, "none");
    return found->second;
  }
  Result<wire::OwnerFacts> ReadOwner(const std::string&, const ObjectOwner& owner,
                                     std::stop_token) override {
    if (on_owner) on_owner();
    const auto found = owners.find(owner.kind + " " + owner.name);
    if (found == owners.end()) return Fail(ErrorCode::kNotFound, "none");
    return found->second;
  }

  std::map<std::string, FailureHistory> histories;
  std::map<std::string, EndedPod> pods;
  std::map<std::string, wire::OwnerFacts> owners;
  int version = 0;
  int lists = 0;
  int writes = 0;
  int removals = 0;
  std::map<std::string, int> tries;  // of writes, by namespace
  std::map<std::string, int> reads;  // of pods, by name
  std::function<void()> on_owner;
  bool down = false;
  std::set<std::string> denied;  // "list", namespaces whose histories are, and pods
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
    pod.created = pod.ends[0].started;
    return pod;
  }
  // A pod on a node that waits for a container.
  EndedPod Unstarted(const std::string& name, const std::string& reason = "ErrImagePull",
                     const std::string& message = "reg.test/bert:2: not found") {
    EndedPod pod = Failed(name);
    pod.failed = false;
    pod.ends.clear();
    pod.waits = {{"train", reason, message}};
    pod.last_condition = pod.created = clock.WallNow() - seconds(2);
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
  // Pods of one Job.
  std::vector<EndedPod> Gang(int size, const std::string& prefix = "g-") {
    std::vector<EndedPod> gang;
    for (int i = 0; i < size; ++i) gang.push_back(Failed(fmt::format("{}{}", prefix, i)));
    return gang;
  }
  auto Counts(int failures) {
    return HasSubstr(fmt::format("synergy_failures_total{{category=\"segfault\"}} {}\n", failures));
  }
  void Restart(const std::string& name, const std::string& node) {
    state.UpsertPod(testing::ManagedPod(name, node, 3));
    EndedPod pod = Failed(name, 1);
    pod.uid = testing::ManagedPod(name, node, 3).uid;
    pod.node = node;
    pod.failed = false;
    api.pods[name] = pod;
  }
  FailureSources Sources() {
    return {reports, state, acts,
            [this](const std::string& name) { return !gone_namespaces.contains(name); }};
  }
  void Begin() {
    keeper = std::make_unique<FailureKeeper>(
        api, Sources(), nullptr, events, [this] { return leads; }, seconds(25), clock, log,
        metrics);
  }

  testing::FakeClock clock;
  testing::RecordedLog lines;
  Logger log{lines, clock, LogLevel::kDebug, LogFormat::kText};
  metrics::ControllerMetrics metrics;
  ClusterState state;
  testing::RecordedEvents events;
  FakeFailureApi api;
  FailureReports reports;
  PodActs acts;
  std::set<std::string> gone_namespaces;
  bool leads = true;
  std::unique_ptr<FailureKeeper> keeper = std::make_unique<FailureKeeper>(
      api, Sources(), nullptr, events, [this] { return leads; }, seconds(25), clock, log, metrics);
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

TEST_F(FailureKeeperTest, ActsOfAgentsAndOfThisProgramAreJoined) {
  reports.Observe("n1",
                  {{"uid-a",
                    "train",
                    0,
                    {.rule = "peer-lost", .evidence = "line"},
                    {{"freeze", clock.WallNow() - seconds(30)}}}},
                  clock.Now());
  keeper->Upsert(Failed("a", 1));
  EndedPod evicted = Failed("b", 143);
  evicted.owner = {};
  evicted.conditions = {"DisruptionTarget/EvictionByEvictionAPI"};
  acts.Note("uid-b", "preemption", clock.WallNow() - seconds(20));
  keeper->Upsert(evicted);
  Steps(seconds(40));
  std::map<std::string, std::string> by_pod;
  for (const FailureRecord& record : api.histories["team"].records)
    by_pod[record.pod] = record.cause + ": " + record.act;
  EXPECT_EQ(by_pod["a"], "synergy: suspended it for turns on its GPU");
  EXPECT_EQ(by_pod["b"], "synergy: evicted it");
}

TEST_F(FailureKeeperTest, RecordsOfANamespaceThatIsGoneAreRemoved) {
  keeper->Upsert(Failed("a"));
  keeper->Upsert(Failed("b", 139, "other"));
  Steps(seconds(40));
  ASSERT_THAT(api.histories, SizeIs(2));
  gone_namespaces = {"team"};
  Steps(seconds(30));
  EXPECT_THAT(api.histories, SizeIs(2)) << "the watch of namespaces may lag";
  clock.Advance(FailureKeeper::kGone);
  api.denied = {"team"};
  Steps(seconds(60));
  EXPECT_THAT(api.histories, SizeIs(2));
  EXPECT_LE(api.removals, 6) << "with backoff";
  api.denied.clear();
  Steps(minutes(5));
  EXPECT_THAT(api.histories, SizeIs(1));
  EXPECT_TRUE(api.histories.contains("other"));
  // Another client has changed it.
  gone_namespaces = {"team", "other"};
  api.histories["other"].resource_version = "999";
  Steps(minutes(1));
  EXPECT_THAT(api.histories, IsEmpty());
  const int removals = api.removals;
  Steps(minutes(10));
  EXPECT_EQ(api.removals, removals);
}

TEST_F(FailureKeeperTest, AFutileRetryIsStoppedOnceThatDecisionIsStored) {
  FakeRetryApi retry_api;
  retry_api.jobs["bert"] = {.kind = "Job", .name = "bert", .uid = "uid-bert"};
  retry_api.annotations["team"] = "stop-futile";
  retry_api.on_stop = [this] {
    EXPECT_NE(api.histories["team"].records.back().to_suspend, WallTime{});
  };
  ProfileStore profiles(0);
  FakeProfileApi profile_api(profiles);
  RetryKeeper retries(
      retry_api, MemoryRaiser(profiles, profile_api, state), false, events,
      [this] { return leads; }, clock, log, metrics);
  keeper = std::make_unique<FailureKeeper>(
      api, Sources(), &retries, events, [this] { return leads; }, seconds(25), clock, log, metrics);
  for (const char* const name : {"a", "b"}) {
    EXPECT_THAT(retry_api.stopped, IsEmpty());
    EndedPod pod = Failed(name, 1);
    pod.workload = "w-1";
    pod.ends[0].image_id = "sha256:1";
    pod.ends[0].started = pod.created = clock.WallNow() - seconds(5);
    keeper->Upsert(pod);
    Observe(name, "module-not-found");
    Steps(seconds(20));
  }
  EXPECT_THAT(retry_api.stopped, ElementsAre("Job bert"));
  EXPECT_NE(api.histories["team"].records.back().suspended, WallTime{});
}

TEST_F(FailureKeeperTest, MemoryOfAGpuThatOthersMayHaveTooIsNoMistakeOfTheUser) {
  Node node = testing::NodeOfFour("n1");
  node.gpu_kinds.products = {"NVIDIA-A100-SXM4-80GB-SHARED"};
  state.UpsertNode(node);
  state.UpsertNode(testing::NodeOfFour("n2"));
  keeper->Upsert(Failed("a", 1));
  Observe("a", "cuda-out-of-memory");
  EndedPod other = Failed("b", 1);
  other.node = "n2";
  other.owner.uid = "uid-other";
  keeper->Upsert(other);
  Observe("b", "cuda-out-of-memory", "n2");
  Steps(seconds(5));
  const std::vector<FailureRecord>& records = api.histories["team"].records;
  ASSERT_THAT(records, SizeIs(2));
  for (const FailureRecord& record : records) {
    EXPECT_EQ(record.category, "gpu-oom");
    EXPECT_EQ(record.shared_gpu, record.node == "n1");
    EXPECT_EQ(record.cause, record.node == "n1" ? "synergy" : "user");
  }
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

TEST_F(FailureKeeperTest, PodsThatStartedAfterOthersHadFailedAreTheNextAttempt) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    for (const char* const rank : {"0", "1"}) {
      EndedPod pod = Failed(fmt::format("a-{}-{}", attempt, rank));
      pod.job_set = "set";
      pod.ends[0].started = pod.created = clock.WallNow() - seconds(1);
      pod.ends[0].finished = clock.WallNow();
      keeper->Upsert(pod);
      Observe(pod.name, "module-not-found");
    }
    clock.Advance(seconds(2));
  }
  Steps(seconds(30));
  std::set<WallTime> attempts;
  for (const FailureRecord& record : api.histories["team"].records) attempts.insert(record.attempt);
  EXPECT_THAT(attempts, SizeIs(3));
  EXPECT_THAT(Recorded(), SizeIs(6));
}

// Its grace period is over half a minute after the others have failed.
TEST_F(FailureKeeperTest, TheGuiltyRankThatIsEndedLastLeadsItsAttempt) {
  const auto ends = [this](const std::string& name, const std::string& rule) {
    EndedPod pod = Failed(name, 1);
    pod.rank = name;
    pod.ends[0].started = pod.created = WallTime{} + hours(1);
    keeper->Upsert(pod);
    Observe(name, rule);
    Steps(seconds(30));
  };
  ends("0", "peer-lost");
  EXPECT_THAT(events.all.back().message, HasSubstr("pod 0 (rank 0) failed: peer-lost"));
  ends("1", "peer-lost");
  EXPECT_THAT(events.reasons(), SizeIs(3)) << "nothing new of their Job";
  ends("3", "cuda-out-of-memory");
  EXPECT_THAT(events.all.back().message,
              HasSubstr("pod 3 (rank 3) failed, and 2 more pods with it: gpu-oom"));
  std::set<WallTime> attempts;
  for (const FailureRecord& record : api.histories["team"].records) {
    attempts.insert(record.attempt);
    EXPECT_EQ(record.leads, record.pod == "3");
  }
  EXPECT_THAT(attempts, SizeIs(1));
  // A pod that replaces one of them is of the next attempt, and so is one that fails much later.
  EndedPod next = Failed("4", 1);
  next.created = next.ends[0].started = clock.WallNow() - seconds(2);
  keeper->Upsert(next);
  Observe("4", "cuda-out-of-memory");
  Steps(minutes(3));
  ends("5", "cuda-out-of-memory");
  attempts.clear();
  for (const FailureRecord& record : api.histories["team"].records) attempts.insert(record.attempt);
  EXPECT_THAT(attempts, SizeIs(3));
}

// The kubelet refuses pods before any container starts.
TEST_F(FailureKeeperTest, ARefusedRetryIsTheNextAttemptAndARefusedMemberIsNot) {
  const auto refuse = [this](const std::string& name, const std::string& team, WallTime created) {
    EndedPod pod = Failed(name, 0, team);
    pod.ends.clear();
    pod.reason = "UnexpectedAdmissionError";
    pod.created = created;
    pod.last_condition = clock.WallNow() - seconds(3);  // by the node's clock
    keeper->Upsert(pod);
  };
  // The first failure waits for its report, or is reported already.
  for (const auto& [team, later] :
       {std::pair("soon", seconds(5)), std::pair("late", seconds(40))}) {
    const EndedPod first = Failed("a", 139, team);
    keeper->Upsert(first);
    Steps(later);
    refuse("b", team, first.created);
    Steps(seconds(10));
    refuse("c", team, clock.WallNow());
    Steps(seconds(60));
    const std::vector<FailureRecord>& records = api.histories[team].records;
    ASSERT_THAT(Recorded(team), ElementsAre(HasSubstr("a "), HasSubstr("b "), HasSubstr("c ")));
    EXPECT_EQ(records[1].attempt, records[0].attempt) << team;
    EXPECT_GT(records[2].attempt, records[0].attempt) << team;
    EXPECT_TRUE(records[2].leads) << team;
  }
}

TEST_F(FailureKeeperTest, JobsOfACronJobThatOverlapAreAttemptsOfTheirOwn) {
  for (const char* const name : {"a", "b"}) {
    EndedPod pod = Failed(name);
    pod.owner = {"batch/v1", "Job", name, fmt::format("uid-job-{}", name)};
    api.owners[fmt::format("Job {}", name)] = {
        pod.owner.uid, "", {"batch/v1", "CronJob", "nightly", "uid-nightly"}};
    keeper->Upsert(pod);
    Steps(seconds(30));
  }
  const std::vector<FailureRecord>& records = api.histories["team"].records;
  ASSERT_THAT(records, SizeIs(2));
  EXPECT_NE(records[0].attempt, records[1].attempt);
  for (const FailureRecord& record : records) {
    EXPECT_EQ(record.owner.kind, "CronJob");
    EXPECT_TRUE(record.leads);
  }
}

TEST_F(FailureKeeperTest, ARankThatStartsLateIsOfTheSameAttempt) {
  EndedPod first = Failed("a");
  EndedPod late = Failed("b");
  first.job_set = late.job_set = "set";
  first.ends[0].finished = first.ends[0].started + minutes(8);
  late.ends[0].started = first.ends[0].finished + seconds(20);
  keeper->Upsert(first);
  keeper->Upsert(late);
  Steps(seconds(30));
  std::set<WallTime> attempts;
  for (const FailureRecord& record : api.histories["team"].records) attempts.insert(record.attempt);
  EXPECT_THAT(attempts, SizeIs(1));
}

TEST_F(FailureKeeperTest, AJobSetOfTheSameNameThatWasMadeLaterIsNotTheOwner) {
  api.owners["JobSet set"] = {"u4", "", {}, clock.WallNow()};
  EndedPod pod = Failed("a");
  pod.job_set = "set";
  keeper->Upsert(pod);
  Steps(seconds(30));
  EXPECT_NE(events.all.back().kind, "JobSet");
  EXPECT_EQ(api.histories["team"].records[0].owner.kind, "Job");
}

TEST_F(FailureKeeperTest, TheOutermostOwnerGetsTheEvent) {
  api.owners["Job bert"] = {"uid-bert", "", {"jobset.x-k8s.io/v1alpha2", "JobSet", "set", "u3"}};
  api.owners["JobSet set"] = {
      "u3", "research", {"trainer.kubeflow.org/v1alpha1", "TrainJob", "train", "u4"}};
  keeper->Upsert(Failed("a"));
  Steps(seconds(30));
  EXPECT_EQ(events.all.back().kind, "TrainJob");
  EXPECT_EQ(events.all.back().object_name, "train");
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
  EXPECT_EQ(events.all.back().object_uid, "u3");
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
  EXPECT_THAT(events.reasons(),
              UnorderedElementsAre("SynergyFailure a", "SynergyFailure bert", "SynergyFailure b"));
}

TEST_F(FailureKeeperTest, ALeaderThatLeadsAgainKeepsTheOneRecordThatLeadsItsAttempt) {
  keeper->Upsert(Failed("a", 1));
  Observe("a", "peer-lost");
  Steps(seconds(30));
  ASSERT_TRUE(api.histories["team"].records[0].leads);
  api.denied = {"team"};
  keeper->Upsert(Failed("b", 1));
  Observe("b", "cuda-out-of-memory");
  Steps(seconds(10));
  keeper->StartOver();
  api.denied.clear();
  Steps(minutes(1));
  const std::vector<FailureRecord>& records = api.histories["team"].records;
  ASSERT_THAT(Recorded(), ElementsAre("a peer-lost", "b gpu-oom"));
  EXPECT_FALSE(records[0].leads);
  EXPECT_TRUE(records[1].leads);
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
  EXPECT_EQ(api.reads["a"], 1);
}

TEST_F(FailureKeeperTest, FaultsOfANodeInTwoNamespacesAreAnEventOnIt) {
  state.UpsertNode(testing::NodeOfFour("n1"));
  for (const char* const team : {"team", "other"}) {
    EXPECT_THAT(events.reasons(), Not(Contains("SynergyNodeSuspect n1")));
    EndedPod pod = Failed(team, 1, team);
    keeper->Upsert(pod);
    reports.Observe("n1", {{pod.uid, "train", 0, {.rule = "off-the-bus", .evidence = "line"}}},
                    clock.Now());
    Steps(seconds(5));
  }
  EXPECT_THAT(events.reasons(), Contains("SynergyNodeSuspect n1"));
  EXPECT_THAT(metrics.Render(), HasSubstr("\nsynergy_controller_suspect_nodes 1\n"));
  // Another replica leads.
  keeper->Forget();
  EXPECT_THAT(metrics.Render(), HasSubstr("\nsynergy_controller_suspect_nodes 0\n"));
}

TEST_F(FailureKeeperTest, AnEndOlderThanTheFullHistoryIsReported) {
  EndedPod late = Failed("late");
  late.owner = {};
  clock.Advance(seconds(60));
  keeper->Replace(Gang(300));
  Steps(seconds(30));
  ASSERT_THAT(api.histories["team"].records, SizeIs(kMostFailureRecords));
  keeper->Upsert(late);
  Steps(seconds(30));
  EXPECT_THAT(events.reasons(), Contains("SynergyFailure late"));
}

TEST_F(FailureKeeperTest, MoreEndsThanAHistoryHoldsAreReportedOnceByAllLeaders) {
  const std::vector<EndedPod> gang = Gang(300);
  keeper->Replace(gang);
  Steps(seconds(30));
  EXPECT_THAT(metrics.Render(), Counts(300));
  keeper->Replace(gang);
  Steps(seconds(40));
  EXPECT_THAT(metrics.Render(), Counts(300));
  for (const bool first : {true, false}) {
    Begin();
    // A replica may have watched for long before it leads.
    if (first) keeper->Replace(gang);
    keeper->StartOver();
    Steps(seconds(1));
    if (!first) keeper->Replace(gang);
    Steps(seconds(40));
    EXPECT_THAT(metrics.Render(), Counts(300));
  }
}

TEST_F(FailureKeeperTest, ReportedFailuresTakeNoPlacesOfWaitingOnes) {
  std::vector<EndedPod> pods = Gang(400, "old-");
  keeper->Replace(pods);
  Steps(seconds(30));
  for (EndedPod& pod : Gang(400, "new-")) pods.push_back(pod);
  keeper->Replace(pods);
  Steps(seconds(30));
  EXPECT_THAT(metrics.Render(), Counts(800));
  EXPECT_THAT(metrics.Render(), HasSubstr("synergy_controller_failures_dropped_total 0"));
}

TEST_F(FailureKeeperTest, AReplicaThatDoesNotActKeepsTheNewestAndCountsNoDrop) {
  leads = false;
  keeper->Forget();
  for (EndedPod& pod : Gang(700)) {
    clock.Advance(std::chrono::milliseconds(1));
    pod.ends[0].finished = clock.WallNow();
    keeper->Upsert(pod);
  }
  keeper->Forget();
  leads = true;
  keeper->StartOver();
  Steps(seconds(30));
  EXPECT_THAT(metrics.Render(), Counts(500));
  EXPECT_THAT(metrics.Render(), HasSubstr("synergy_controller_failures_dropped_total 0"));
  ASSERT_THAT(Recorded(), SizeIs(kMostFailureRecords));
  EXPECT_EQ(Recorded().back(), "g-699 segfault");
}

TEST_F(FailureKeeperTest, AttemptsWaitIfThisReplicaStopsLeadingWithinAStep) {
  keeper->Upsert(Failed("a"));
  EndedPod other = Failed("b");
  other.owner = {};
  keeper->Upsert(other);
  api.on_owner = [this] { leads = false; };
  Steps(seconds(40));
  EXPECT_THAT(events.reasons(), Not(Contains("SynergyFailure a")));
  EXPECT_EQ(api.writes, 0);
  api.on_owner = nullptr;
  leads = true;
  Steps(seconds(5));
  EXPECT_THAT(Recorded(), UnorderedElementsAre("a segfault", "b segfault"));
  EXPECT_THAT(events.reasons(),
              UnorderedElementsAre("SynergyFailure a", "SynergyFailure bert", "SynergyFailure b"));
}

TEST_F(FailureKeeperTest, AnOwnerWhoseNameNoEventCanHaveGetsNone) {
  for (const char* const name : {"Bert", "a/b", "-a", "a..b", "a_b"}) {
    EndedPod pod = Failed("a");
    pod.uid = name;
    pod.owner = {"v1", "Odd", name, fmt::format("uid {}", name)};
    keeper->Upsert(pod);
  }
  Steps(seconds(40));
  EXPECT_THAT(events.reasons(), SizeIs(5));
  EXPECT_THAT(events.reasons(), Each("SynergyFailure a"));
}

TEST_F(FailureKeeperTest, WithoutTheRightToListItTriesSeldomAndKeepsNoOldPods) {
  api.denied = {"list"};
  keeper->Upsert(Failed("a"));
  Steps(minutes(10));
  EXPECT_LE(api.lists, 11);
  EXPECT_EQ(lines.Count("cannot "), 1);
  Steps(hours(1));
  api.denied.clear();
  Steps(minutes(10));
  EXPECT_THAT(events.all, IsEmpty());
  keeper->Upsert(Failed("b"));
  Steps(seconds(30));
  EXPECT_THAT(Recorded(), ElementsAre("b segfault"));
}

TEST_F(FailureKeeperTest, AHistoryThatIsRefusedIsTriedSeldomAndStopsNoOther) {
  api.denied = {"team"};
  keeper->Upsert(Failed("a"));
  keeper->Upsert(Failed("b", 139, "other"));
  Steps(minutes(10));
  EXPECT_THAT(Recorded("other"), ElementsAre("b segfault"));
  EXPECT_LE(api.tries["team"], 11);
  EXPECT_EQ(lines.Count("cannot "), 1);
  api.denied.clear();
  Steps(minutes(5) + seconds(1));
  EXPECT_THAT(Recorded(), ElementsAre("a segfault"));
}

TEST_F(FailureKeeperTest, APodThatCannotBeReadIsTriedSeldomAndStopsNoOther) {
  state.UpsertNode(testing::NodeOfFour("n1"));
  for (const char* const name : {"a", "b"}) Restart(name, "n1");
  api.denied = {"a"};
  const auto observe = [this] {
    std::vector<EndedRun> runs;
    for (const auto& [name, pod] : api.pods) runs.push_back({pod.uid, "train", 0, {}});
    reports.Observe("n1", runs, clock.Now());
  };
  for (int i = 0; i < 10; ++i) {
    observe();
    Steps(minutes(1));
  }
  EXPECT_LE(api.reads["a"], 11);
  EXPECT_EQ(api.reads["b"], 1);
  api.denied.clear();
  observe();
  Steps(minutes(6));
  EXPECT_THAT(Recorded(), UnorderedElementsAre(HasSubstr("a "), HasSubstr("b ")));
}

TEST_F(FailureKeeperTest, AnAgentThatLiesDelaysNoOther) {
  for (const char* const node : {"n1", "n2"}) state.UpsertNode(testing::NodeOfFour(node));
  Restart("a", "n1");
  Restart("b", "n2");
  std::vector<EndedRun> lies;
  for (int i = 1; i <= 200; ++i) lies.push_back({api.pods["a"].uid, "train", i, {}});
  reports.Observe("n1", lies, clock.Now());
  reports.Observe("n2", {{api.pods["b"].uid, "train", 0, {}}}, clock.Now());
  keeper->Step({});
  EXPECT_EQ(api.reads["a"], 2);
  EXPECT_EQ(api.reads["b"], 1);
}

// More nodes than one step serves: all are served within a few.
TEST_F(FailureKeeperTest, NodesAreReadInTurns) {
  for (int i = 0; i < 30; ++i) {
    const std::string node = fmt::format("n{}", i);
    state.UpsertNode(testing::NodeOfFour(node));
    Restart("pod-" + node, node);
    const std::string& uid = api.pods["pod-" + node].uid;
    std::vector<EndedRun> lies;
    for (int run = 1; run <= 200; ++run) lies.push_back({uid, "train", run, {}});
    reports.Observe(node, lies, clock.Now());
  }
  Steps(seconds(3));
  EXPECT_THAT(api.reads, SizeIs(30));
}

TEST_F(FailureKeeperTest, APodWhoseImageCannotBePulledIsReportedOnceHoweverOftenThatIsTried) {
  const EndedPod pod = Unstarted("a");
  EndedPod backs_off = pod;
  backs_off.waits = {{"train", "ImagePullBackOff",
                      "Back-off pulling image \"reg.test/bert:2\": ErrImagePull: not found"}};
  for (int i = 0; i < 100; ++i) {
    keeper->starting().Upsert(i % 2 == 0 ? pod : backs_off);
    Steps(seconds(1));
    if (i < 25) {
      EXPECT_THAT(events.all, IsEmpty()) << "a registry may be late";
    }
  }
  EXPECT_THAT(events.reasons(), ElementsAre("SynergyFailure a", "SynergyFailure bert"));
  EXPECT_THAT(events.all[1].message,
              HasSubstr("pod a does not start: image: the image could not be pulled (cause user"));
  EXPECT_THAT(Recorded(), ElementsAre("a image"));
  // Neither by the next leader, nor later.
  Begin();
  keeper->starting().Replace({pod});
  Steps(seconds(60));
  for (int i = 0; i < 10; ++i) {
    keeper->starting().Replace({backs_off});
    Steps(minutes(10));
  }
  EXPECT_THAT(events.all, SizeIs(2));
  // Its image is there at last, and it fails for another reason.
  keeper->starting().Remove(pod);
  keeper->Upsert(Failed("a"));
  Steps(seconds(40));
  EXPECT_THAT(Recorded(), ElementsAre("a image", "a segfault"));
}

TEST_F(FailureKeeperTest, PodsOfOneOwnerThatDoNotStartAreOneAttempt) {
  for (const char* const name : {"a", "b"}) {
    keeper->starting().Upsert(Unstarted(name));
    Steps(seconds(10));
  }
  Steps(seconds(60));
  EXPECT_THAT(events.reasons(),
              UnorderedElementsAre("SynergyFailure a", "SynergyFailure b", "SynergyFailure bert"));
}

TEST_F(FailureKeeperTest, APodThatStartsInTimeOrIsDeletedHasNoFailure) {
  keeper->starting().Upsert(Unstarted("runs"));
  keeper->starting().Upsert(Unstarted("deleted"));
  keeper->starting().Upsert(Unstarted("listed"));
  keeper->starting().Upsert(Unstarted("pulls"));
  EndedPod foreign = Unstarted("foreign");
  foreign.managed = false;
  keeper->starting().Upsert(foreign);
  Steps(seconds(20));
  keeper->starting().Remove(Unstarted("runs"));
  EndedPod deleted = Unstarted("deleted");
  deleted.deleting = true;
  keeper->starting().Upsert(deleted);
  keeper->starting().Replace({Unstarted("pulls")});
  keeper->starting().Upsert(Unstarted("pulls", "ContainerCreating", ""));
  Steps(seconds(60));
  EXPECT_THAT(events.all, IsEmpty());
}

TEST_F(FailureKeeperTest, PodsThatDoNotStartDelayNoReportOfThoseThatFail) {
  keeper->starting().Upsert(Unstarted("waits"));
  keeper->Upsert(Failed("a", 1));
  Observe("a", "module-not-found");
  Steps(seconds(5));
  EXPECT_THAT(Recorded(), ElementsAre("a import"));
  Steps(seconds(40));
  EXPECT_THAT(Recorded(), UnorderedElementsAre("a import", "waits image"));
}

// However many pods fail, writes and memory stay bounded, and other namespaces are served.
TEST_F(FailureKeeperTest, AFloodOfOneNamespaceIsBounded) {
  Steps(seconds(1));
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
