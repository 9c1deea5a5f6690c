#include "controller/admission/deferred_sizing.h"

#include <memory>
#include <set>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/annotations.h"
#include "cluster/node_selection.h"
#include "controller/admission/admission_warnings.h"
#include "controller/cluster/cluster_view.h"
#include "kube/cluster_store.h"
#include "support/cluster_vocabulary.h"
#include "support/fake_clock.h"
#include "support/fake_pod_api.h"
#include "support/recorded_events.h"
#include "support/silent_log.h"

namespace synergy::controller {
namespace {

using synergy::testing::FakeClock;
using synergy::testing::FakePodApi;
using synergy::testing::MakeNode;
using synergy::testing::MakePod;
using synergy::testing::MakeSharedNode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class DeferredSizingTest : public ::testing::Test {
 protected:
  // Adds a waiting pod with one GPU, with placeholders or without a profile.
  void HaveWaiting(bool placeholder, WrittenAmounts written = {},
                   ResourceVector requested = {Gpus(1), MilliCpu(100), MiB(128)}) {
    ManagedContainer fungible;
    fungible.container = "train";
    fungible.placeholder = placeholder;
    fungible.written = written;
    fungible.requested = requested;
    fungible.floor = fungible.demand = fungible.fair_share = fungible.requested;
    Pod pod = MakePod("a", fungible.requested);
    pod.labels = {{std::string(annotations::kProfile), "image"}};
    pod.fungible = std::make_shared<const ManagedContainer>(std::move(fungible));
    Waiting waiting;
    waiting.scheduler = "synergy-scheduler";
    waiting.selection = std::make_shared<const NodeSelection>();
    waiting.unschedulable = true;
    waiting.since = clock.WallNow();
    pod.waiting = std::make_shared<const Waiting>(std::move(waiting));
    pods.Put(pod);
    state.UpsertPod(pods.pod("a"));
  }
  void HaveProfile() {
    ProfileObject object;
    object.profile_namespace = "team";
    object.name = "image";
    object.generation = 2;
    object.profile = std::make_shared<const JobProfile>(
        *JobProfile::Create(Gpus(1), {{Cores(1), GB(10), 1}, {Cores(2), GB(10), 2}}));
    profiles.Upsert(std::move(object));
  }
  void HaveNode() { state.UpsertNode(MakeNode("n", {Gpus(8), Cores(24), GB(480)})); }
  void Size() { sizing.SizeAll(profiles.version(), {}); }

  FakeClock clock;
  synergy::testing::SilentSink sink;
  Logger log{sink, clock, LogLevel::kDebug, LogFormat::kText};
  ClusterState state;
  ProfileStore profiles{0};
  KeyedStore<Namespace> namespaces;
  FairShareCache shares{state, clock};
  ClusterView view{state, profiles, namespaces, shares, [] { return true; }};
  FakePodApi pods;
  synergy::testing::RecordedEvents events;
  bool leads = true;
  DeferredSizing sizing{{},     std::chrono::seconds(60), view,  state, pods,
                        events, [this] { return leads; }, clock, log};
};

TEST_F(DeferredSizingTest, APlaceholderIsSizedWhenThereIsANode) {
  HaveWaiting(true, {}, {Gpus(1), Cores(3), GiB(10)});
  Size();
  EXPECT_THAT(pods.calls(), IsEmpty());
  HaveNode();
  Size();
  ASSERT_EQ(pods.calls().size(), 2U);
  EXPECT_EQ(pods.calls()[0], "resize a cpu 3, memory 60G");
  EXPECT_THAT(pods.calls()[1], HasSubstr("synergy.io/placeholder-"));
  EXPECT_EQ(pods.annotation("a", annotations::kFloor), R"({"cpu":"3","memory":"60G"})");
  EXPECT_THAT(events.lines(), ElementsAre(HasSubstr("SynergySized a: cpu 3, memory 60G")));
  Size();
  EXPECT_EQ(pods.calls().size(), 2U);
}

TEST_F(DeferredSizingTest, APlaceholderWithAChangeByTheTunerIsSizedToo) {
  HaveWaiting(true, {}, {Gpus(1), Cores(3), GiB(10)});
  pods.ChangeManaged("a", [](ManagedContainer& fungible) {
    fungible.change = {ChangeKind::kReclaimed, fungible.requested, fungible.requested, {}, {}};
  });
  state.UpsertPod(pods.pod("a"));
  HaveNode();
  Size();
  EXPECT_EQ(pods.annotation("a", annotations::kFloor), R"({"cpu":"3","memory":"60G"})");
  EXPECT_FALSE(pods.pod("a").fungible->placeholder);
  EXPECT_FALSE(pods.pod("a").fungible->change);
}

TEST_F(DeferredSizingTest, APodWithSlicesIsSizedWhenANodeOffersThem) {
  HaveWaiting(true, {}, {Gpus(0), Cores(3), GiB(10)});
  Pod pod = pods.pod("a");
  pod.labels.clear();
  pod.slices = Slices(2);
  pods.Put(pod);
  state.UpsertPod(pods.pod("a"));
  HaveNode();
  Size();
  EXPECT_THAT(pods.calls(), IsEmpty()) << "that node has whole GPUs";
  state.UpsertNode(MakeSharedNode("shared", 2, 4, {Gpus(0), Cores(24), GB(480)}));
  Size();
  ASSERT_EQ(pods.calls().size(), 2U);
  EXPECT_EQ(pods.calls()[0], "resize a cpu 6, memory 120G");
  EXPECT_EQ(pods.annotation("a", annotations::kFloor), R"({"cpu":"6","memory":"120G"})");
}

TEST_F(DeferredSizingTest, WritesEndWithTheLease) {
  HaveWaiting(true);
  HaveNode();
  pods.before_call = [this](std::string_view call) -> Result<> {
    if (call.starts_with("resize")) leads = false;
    return {};
  };
  Size();
  Size();
  EXPECT_THAT(pods.calls(), ElementsAre(HasSubstr("resize a")));
  pods.before_call = [](std::string_view) { return Result<>(); };
  leads = true;
  state.UpsertPod(pods.pod("a"));
  Size();
  EXPECT_EQ(pods.annotation("a", annotations::kPlaceholder), std::nullopt);
}

TEST_F(DeferredSizingTest, SlowFailuresOfANamespaceAreRetriedSeldom) {
  HaveWaiting(true);
  HaveNode();
  int tries = 0;
  pods.before_call = [&](std::string_view) -> Result<> {
    ++tries;
    clock.Advance(std::chrono::seconds(3));
    return Fail(ErrorCode::kTimeout, "no answer");
  };
  Size();
  clock.Advance(std::chrono::seconds(29));
  Size();
  EXPECT_EQ(tries, 1);
  clock.Advance(std::chrono::seconds(1));
  Size();
  EXPECT_EQ(tries, 2);
}

TEST_F(DeferredSizingTest, APodThatCannotBeWrittenDelaysTheOthersOfItsNamespaceOnlyOnce) {
  HaveWaiting(true);
  HaveNode();
  const std::vector<std::string> names = {"a", "b", "c"};
  for (const std::string& name : names) {
    Pod pod = pods.pod("a");
    pod.name = pod.uid = name;
    state.RemovePod(pod.uid);
    pods.Put(pod);
    state.UpsertPod(pods.pod(name));
  }
  std::string refused;  // the first one tried; the others fail once
  std::set<std::string> tried;
  pods.before_call = [&](std::string_view call) -> Result<> {
    const std::string pod(call.substr(0, std::string_view("resize a").size()));
    if (refused.empty()) refused = pod;
    const bool is_first = pod.starts_with("resize") && tried.insert(pod).second;
    if (!is_first && pod != refused) return {};
    return Fail(ErrorCode::kUnavailable, "a webhook fails");
  };
  for (int call = 0; call < 6; ++call) {
    Size();
    clock.Advance(std::chrono::minutes(1));
  }
  for (const std::string& name : names)
    EXPECT_NE(pods.annotation(name, annotations::kFloor).has_value(), refused.ends_with(name));
}

TEST_F(DeferredSizingTest, WrittenAmountsStayWhenThePlaceholderGoes) {
  HaveWaiting(true, {.memory_request = GB(100)});
  HaveNode();
  Size();
  EXPECT_EQ(pods.calls()[0], "resize a cpu 3, memory 100G");
}

// A creation under a quota, or an older version, leaves such a pod.
TEST_F(DeferredSizingTest, APlaceholderByWhichAnAutoscalerWouldChooseWrongIsReplaced) {
  HaveWaiting(true);
  Size();
  ASSERT_EQ(pods.calls().size(), 2U);
  EXPECT_EQ(pods.calls()[0], "resize a cpu 3, memory 10Gi");
  EXPECT_NE(pods.annotation("a", annotations::kPlaceholder), std::nullopt);
  EXPECT_THAT(events.lines(), ElementsAre(HasSubstr("until it can be sized: no node")));
}

TEST_F(DeferredSizingTest, PlaceholdersShrinkAfterTheTimeInVain) {
  HaveProfile();
  HaveWaiting(true);
  DeferredSizing small{{.unplaced_per_gpu = {Gpus(0), Cores(1), GiB(4)}},
                       std::chrono::seconds(60),
                       view,
                       state,
                       pods,
                       events,
                       [] { return true; },
                       clock,
                       log};
  const auto size = [&] { small.SizeAll(profiles.version(), {}); };
  size();
  EXPECT_EQ(pods.pod("a").fungible->requested.cpu, Cores(2)) << "the demand";
  clock.Advance(std::chrono::seconds(59));
  size();
  EXPECT_EQ(pods.calls().size(), 2U);
  clock.Advance(std::chrono::seconds(1));
  size();
  EXPECT_EQ(pods.pod("a").fungible->requested.cpu, Cores(1));
  EXPECT_NE(pods.annotation("a", annotations::kPlaceholder), std::nullopt);
  EXPECT_EQ(pods.calls().size(), 4U);
  clock.Advance(std::chrono::hours(1));
  size();
  EXPECT_EQ(pods.calls().size(), 4U);
  HaveNode();
  size();
  EXPECT_EQ(pods.pod("a").fungible->requested.cpu, Cores(2));
  EXPECT_EQ(pods.annotation("a", annotations::kPlaceholder), std::nullopt);
}

TEST_F(DeferredSizingTest, TriesPlaceholdersRefusedByAQuotaOnce) {
  HaveWaiting(true);
  pods.before_call = [](std::string_view call) -> Result<> {
    if (!call.starts_with("resize a")) return {};
    return Fail(ErrorCode::kDenied, "exceeded quota");
  };
  Size();
  const size_t calls = pods.calls().size();
  for (int i = 0; i < 3; ++i) {
    state.UpsertPod(MakePod("other", {Gpus(0), Cores(1), GiB(1)}));
    Size();
  }
  EXPECT_EQ(pods.calls().size(), calls);
}

TEST_F(DeferredSizingTest, AProfileThatComesLaterCounts) {
  HaveWaiting(false);
  pods.ChangeManaged("a", [](ManagedContainer& fungible) {
    fungible.requested = fungible.floor = {Gpus(1), Cores(3), GB(60)};
  });
  state.UpsertPod(pods.pod("a"));
  HaveNode();
  Size();
  EXPECT_THAT(pods.calls(), IsEmpty());
  HaveProfile();
  Size();
  EXPECT_EQ(pods.calls()[0], "resize a cpu 2, memory 60G");
  EXPECT_EQ(pods.annotation("a", annotations::kProfile), "image");
}

TEST_F(DeferredSizingTest, APodThatMayBeOnItsWayToANodeIsNotMadeLarger) {
  HaveWaiting(false);
  HaveNode();
  HaveProfile();
  Size();
  EXPECT_THAT(pods.calls(), IsEmpty());
}

TEST_F(DeferredSizingTest, ThePlaceholderStaysMarkedUntilTheAmountsAreWritten) {
  HaveWaiting(true);
  HaveNode();
  pods.Refuse("resize", {ErrorCode::kUnavailable, "no answer"});
  Size();
  ASSERT_EQ(pods.calls().size(), 1U);
  pods.RefuseNothing();
  clock.Advance(std::chrono::seconds(1));
  Size();
  EXPECT_EQ(pods.calls().size(), 3U) << "tried again";
}

TEST_F(DeferredSizingTest, PodRunsWithoutAmountsRefusedByAQuota) {
  HaveWaiting(true);
  HaveNode();
  pods.before_call = [](std::string_view call) -> Result<> {
    if (!call.starts_with("resize a cpu")) return {};
    return Fail(ErrorCode::kDenied, "exceeded quota");
  };
  Size();
  EXPECT_EQ(pods.pod("a").fungible->requested, (ResourceVector{Gpus(1), MilliCpu(100), GB(60)}));
  EXPECT_EQ(pods.annotation("a", annotations::kFloor), R"({"cpu":"100m","memory":"60G"})");
  EXPECT_EQ(pods.annotation("a", annotations::kDemand), R"({"cpu":"3","memory":"60G"})");
  EXPECT_EQ(pods.annotation("a", annotations::kPlaceholder), std::nullopt);
  EXPECT_THAT(events.lines(), ElementsAre(HasSubstr("exceeded quota"), HasSubstr("SynergySized")));
}

TEST(AdmissionWarningsTest, WarnsOncePerPodWhileItWaits) {
  ClusterState state;
  kube::PodStore store(state);
  synergy::testing::RecordedEvents events;
  bool leads = false;
  AdmissionWarnings warnings(store, events, [&leads] { return leads; });
  Pod pod = MakePod("a", {Gpus(1), Cores(1), GiB(1)});
  pod.warnings = {"one", "two"};
  warnings.Upsert(pod);
  EXPECT_THAT(events.lines(), IsEmpty());
  leads = true;
  warnings.Upsert(pod);
  warnings.Upsert(pod);
  EXPECT_THAT(events.lines(), ElementsAre("SynergyAdmission a: one", "SynergyAdmission a: two"));
  pod.uid = "b";
  pod.node = "n";
  warnings.Upsert(pod);
  EXPECT_THAT(events.lines(), SizeIs(2));
}

}  // namespace
}  // namespace synergy::controller
