#include "controller/profiles/profile_rollout.h"

#include <optional>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/annotations.h"
#include "unit/controller/profiling_fixture.h"

namespace synergy::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ProfileRolloutTest : public ProfilingFixture {
 protected:
  // Adopts until nothing is left to do. The watch reports each write.
  void RollOut() {
    rollout.RollOut();
    const auto cluster = state.Snapshot();
    for (const auto& pod : cluster->node(*cluster->Find("n1")).detail->pods) See(pod->name);
  }

  ProfileRollout rollout{{},    view, profiles, state, pods, events, [this] { return may_act; },
                         clock, log};
};

TEST_F(ProfileRolloutTest, ARunningPodGetsWhatWasMeasuredAndIsNotResized) {
  HaveRunning("a");
  RollOut();
  EXPECT_THAT(pods.calls(), IsEmpty());
  HaveMeasured(MeasuredBert());
  RollOut();
  EXPECT_THAT(pods.calls(), ElementsAre("annotate a synergy.io/demand, synergy.io/floor, "
                                        "synergy.io/profile, synergy.io/profile-generation, "
                                        "synergy.io/profile-hint-"));
  EXPECT_EQ(pods.annotation("a", annotations::kProfile), name_);
  EXPECT_EQ(pods.annotation("a", annotations::kProfileGeneration), "1");
  EXPECT_EQ(pods.annotation("a", annotations::kDemand), R"({"cpu":"1","memory":"4Gi"})");
  EXPECT_EQ(pods.annotation("a", annotations::kFloor), R"({"cpu":"1","memory":"4Gi"})");
  EXPECT_THAT(events.lines(),
              ElementsAre(HasSubstr("SynergyProfiled a: measured while the pod trained")));
  RollOut();
  EXPECT_THAT(pods.calls(), SizeIs(1)) << "once for each revision";
  HaveMeasured(MeasuredBert(2));
  RollOut();
  EXPECT_EQ(pods.annotation("a", annotations::kProfileGeneration), "2");
}

// A pod of the workload "gpt", which was created with the profile of "bert" as a hint.
class HintedPodTest : public ProfileRolloutTest {
 protected:
  HintedPodTest() {
    HaveMeasured(MeasuredBert());
    HaveRunning("a");
    pods.ChangeManaged("a", [this](ManagedContainer& fungible) {
      fungible.workload = "gpt";
      fungible.alike = {.arguments = "a-0123456789abcdef", .owner = {}};
      fungible.profile = name_;
      fungible.profile_generation = 1;
      fungible.hint = LooserIdentity::kArguments;
    });
    See("a");
  }
  MeasuredProfile MeasuredGpt() const {
    MeasuredProfile measured = MeasuredBert();
    measured.workload = "gpt";
    return measured;
  }
};

TEST_F(HintedPodTest, TheHintStaysUntilSomethingIsKnownOfTheWorkloadItself) {
  RollOut();
  EXPECT_THAT(pods.calls(), IsEmpty());
  HaveMeasured(MeasuredBert(2));
  RollOut();
  EXPECT_EQ(pods.annotation("a", annotations::kProfileGeneration), "2");
  EXPECT_EQ(pods.annotation("a", annotations::kProfileHint), "arguments");
  EXPECT_EQ(pods.annotation("a", annotations::kFloor), R"({"cpu":"3","memory":"4Gi"})")
      << "the fair share: its best is with 1 core";
}

TEST_F(HintedPodTest, AConfirmedHintIsAProfileLikeAnyOther) {
  MeasuredProfile taken = MeasuredGpt();
  taken.taken = {name_, LooserIdentity::kArguments};
  HaveMeasured(taken);
  RollOut();
  EXPECT_EQ(pods.annotation("a", annotations::kProfile), MeasuredName(taken));
  EXPECT_EQ(pods.annotation("a", annotations::kProfileHint), std::nullopt);
  EXPECT_EQ(pods.annotation("a", annotations::kFloor), R"({"cpu":"1","memory":"4Gi"})");
  EXPECT_THAT(events.lines(), ElementsAre(HasSubstr("SynergyProfiled a")));
}

TEST_F(HintedPodTest, AHintThatDoesNotHoldIsDroppedWithAnEvent) {
  HaveMeasured(MeasuredGpt());
  RollOut();
  EXPECT_EQ(pods.annotation("a", annotations::kProfile), MeasuredName(MeasuredGpt()));
  EXPECT_EQ(pods.annotation("a", annotations::kProfileHint), std::nullopt);
  EXPECT_THAT(events.lines(),
              ElementsAre(HasSubstr("SynergyHintDropped a"), HasSubstr("SynergyProfiled a")));
}

