// Tests gangs, each of which is measured as a whole.

#include <chrono>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "profiler_fixture.h"

namespace synergy::testing {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using Kind = ProfilerActionKind;

class ProfilerGangTest : public ProfilerTest {
 protected:
  ProfilerGangTest() {
    for (const char* node : {"n2", "n3"}) HaveNode(node);
  }

  static Pod InGang(Pod pod, int32_t size, const std::string& gang = "g") {
    pod.gang = std::make_shared<const Gang>(Gang{"team/" + gang, size, {}});
    return pod;
  }
  // Returns a pod of one GPU that takes half a CPU second per iteration.
  static Pod Member(const std::string& name, const std::string& node, int32_t size, double cores) {
    return With(InGang(Unprofiled(name, node), size), [cores](ManagedContainer& fungible) {
      const MilliCpu cpu = FromCores(cores);
      fungible.requested.cpu = fungible.in_force.cpu = fungible.set_aside.cpu = cpu;
      fungible.floor.cpu = MilliCpu(500);
    });
  }
  void RunUntilProbed() {
    for (int i = 0; i < 200 && Count(Kind::kProbe) == 0; ++i) Run(seconds(2));
    ASSERT_EQ(Count(Kind::kProbe), 1U);
  }
};

TEST_F(ProfilerGangTest, IsAsFastAsItsSlowest) {
  Begin(Member("a", "n1", 2, 3));
  Begin(Member("b", "n2", 2, 1.5));
  Run(seconds(56));
  ASSERT_EQ(Count(Kind::kPublish), 1U) << "one for both";
  const MeasuredProfile measured = Last();
  EXPECT_EQ(measured.gang_size, 2);
  EXPECT_EQ(measured.gpus, Gpus(1));
  EXPECT_EQ(measured.points[0].cpu, MilliCpu(1500));
  EXPECT_NEAR(measured.points[0].throughput, 3, 0.05);
  EXPECT_EQ(measured.points.back().certainty, PointCertainty::kGuess) << "it waits for CPU";
  EXPECT_NEAR(*measured.cpu_seconds, 0.5, 0.01);
}

TEST_F(ProfilerGangTest, MayGainOnlyWhatAllOfItsNodesHave) {
  Node small = NodeOfFour("n2");
  small.allocatable.main.cpu = Cores(6);
  state.UpsertNode(small);
  Begin(Member("a", "n1", 2, 3));
  Begin(Member("b", "n2", 2, 1.5));
  Run(seconds(56));
  EXPECT_EQ(Last().points.back().cpu, MilliCpu(6000 - 3 * 20));
}

TEST_F(ProfilerGangTest, MemberWithoutALogCountsForItsCpu) {
  for (const bool first_logs : {true, false}) {
    const std::string loud = first_logs ? "a" : "b";
    Begin(Member("a", "n1", 2, first_logs ? 3 : 1.5), {.logs = first_logs});
    Begin(Member("b", "n2", 2, first_logs ? 1.5 : 3), {.logs = !first_logs});
    Run(seconds(60));
    ASSERT_EQ(Count(Kind::kPublish), 1U) << loud;
    EXPECT_EQ(Last().points[0].cpu, MilliCpu(1500));
    EXPECT_EQ(memory.gangs.at("team/g").head, loud);
    Run(minutes(4));
    EXPECT_TRUE(Last().confirmed);
    for (const ProfilerAction& action : Of(Kind::kProbe)) EXPECT_EQ(action.pod->uid, loud);
    for (const char* uid : {"a", "b"}) state.RemovePod(uid);
    trainings.clear();
    actions.clear();
    catalog.profiles.clear();
    Run(seconds(2));
    EXPECT_TRUE(memory.measurements.empty());
    EXPECT_TRUE(memory.pods.empty());
    EXPECT_TRUE(memory.gangs.empty());
    EXPECT_TRUE(memory.gang_of.empty());
  }
}

TEST_F(ProfilerGangTest, IsMeasuredOnceAllMembersRun) {
  Begin(Member("a", "n1", 3, 3));
  Begin(Member("b", "n2", 3, 3));
  Run(minutes(5));
  EXPECT_TRUE(actions.empty());
  Begin(Member("c", "n3", 3, 3));
  Run(seconds(60));
  EXPECT_EQ(Count(Kind::kPublish), 1U);
}

TEST_F(ProfilerGangTest, AMemberWithoutGpusIsThereAndNotMeasured) {
  Begin(Member("a", "n1", 3, 3));
  Begin(Member("b", "n2", 3, 3));
  Pod launcher = InGang(MakePod("launcher", {Gpus(0), Cores(1), GiB(1)}), 3);
  launcher.node = "n3";
  state.UpsertPod(launcher);
  Run(seconds(60));
  ASSERT_EQ(Count(Kind::kPublish), 1U);
  EXPECT_EQ(Last().gang_size, 3);
}

TEST_F(ProfilerGangTest, IsNotMeasuredIfMembersDiffer) {
  Begin(Member("a", "n1", 2, 3));
  Begin(InGang(Unprofiled("b", "n2", "w-2"), 2));
  Run(minutes(3));
  EXPECT_TRUE(actions.empty());
  Begin(Member("b", "n2", 2, 3));
  Run(seconds(60));
  EXPECT_EQ(Count(Kind::kPublish), 1U);
}

TEST_F(ProfilerGangTest, IsNotMeasuredWithoutTheCpuTimeOfAllMembers) {
  Begin(Member("a", "n1", 2, 3));
  state.UpsertPod(Member("b", "n2", 2, 3));  // a member without reports
  Run(minutes(3));
  EXPECT_TRUE(actions.empty());
}

TEST_F(ProfilerGangTest, OneQuotaSlowsItAndIsPaidOnce) {
  Begin(Member("a", "n1", 2, 3));
  Begin(Member("b", "n2", 2, 3));
  Run(minutes(6));
  ASSERT_EQ(Count(Kind::kProbe), 1U);
  EXPECT_EQ(Of(Kind::kProbe)[0].probe.cpu, MilliCpu(1500));
  EXPECT_TRUE(Last().confirmed);
  EXPECT_NEAR(Last().points[0].throughput, 3, 0.05);
  EXPECT_GT(Last().lost_iterations, 30);
  EXPECT_LT(Last().lost_iterations, 120);
}

// The member with the highest CPU cost determines the curve, even if another one is probed.
TEST_F(ProfilerGangTest, MemberThatNeedsMostDecides) {
  Begin(Member("a", "n1", 2, 6), {.best = 3.7, .cost = 0.5});
  Begin(Member("b", "n2", 2, 6), {.best = 3.7, .cost = 0.85, .logs = false});
  Run(minutes(8));
  ASSERT_TRUE(Last().confirmed);
  EXPECT_NEAR(*Last().cpu_seconds, 0.85, 0.03);
  const auto curve = MakeJobProfile(Last());
  for (const double cores : {1.8, 2.6, 3.6, 5.0}) {
    const double truth = std::min(3.7, cores / 0.85);
    EXPECT_NEAR(curve->ThroughputAt(FromCores(cores), MiB(1)), truth, 0.05 * truth) << cores;
  }
}

// The pods have different CPU requests and different needs. At first a pod with a small need is the
// slowest: it has a core, for four iterations per second.
TEST_F(ProfilerGangTest, ACurveIsOfTheMemberThatNeedsMost) {
  Begin(Member("a", "n1", 2, 3), {.cost = 0.5});
  Begin(Member("b", "n2", 2, 1), {.cost = 0.25});
  Run(seconds(56));
  ASSERT_EQ(Count(Kind::kPublish), 1U);
  EXPECT_EQ(Last().points[0].cpu, Cores(1));
  const auto give = [this](MilliCpu cpu) {
    Put("b",
        [cpu](ManagedContainer& f) { f.requested.cpu = f.in_force.cpu = f.set_aside.cpu = cpu; });
  };
  const auto speed = [this](double cores) {
    return MakeJobProfile(Last())->ThroughputAt(FromCores(cores), MiB(1));
  };
  give(Cores(3));
  Run(minutes(5));
  EXPECT_TRUE(Last().confirmed);
  EXPECT_NEAR(speed(3), 6, 0.1);
  EXPECT_NEAR(speed(1), 2, 0.1);
  // It is the slowest again, and as fast with its core as before. That is not drift.
  give(Cores(1));
  actions.clear();
  Run(minutes(20));
  EXPECT_TRUE(actions.empty());
}

TEST_F(ProfilerGangTest, IsNotMeasuredIfItsPodsDifferInGpus) {
  Begin(Member("a", "n1", 2, 3));
  Begin(With(Member("b", "n2", 2, 3), [](ManagedContainer& fungible) {
    fungible.requested.gpus = fungible.in_force.gpus = fungible.set_aside.gpus = Gpus(2);
  }));
  Run(minutes(5));
  EXPECT_TRUE(actions.empty());
  EXPECT_TRUE(memory.pods.empty());
}

TEST_F(ProfilerGangTest, AProbeEndsWithTheFirstMemberThatGoes) {
  Begin(Member("a", "n1", 2, 3));
  Begin(Member("b", "n2", 2, 3));
  RunUntilProbed();
  Run(seconds(4));
  ASSERT_EQ(Count(Kind::kEndProbe), 0U);
  const std::string probed = Of(Kind::kProbe)[0].pod->uid;
  state.RemovePod(probed == "a" ? "b" : "a");
  Run(seconds(2));
  ASSERT_EQ(Count(Kind::kEndProbe), 1U);
  EXPECT_EQ(Of(Kind::kEndProbe)[0].pod->uid, probed);
  EXPECT_TRUE(memory.probed.empty());
  EXPECT_TRUE(memory.measurements.empty());
}

TEST_F(ProfilerGangTest, ProbeGivesNoResultIfAnotherMemberIsTheSlowest) {
  Begin(Member("a", "n1", 2, 6), {.best = 9.3});
  Begin(Member("b", "n2", 2, 6), {.best = 9.3});
  RunUntilProbed();
  trainings.at(Of(Kind::kProbe)[0].pod->uid == "a" ? "b" : "a").cost = 2;
  Run(minutes(2));
  EXPECT_GE(Count(Kind::kEndProbe), 1U);
  EXPECT_EQ(memory.measurements.begin()->second.informative, 0);
}

TEST_F(ProfilerGangTest, IsNotProbedWhileAMemberIsBeingChanged) {
  Begin(Member("a", "n1", 2, 3));
  Begin(Member("b", "n2", 2, 3));
  Run(seconds(30));
  for (const char* uid : {"a", "b"}) {
    Put(uid, [](ManagedContainer& fungible) { fungible.resize = ResizeState::kDeferred; });
    Run(minutes(3));
    EXPECT_EQ(Count(Kind::kProbe), 0U) << uid;
    Put(uid, [](ManagedContainer& fungible) { fungible.resize = ResizeState::kNone; });
  }
  Run(minutes(2));
  EXPECT_EQ(Count(Kind::kProbe), 1U);
}

TEST_F(ProfilerGangTest, AnotherIsListenedToWhenTheLogFallsSilent) {
  Begin(Member("a", "n1", 2, 3));
  Begin(Member("b", "n2", 2, 3));
  Run(seconds(40));
  const std::string head = memory.gangs.at("team/g").head;
  trainings.at(head).logs = false;
  Run(seconds(90));
  EXPECT_EQ(memory.gangs.at("team/g").head, head);
  EXPECT_EQ(Count(Kind::kPublish), 0U);
  Run(minutes(3));
  EXPECT_NE(memory.gangs.at("team/g").head, head);
  EXPECT_GE(Count(Kind::kPublish), 1U);
}

TEST_F(ProfilerGangTest, CurvesAreOfASizeOfGang) {
  Begin(Member("a", "n1", 2, 3));
  Begin(Member("b", "n2", 2, 1));
  Begin(Unprofiled("alone", "n3"));
  Run(seconds(60));
  EXPECT_EQ(memory.measurements.size(), 2U);
  ASSERT_EQ(catalog.profiles.size(), 2U);
  EXPECT_NEAR(catalog.profiles.at("team/measured-w-1-1gpu").points[0].throughput, 6, 0.1);
  const MeasuredProfile& gang = catalog.profiles.at("team/" + MeasuredName("w-1", Gpus(1), "", 2));
  EXPECT_NEAR(gang.points[0].throughput, 2, 0.05);
}

TEST_F(ProfilerGangTest, DriftsOnce) {
  Begin(Member("a", "n1", 2, 3));
  Begin(Member("b", "n2", 2, 3));
  Run(minutes(10));
  ASSERT_TRUE(Last().confirmed);
  actions.clear();
  for (auto& [uid, training] : trainings) training.cost = 0.8;
  Run(minutes(12));
  size_t marked = 0;
  for (const MeasuredProfile& measured : Published()) marked += measured.drifted ? 1 : 0;
  EXPECT_EQ(marked, 1U);
  EXPECT_FALSE(Last().drifted);
  EXPECT_NEAR(*Last().cpu_seconds, 0.8, 0.02);
}

}  // namespace
}  // namespace synergy::testing
