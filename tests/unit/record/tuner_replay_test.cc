#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cluster/node_selection.h"
#include "controller/cluster/profile_store.h"
#include "controller/profiles/tuner_profiles.h"
#include "controller/tuner/action_executor.h"
#include "controller/tuner/tuner_calls.h"
#include "controller/tuner/tuner_driver.h"
#include "record/replay.h"
#include "support/cluster_vocabulary.h"
#include "support/fake_clock.h"
#include "support/fake_pod_api.h"
#include "support/recorded_events.h"
#include "support/silent_log.h"
#include "unit/record/recording.h"

namespace synergy::controller {
namespace {

using record::Replay;
using record::ReplayReport;

// Tests a node of 4 GPUs, 12 cores and 64 GiB on which pods arrive, are cut, grow and end, and a
// node with two pods that read from one disk.
class TunerReplayTest : public ::testing::Test {
 protected:
  TunerReplayTest() {
    state.SetJournal(recording.recorder.get());
    store.Replace({Profile("sensitive", 1.0 / 3), Profile("insensitive", 1e-3), Reading()});
    state.UpsertNode(synergy::testing::MakeNode("n1", {Gpus(4), Cores(12), GiB(64)}));
    driver.StartOver();
    driver.Step();
    AddPod("idle", "n1", 4, 1);
    AddPod("busy", "n1", 8, 9);
    AddPod("new", "", 3, 9);
    // The first cut is refused.
    api.Refuse("resize", {ErrorCode::kDenied, "exceeded quota"});
    driver.Step();
    api.RefuseNothing();
    for (int i = 0; i < 40; ++i) GoOn();
    state.UpsertNode(synergy::testing::MakeNode("n2", {Gpus(4), Cores(12), GiB(64)}));
    for (const char* name : {"reads", "reads-too"}) {
      AddPod(name, "n2", 3, 3, "reading");
      Report(name);
    }
    state.RemovePod("busy");
    api.Remove("busy");
    for (int i = 0; i < 5; ++i) GoOn();
    state.UpsertNode(synergy::testing::MakeNode("n3", {Gpus(4), Cores(12), GiB(64)}));
    AddPod("stays", "n3", 9, 9);
    GpuReservation& next = reservations.emplace_back();
    next.job = "team/next";
    next.places = {{"n3", Gpus(4), Cores(6), GiB(4)}};
    next.starts.likely = clock.Now() + std::chrono::minutes(1);
    for (int i = 0; i < 5; ++i) GoOn();
    // Another replica leads for some time.
    driver.Rest();
    store.Upsert(Profile("insensitive", 0.5));
    driver.StartOver();
    for (int i = 0; i < 5; ++i) GoOn();
  }

  // Returns a profile whose speed grows by `slope` with each core.
  static ProfileObject Profile(const std::string& name, double slope) {
    ProfileObject object;
    object.profile_namespace = "team";
    object.name = name;
    object.generation = 1;
    object.training.points = {{Cores(1), GiB(4), 1 + slope}, {Cores(9), GiB(4), 1 + 9 * slope}};
    object.profile = std::make_shared<const JobProfile>(*MakeJobProfile(object.training));
    return object;
  }

  // Returns a profile that was measured while a neighbour left the pod 20 MB/s.
  static ProfileObject Reading() {
    ProfileObject object = Profile("reading", 0);
    object.training.points.clear();
    object.training.process_memory = GiB(1);
    object.training.cached =
        CachedMeasurements{.model = {GiB(20), Bytes(20'000'000), Bytes(1'000'000)},
                           .points = {{Cores(1), 10}, {Cores(3), 30}, {Cores(9), 30}},
                           .memories = {}};
    object.profile = std::make_shared<const JobProfile>(*MakeJobProfile(object.training));
    return object;
  }
  // Reports that the pod reads from a disk that can deliver 40 MB/s.
  void Report(const std::string& name) {
    KnownProgress known;
    known.node = "n2";
    known.pod.uid = api.pod(name).uid;
    known.pod.storage =
        StorageUse{.backend = "vda", .read = 20e6, .waited = 0.5, .all = 40e6, .bandwidth = 40e6};
    reports.push_back(std::move(known));
  }