TEST_F(ProfileRolloutTest, ARefusedPodDoesNotDelayTheOthers) {
  HaveMeasured(MeasuredBert());
  for (int pod = 0; pod < 30; ++pod) HaveRunning(fmt::format("refused-{:02}", pod));
  for (int pod = 0; pod < 10; ++pod) HaveRunning(fmt::format("taken-{}", pod));
  pods.Refuse("annotate refused", {ErrorCode::kInvalid, "annotations are too long"});
  for (int call = 0; call < 3; ++call) RollOut();
  for (int pod = 0; pod < 10; ++pod)
    EXPECT_EQ(pods.annotation(fmt::format("taken-{}", pod), annotations::kProfile), name_);
  pods.RefuseNothing();
  const size_t before = pods.calls().size();
  RollOut();
  EXPECT_THAT(pods.calls(), SizeIs(before)) << "refused pods rest";
  clock.Advance(ProfileRollout::kRefusalLasts);
  for (int call = 0; call < 4; ++call) {
    See("taken-0");
    RollOut();
  }
  EXPECT_EQ(pods.annotation("refused-00", annotations::kProfile), name_) << "it is tried again";
}

TEST_F(ProfileRolloutTest, AnOutageEndsTheCall) {
  HaveMeasured(MeasuredBert());
  for (const char* name : {"a", "b"}) HaveRunning(name);
  pods.Refuse("annotate", {ErrorCode::kUnavailable, "no answer"});
  rollout.RollOut();
  EXPECT_THAT(pods.calls(), SizeIs(1));
}

// If a webhook of its namespace fails, the API server answers as if it failed itself.
TEST_F(ProfileRolloutTest, APodWhoseWritesFailDoesNotDelayTheOthers) {
  HaveMeasured(MeasuredBert());
  for (const char* name : {"a", "b"}) HaveRunning(name);
  pods.Refuse("annotate a", {ErrorCode::kUnavailable, "failed calling webhook"});
  for (int call = 0; call < 2; ++call) RollOut();
  EXPECT_EQ(pods.annotation("b", annotations::kProfile), name_);
}

// A pod that lends CPU requests less than it has.
TEST_F(ProfileRolloutTest, ThePodKeepsTheFloorOfTheCpuThatItLends) {
  HaveRunning("a");
  pods.ChangeManaged("a", [](ManagedContainer& fungible) {
    const ResourceVector before = fungible.requested;
    fungible.requested.cpu = Cores(1);
    fungible.change = {ChangeKind::kLent, before, fungible.requested, {}, {}};
  });
  See("a");
  MeasuredProfile measured = MeasuredBert();
  measured.points = {{Cores(1), 1}, {Cores(9), 9}};
  HaveMeasured(measured);
  RollOut();
  EXPECT_EQ(pods.annotation("a", annotations::kFloor), R"({"cpu":"3","memory":"4Gi"})");
}

TEST_F(ProfileRolloutTest, BorrowedCpuIsNoPartOfTheFloor) {
  HaveRunning("a");
  pods.ChangeManaged("a", [](ManagedContainer& fungible) {
    const ResourceVector before = fungible.requested;
    fungible.requested.cpu += Cores(6);
    fungible.change = {ChangeKind::kBorrowed, before, fungible.requested, {}, {}};
    fungible.change->borrowed = Cores(6);
  });
  See("a");
  MeasuredProfile measured = MeasuredBert();
  measured.points = {{Cores(1), 1}, {Cores(9), 9}};
  HaveMeasured(measured);
  RollOut();
  EXPECT_EQ(pods.annotation("a", annotations::kFloor), R"({"cpu":"3","memory":"4Gi"})");
}

TEST_F(ProfileRolloutTest, NoFloorIsAboveWhatThePodHas) {
  HaveRunning("a");
  pods.ChangeManaged("a", [](ManagedContainer& fungible) {
    fungible.requested = fungible.floor = synergy::testing::OneGpu(2);
  });
  See("a");
  MeasuredProfile measured = MeasuredBert();
  measured.points = {{Cores(1), 1}, {Cores(9), 9}};
  HaveMeasured(measured);
  RollOut();
  EXPECT_EQ(pods.annotation("a", annotations::kFloor), R"({"cpu":"2","memory":"4Gi"})");
  EXPECT_EQ(pods.annotation("a", annotations::kDemand), R"({"cpu":"9","memory":"4Gi"})");
}

