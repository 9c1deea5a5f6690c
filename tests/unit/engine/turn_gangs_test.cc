// Tests gangs that take turns as one (engine/sharing/turn_planner.h), on two nodes.

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/sharing/turn_planner.h"
#include "support/turn_pods.h"

namespace synergy::testing {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class TurnGangsTest : public ::testing::Test {
 protected:
  TurnPod& Have(const std::string& node, const std::string& name,
                const std::string& gpu = "GPU-0") {
    return pods[node].emplace_back(TurnPodOn(node, gpu, name));
  }
  TurnPod& HaveMember(const std::string& node, const std::string& name,
                      const std::string& gpu = "GPU-0", int32_t size = 2) {
    return pods[node].emplace_back(MemberOn(node, gpu, name, "g", size));
  }
  // A gang on the first GPUs of both nodes, each of which another pod also has.
  void HaveGangBetweenTwo() {
    HaveMember("n1", "g0");
    HaveMember("n2", "g1");
    Have("n1", "a");
    Have("n2", "b");
  }
  TurnPod& Of(const std::string& name) {
    for (auto& [node, here] : pods) {
      for (TurnPod& pod : here) {
        if (pod.pod->name == name) return pod;
      }
    }
    throw std::out_of_range(name);
  }
  void Remove(const std::string& name) {
    for (auto& [node, here] : pods)
      std::erase_if(here, [&](const TurnPod& pod) { return pod.pod->name == name; });
  }
  void SetReported(const std::string& node, bool reported) {
    for (TurnPod& pod : pods[node])
      pod.report->age = reported ? Duration::zero() : TurnPlanner::kOldReport + seconds(1);
  }
  void Pass(Duration time) { at = {at.now + time, at.wall + time}; }
  // Plans and writes the changes; returns the pods on which it wrote.
  std::vector<std::string> Plan() {
    const TurnPlan plan = planner.Plan(pods, at);
    std::vector<std::string> names;
    for (const TurnChange& change : plan.changes)
      names.push_back(change.pod->name + (change.turn ? "" : "-"));
    WriteTurns(plan, pods);
    return names;
  }
  void ChangeLeader() { planner = TurnPlanner(seconds(60)); }
  const GpuTurn& TurnOf(const std::string& name) { return Of(name).pod->fungible->turn.value(); }
  // Returns the pods that, by their turns, run at that time.
  std::vector<std::string> RunAt(Duration later) {
    std::vector<std::string> names;
    for (const auto& [node, here] : pods) {
      for (const TurnPod& pod : here) {
        const auto& turn = pod.pod->fungible->turn;
        if (turn && turn->RunsAt(at.wall + later)) names.push_back(pod.pod->name);
      }
    }
    return names;
  }