  void AddPod(const std::string& name, const std::string& node, int64_t cores, int64_t demand,
              const std::string& profile = {}) {
    const auto amounts = [](int64_t count) {
      return ResourceVector{Gpus(1), Cores(count), GiB(4)};
    };
    ManagedContainer fungible;
    fungible.container = "train";
    fungible.profile = !profile.empty() ? profile : demand == 1 ? "insensitive" : "sensitive";
    fungible.profile_generation = 1;
    fungible.requested = fungible.in_force = fungible.set_aside = amounts(cores);
    fungible.floor = fungible.fair_share = amounts(std::min<int64_t>(demand, 3));
    fungible.demand = amounts(demand);
    fungible.reported = !node.empty();
    fungible.devices = DeviceReading{DeviceSafety::kSafe, {}};
    Pod pod = synergy::testing::MakePod(name, fungible.requested);
    pod.node = node;
    pod.fungible = std::make_shared<const ManagedContainer>(std::move(fungible));
    if (node.empty()) {
      Waiting waiting{.scheduler = "synergy-scheduler", .unschedulable = true};
      waiting.selection = std::make_shared<const NodeSelection>();
      pod.waiting = std::make_shared<const Waiting>(std::move(waiting));
    }
    api.Put(std::move(pod));
    state.UpsertPod(api.pod(name));
  }

  // Advances ten seconds: the kubelet carries out the specs, which the tuner then sees.
  void GoOn() {
    clock.Advance(std::chrono::seconds(10));
    for (const char* name : {"idle", "busy", "new", "reads", "reads-too", "stays"}) {
      if (state.FindPod(name) == nullptr) continue;
      if (!api.pod(name).node.empty()) api.SettleOnNode(name);
      state.UpsertPod(api.pod(name));
    }
    driver.Step();
  }

  static ReplayReport Again(const std::string& text) {
    const auto report = Replay(text);
    EXPECT_TRUE(report) << report.error().message;
    return report.value_or(ReplayReport{});
  }

  record::Recording recording;
  synergy::testing::FakeClock clock;
  synergy::testing::SilentSink sink;
  Logger log{sink, clock, LogLevel::kDebug, LogFormat::kText};
  metrics::TunerMetrics metrics;
  ClusterState state;
  synergy::testing::FakePodApi api;
  synergy::testing::RecordedEvents events;
  ProfileStore store{0};
  TunerProfiles profiles{store};
  MeasuredStorage storage{profiles};
  std::vector<KnownProgress> reports;
  std::vector<GpuReservation> reservations;
  Tuner tuner{{}, profiles, &storage};
  TunerCalls actions{state, api, events, clock, log, metrics, [] { return true; }};
  std::unique_ptr<ActionExecutor> executor =
      MakeSerialExecutor(actions, [] { return true; }, clock);
  TunerDriver driver{tuner,
                     state,
                     *executor,
                     clock,
                     metrics,
                     {.profiles = &profiles,
                      .journal = recording.recorder.get(),
                      .storage = &storage,
                      .reports = [this](Instant) { return reports; },
                      .reservations = [this](Instant) { return reservations; }}};
};

TEST_F(TunerReplayTest, EveryDecisionComesOutAgainAsItDid) {
  const std::string text = recording.Text();
  // Each kind of decision was made.
  for (const char* kind : {"KeepPlace", "Announce", "Resize", "Record"}) {
    EXPECT_NE(text.find(std::string(R"("kind":")") + kind), std::string::npos) << kind;
  }
  const ReplayReport report = Again(text);
  for (const auto& difference : report.differences) {
    ADD_FAILURE() << difference.recorded << "\n" << difference.replayed;
  }
  EXPECT_GT(report.counts.at("TunerDecided").same, 50U);
}

TEST_F(TunerReplayTest, OneFalseAmountOfAnActionIsFoundOut) {
  const std::string text =
      record::Falsified(recording.Text(), R"("kind":"Resize")", R"("to":{"gpus":1,"cpu":)",
                        R"("to":{"gpus":1,"cpu":9)");
  EXPECT_EQ(Again(text).counts.at("TunerDecided").different, 1U);
}

TEST_F(TunerReplayTest, OneFalseAmountOfAPodIsFoundOut) {
  const std::string text = record::Falsified(recording.Text(), R"("pod":{"uid":"idle")",
                                             R"("cpu":4000)", R"("cpu":3000)");
  EXPECT_GT(Again(text).counts.at("TunerDecided").different, 0U);
}

TEST_F(TunerReplayTest, ADroppedChangeIsFoundOut) {
  EXPECT_FALSE(Again(record::WithoutLine(recording.Text(), R"({"call":"RemovePod")")).same());
}

TEST_F(TunerReplayTest, StorageThatIsNotKnownIsFoundOut) {
  EXPECT_FALSE(
      Again(record::WithoutLine(recording.Text(), R"({"decision":"StorageReported")")).same());
}

TEST_F(TunerReplayTest, ReservationsThatAreNotKnownAreFoundOut) {
  EXPECT_FALSE(
      Again(record::WithoutLine(recording.Text(), R"({"decision":"ReservationsReported")")).same());
}

TEST_F(TunerReplayTest, ProfilesThatAreNotKnownAreFoundOut) {
  EXPECT_FALSE(
      Again(record::WithoutLine(recording.Text(), R"({"decision":"ProfilesHeld")")).same());
}

}  // namespace
}  // namespace synergy::controller