TEST_F(ProfileRolloutTest, PodKeepsAProfileWrittenByAUser) {
  HaveRunning("a");
  pods.ChangeManaged("a", [](ManagedContainer& fungible) { fungible.profile = "theirs"; });
  See("a");
  HaveMeasured(MeasuredBert());
  RollOut();
  ProfileObject theirs;
  theirs.profile_namespace = "team";
  theirs.name = "theirs";
  profiles.Upsert(theirs);
  RollOut();
  EXPECT_THAT(pods.calls(), IsEmpty());
}

TEST_F(ProfileRolloutTest, APodWithoutAWorkloadOrOfAnotherOneIsLeftAlone) {
  for (const char* workload : {"", "other"}) {
    HaveRunning("a");
    pods.ChangeManaged("a", [&](ManagedContainer& fungible) { fungible.workload = workload; });
    See("a");
    HaveMeasured(MeasuredBert());
    RollOut();
    EXPECT_THAT(pods.calls(), IsEmpty());
  }
}

TEST_F(ProfileRolloutTest, OnGpusOfAnotherProductAPodLosesWhatWasMeasuredElsewhere) {
  HaveNode("n1", "V100");
  HaveRunning("a");
  pods.ChangeManaged("a", [this](ManagedContainer& fungible) {
    fungible.profile = name_;
    fungible.profile_generation = 1;
    fungible.demand.cpu = fungible.floor.cpu = Cores(1);
  });
  See("a");
  HaveMeasured(MeasuredBert());
  RollOut();
  EXPECT_FALSE(pods.annotation("a", annotations::kProfile));
  EXPECT_FALSE(pods.annotation("a", annotations::kProfileGeneration));
  EXPECT_EQ(pods.annotation("a", annotations::kFloor), R"({"cpu":"3","memory":"4Gi"})");
  EXPECT_THAT(events.lines(), ElementsAre(HasSubstr("measured on GPUs of another product")));
}

TEST_F(ProfileRolloutTest, APodOfAGangGetsWhatWasMeasuredOfGangsOfItsSize) {
  HaveRunning("a");
  Pod member = pods.pod("a");
  member.gang = std::make_shared<const Gang>(Gang{"team/g", 2, {}});
  pods.Put(member);
  See("a");
  HaveMeasured(MeasuredBert());
  RollOut();
  EXPECT_FALSE(pods.annotation("a", annotations::kProfile));
  MeasuredProfile measured = MeasuredBert();
  measured.gang_size = 2;
  HaveMeasured(measured);
  RollOut();
  EXPECT_EQ(pods.annotation("a", annotations::kProfile), MeasuredName(measured));
}

TEST_F(ProfileRolloutTest, ACallDoesABoundedNumberAndTheNextTheRest) {
  const size_t all = ProfileRollout::kMostAtOnce + 5;
  for (size_t i = 0; i < all; ++i) HaveRunning("p" + std::to_string(i));
  HaveMeasured(MeasuredBert());
  rollout.RollOut();
  EXPECT_THAT(pods.calls(), SizeIs(ProfileRollout::kMostAtOnce));
  rollout.RollOut();
  EXPECT_THAT(pods.calls(), SizeIs(all));
  rollout.RollOut();
  EXPECT_THAT(pods.calls(), SizeIs(all));
}

TEST_F(ProfileRolloutTest, RetriesFailedWritesAndWritesOnlyAsLeader) {
  HaveRunning("a");
  HaveMeasured(MeasuredBert());
  may_act = false;
  rollout.RollOut();
  EXPECT_THAT(pods.calls(), IsEmpty());
  may_act = true;
  pods.Refuse("annotate", {ErrorCode::kUnavailable, "no answer"});
  rollout.RollOut();
  EXPECT_THAT(pods.calls(), SizeIs(1));
  EXPECT_THAT(events.lines(), IsEmpty());
  pods.RefuseNothing();
  clock.Advance(ProfileRollout::kOutageLasts);
  rollout.RollOut();
  EXPECT_EQ(pods.annotation("a", annotations::kProfile), name_);
}

TEST_F(ProfileRolloutTest, APodThatHasChangedMeanwhileIsLookedAtAgain) {
  HaveRunning("a");
  HaveMeasured(MeasuredBert());
  pods.Change("a", [](Pod& pod) { pod.labels.emplace_back("new", "label"); });
  rollout.RollOut();
  EXPECT_THAT(pods.calls(), ElementsAre(HasSubstr(": conflict")));
  See("a");
  rollout.RollOut();
  EXPECT_EQ(pods.annotation("a", annotations::kProfile), name_);
}

}  // namespace
}  // namespace synergy::controller