  Moment at{Instant(minutes(5)), WallTime(std::chrono::hours(500000))};
  TurnPlanner planner{seconds(60)};
  TurnPlanner::PodsByNode pods;
};

TEST_F(TurnGangsTest, AGangRunsOnAllItsNodesAtOnceOrNotAtAll) {
  HaveGangBetweenTwo();
  EXPECT_THAT(Plan(), ElementsAre("g0", "a", "g1", "b"));
  EXPECT_THAT(RunAt(seconds(1)), UnorderedElementsAre("g0", "g1"));
  EXPECT_THAT(RunAt(seconds(61)), UnorderedElementsAre("a", "b"));
  EXPECT_EQ(TurnOf("g0").epoch, TurnOf("g1").epoch);
  EXPECT_EQ(TurnOf("g0").runs, TurnOf("g1").runs);
  EXPECT_THAT(TurnOf("g0").with, ElementsAre("a"));
  EXPECT_THAT(TurnOf("g1").with, ElementsAre("b"));
  EXPECT_THAT(TurnOf("a").with, ElementsAre("g0"));
}

TEST_F(TurnGangsTest, AMemberThatHasItsGpuAloneHasTheSameTurnWithoutPartners) {
  HaveGangBetweenTwo();
  Remove("b");
  EXPECT_THAT(Plan(), ElementsAre("g0", "a", "g1"));
  EXPECT_EQ(TurnOf("g0").runs, TurnOf("g1").runs);
  EXPECT_THAT(TurnOf("g1").with, IsEmpty());
}

TEST_F(TurnGangsTest, APodAlsoRunsWhileTheOthersOfItsGpuDoNot) {
  HaveGangBetweenTwo();
  Have("n2", "c");
  Plan();
  // The gang, then two of n2, one by one; `a` has n1 for itself meanwhile.
  EXPECT_THAT(RunAt(seconds(1)), UnorderedElementsAre("g0", "g1"));
  EXPECT_THAT(RunAt(seconds(56)), UnorderedElementsAre("a", "b"));
  EXPECT_THAT(RunAt(seconds(111)), UnorderedElementsAre("a", "c"));
  EXPECT_TRUE(TurnOf("a").IsValid());
  for (int leader = 0; leader < 10; ++leader) {
    Pass(seconds(23));
    ASSERT_THAT(Plan(), IsEmpty()) << leader;
    ChangeLeader();
    ASSERT_THAT(Plan(), IsEmpty()) << leader;
  }
}

TEST_F(TurnGangsTest, AGangOfWhichAMemberIsNeverSuspendedRunsFreely) {
  HaveGangBetweenTwo();
  Plan();
  Of("g1").report->pod.turn->refusal = "it has no annotation";
  EXPECT_THAT(Plan(), UnorderedElementsAre("g0-", "a-", "g1-", "b-"));
}

TEST_F(TurnGangsTest, AMemberThatCannotBeWrittenFreesItsGang) {
  HaveGangBetweenTwo();
  Of("g0").writable = false;
  EXPECT_THAT(Plan(), IsEmpty());
}

TEST_F(TurnGangsTest, AGangTakesTurnsOnceItIsWhole) {
  HaveMember("n1", "g0", "GPU-0", 3);
  HaveMember("n2", "g1", "GPU-0", 3);
  Have("n1", "a");
  EXPECT_THAT(Plan(), IsEmpty());
  for (const char* name : {"g0", "g1"}) Of(name).other_members = 1;  // a launcher
  EXPECT_THAT(Plan(), ElementsAre("g0", "a", "g1"));
}

TEST_F(TurnGangsTest, AGangLeavesItsRotationUntilALostMemberIsReplaced) {
  HaveGangBetweenTwo();
  Plan();
  Remove("g1");
  EXPECT_THAT(Plan(), UnorderedElementsAre("g0-", "a-", "b-"));
  HaveMember("n2", "g1-again", "GPU-1").report.reset();
  EXPECT_THAT(Plan(), IsEmpty());
  Remove("g1-again");
  HaveMember("n2", "g1-again", "GPU-1");
  EXPECT_THAT(Plan(), ElementsAre("g0", "a", "g1-again"));
}

TEST_F(TurnGangsTest, MembersOnOneGpuTakeNoTurns) {
  HaveMember("n1", "g0");
  HaveMember("n1", "g1");
  Have("n1", "a");
  EXPECT_THAT(Plan(), IsEmpty());
}

TEST_F(TurnGangsTest, TheProgressOfOneMemberCounts) {
  HaveGangBetweenTwo();
  PodProgress& silent = Of("g1").report->pod;
  silent.iterations = 0;
  silent.format.clear();
  Of("g0").report->pod.iterations = 0;
  Pass(minutes(4));  // the other's format is known, so the gang has longer
  EXPECT_THAT(Plan(), IsEmpty());
  Of("g0").report->pod.iterations = 1;
  EXPECT_THAT(Plan(), ElementsAre("g0", "a", "g1", "b"));
}

TEST_F(TurnGangsTest, AGangIsIdleIfAllItsMembersAre) {
  HaveGangBetweenTwo();
  Plan();
  Of("g0").report->pod.idle = IdleReading{kIdleToShow, {}};
  EXPECT_THAT(Plan(), IsEmpty());
  Of("g1").report->pod.idle = IdleReading{kIdleToShow, {}};
  EXPECT_THAT(Plan(), UnorderedElementsAre("g0-", "a-", "g1-", "b-"));
}

TEST_F(TurnGangsTest, AGangHasTheHighestPriorityOfItsMembers) {
  HaveGangBetweenTwo();
  Pod pod = *Of("g1").pod;
  pod.priority = 10;
  Of("g1").pod = std::make_shared<const Pod>(pod);
  Plan();
  EXPECT_EQ(TurnOf("g0").runs.front().end - TurnOf("g0").runs.front().begin, seconds(90));
  EXPECT_EQ(TurnOf("a").runs.front().end - TurnOf("a").runs.front().begin, seconds(30));
}

TEST_F(TurnGangsTest, ANewGangHasTheNextTurnByTheMostIterationsOfAMember) {
  for (const double most : {1.0, 1000.0}) {
    pods.clear();
    ChangeLeader();
    for (const char* name : {"a", "c"}) Have("n1", name);
    Plan();
    Pass(seconds(20));
    HaveMember("n1", "g0").report->pod.iterations = most;
    HaveMember("n2", "g1").report->pod.iterations = 1;
    EXPECT_FALSE(Plan().empty());
    EXPECT_THAT(RunAt(seconds(30)), ElementsAre("a"));
    if (most < TurnPlanner::kNewcomerIterations) {
      EXPECT_THAT(RunAt(seconds(36)), ElementsAre("g0", "g1"));
    } else {
      EXPECT_THAT(RunAt(seconds(36)), ElementsAre("c"));
    }
  }
}

TEST_F(TurnGangsTest, AGangThatComesLeavesOtherRotationsAsTheyAre) {
  for (const char* name : {"x", "y"}) Have("n1", name, "GPU-1");
  Plan();
  Pass(seconds(17));
  HaveGangBetweenTwo();
  EXPECT_THAT(Plan(), ElementsAre("g0", "a", "g1", "b"));
}

TEST_F(TurnGangsTest, MoreThanFourSlotsAreNoTurnsOnAllNodes) {
  HaveGangBetweenTwo();
  for (const char* name : {"c", "d"}) Have("n1", name);
  Plan();
  EXPECT_TRUE(Of("b").pod->fungible->turn);
  Have("n1", "e");
  EXPECT_THAT(Plan(), UnorderedElementsAre("g0-", "g1-", "a-", "b-", "c-", "d-"));
}

TEST_F(TurnGangsTest, TurnsThatDoNotFitTogetherOnTwoNodesArePlannedAgain) {
  HaveGangBetweenTwo();
  Plan();
  Pod pod = *Of("g1").pod;
  ManagedContainer fungible = *pod.fungible;
  fungible.turn->epoch += seconds(10);
  pod.fungible = std::make_shared<const ManagedContainer>(fungible);
  Of("g1").pod = std::make_shared<const Pod>(pod);
  ChangeLeader();
  Pass(seconds(3));
  EXPECT_FALSE(Plan().empty());
  EXPECT_THAT(RunAt(seconds(1)), UnorderedElementsAre("g0", "g1"));
  EXPECT_THAT(RunAt(seconds(61)), UnorderedElementsAre("a", "b"));
}

class SilentAgentsTest : public TurnGangsTest {
 protected:
  SilentAgentsTest() {
    HaveGangBetweenTwo();
    Plan();
    Pass(seconds(40));
    SetReported("n2", false);
  }
};

TEST_F(SilentAgentsTest, RotationsOfASilentNodeStayAsTheyAreOnAllNodes) {
  EXPECT_THAT(Plan(), IsEmpty());
  Have("n1", "late");
  Have("n1", "latest");
  Remove("a");
  EXPECT_THAT(Plan(), IsEmpty());
  SetReported("n2", true);
  EXPECT_THAT(Plan(), UnorderedElementsAre("g0", "late", "latest", "g1", "b"));
}

TEST_F(SilentAgentsTest, OtherRotationsOfTheOtherNodeArePlanned) {
  for (const char* name : {"x", "y"}) Have("n1", name, "GPU-1");
  EXPECT_THAT(Plan(), ElementsAre("x", "y"));
}

TEST_F(SilentAgentsTest, ANewLeaderKeepsThem) {
  for (auto& pod : pods["n2"]) pod.report.reset();
  ChangeLeader();
  EXPECT_THAT(Plan(), IsEmpty());
  Pass(seconds(33));
  for (auto& pod : pods["n2"]) pod.report = TurnPodOn("n2", "GPU-0", pod.pod->name).report;
  EXPECT_THAT(Plan(), IsEmpty());
}

TEST_F(SilentAgentsTest, AGangThatLosesItsMemberThereLeaves) {
  Remove("g1");
  EXPECT_THAT(Plan(), UnorderedElementsAre("g0-", "a-"));
}

}  // namespace
}  // namespace synergy::testing
