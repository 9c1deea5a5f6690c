#include "engine/sharing/turn_planner.h"

#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/turn_pods.h"

namespace synergy::testing {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class TurnPlannerTest : public ::testing::Test {
 protected:
  TurnPod& Have(const std::string& name, const std::string& gpu = "GPU-0") {
    return pods["n1"].emplace_back(TurnPodOn("n1", gpu, name));
  }
  void Remove(const std::string& name) {
    std::erase_if(pods["n1"], [&](const TurnPod& pod) { return pod.pod->name == name; });
  }
  TurnPod& Of(const std::string& name) {
    return *std::find_if(pods["n1"].begin(), pods["n1"].end(),
                         [&](const TurnPod& pod) { return pod.pod->name == name; });
  }
  void SetPriority(const std::string& name, int32_t priority) {
    Pod pod = *Of(name).pod;
    pod.priority = priority;
    Of(name).pod = std::make_shared<const Pod>(std::move(pod));
  }
  void Pass(Duration time) { at = {at.now + time, at.wall + time}; }
  // Plans and writes the changes; returns the pods on which it wrote.
  std::vector<std::string> Plan() {
    const TurnPlan plan = planner.Plan(pods, at);
    in_turns = plan.in_turns;
    std::vector<std::string> names;
    for (const TurnChange& change : plan.changes)
      names.push_back(change.pod->name + (change.turn ? "" : "-"));
    WriteTurns(plan, pods);
    return names;
  }
  // Returns the pods that, by their turns, run at that time.
  std::vector<std::string> RunAt(Duration later) {
    std::vector<std::string> names;
    for (const TurnPod& pod : pods["n1"]) {
      const auto& turn = pod.pod->fungible->turn;
      if (turn && turn->RunsAt(at.wall + later)) names.push_back(pod.pod->name);
    }
    return names;
  }
  Duration LengthOf(const std::string& name) {
    const GpuTurn& turn = *Of(name).pod->fungible->turn;
    return turn.runs.front().end - turn.runs.front().begin;
  }

  Moment at{Instant(minutes(5)), WallTime(std::chrono::hours(500000))};
  TurnPlanner planner{seconds(60)};
  std::map<std::string, std::vector<TurnPod>> pods;
  size_t in_turns = 0;
};

TEST_F(TurnPlannerTest, TwoSharersAlternateAndNameEachOther) {
  Have("a");
  Have("b");
  Have("alone", "GPU-1");
  EXPECT_THAT(Plan(), ElementsAre("a", "b"));
  EXPECT_EQ(in_turns, 2U);
  EXPECT_THAT(Of("a").pod->fungible->turn->with, ElementsAre("b"));
  EXPECT_THAT(RunAt(seconds(1)), ElementsAre("a"));
  EXPECT_THAT(RunAt(seconds(61)), ElementsAre("b"));
  EXPECT_THAT(RunAt(seconds(121)), ElementsAre("a"));
}

TEST_F(TurnPlannerTest, WritesNothingWhileMembersStayTheSame) {
  Have("a");
  Have("b");
  Plan();
  for (int step = 0; step < 100; ++step) {
    Pass(seconds(7));
    ASSERT_THAT(Plan(), IsEmpty()) << step;
  }
}

TEST_F(TurnPlannerTest, NewLeaderGoesOnWithTheTurnsThatItFinds) {
  for (const char* name : {"a", "b", "c"}) Have(name);
  Plan();
  for (int leader = 0; leader < 5; ++leader) {
    Pass(seconds(43));
    planner = TurnPlanner(seconds(60));
    ASSERT_THAT(Plan(), IsEmpty()) << leader;
  }
  Remove("b");
  planner = TurnPlanner(seconds(60));
  EXPECT_THAT(Plan(), ElementsAre("a", "c"));
}

TEST_F(TurnPlannerTest, TurnsThatDoNotFitTogetherArePlannedAnew) {
  for (const char* name : {"a", "b"}) Have(name);
  Plan();
  const TurnPod b = Of("b");
  Remove("b");
  TurnPod& forged = pods["n1"].emplace_back(b);
  ManagedContainer fungible = *forged.pod->fungible;
  fungible.turn->epoch += seconds(10);
  Pod pod = *forged.pod;
  pod.fungible = std::make_shared<const ManagedContainer>(fungible);
  forged.pod = std::make_shared<const Pod>(pod);
  planner = TurnPlanner(seconds(60));
  Pass(seconds(3));
  EXPECT_FALSE(Plan().empty());
  EXPECT_EQ(RunAt(seconds(1)).size(), 1U);
  EXPECT_EQ(RunAt(seconds(61)).size(), 1U);
}

TEST_F(TurnPlannerTest, TheLastSharerRunsOnAlone) {
  Have("a");
  Have("b");
  Plan();
  Remove("b");
  EXPECT_THAT(Plan(), ElementsAre("a-"));
  EXPECT_EQ(in_turns, 0U);
}

TEST_F(TurnPlannerTest, NoPodWaitsForOneThatItsAgentRefusesToSuspend) {
  Have("a");
  Have("b");
  Plan();
  Of("a").report->pod.turn->refusal = "it has a liveness probe";
  EXPECT_THAT(Plan(), ElementsAre("a-", "b-"));
}

TEST_F(TurnPlannerTest, PodThatStartsUpTakesNoTurnsForTenMinutesAtMost) {
  Have("a");
  Have("b").report->pod.iterations = 0;
  EXPECT_THAT(Plan(), IsEmpty());
  Pass(minutes(9));
  EXPECT_THAT(Plan(), IsEmpty());
  Pass(minutes(1));
  EXPECT_THAT(Plan(), ElementsAre("a", "b"));
}

TEST_F(TurnPlannerTest, PodWhoseProgressIsUnknownTakesTurnsAfterThreeMinutes) {
  Have("a");
  PodProgress& b = Have("b").report->pod;
  b.iterations = 0;
  b.format.clear();
  EXPECT_THAT(Plan(), IsEmpty());
  Pass(minutes(2));
  EXPECT_THAT(Plan(), IsEmpty());
  Pass(minutes(1));
  EXPECT_THAT(Plan(), ElementsAre("a", "b"));
}

TEST_F(TurnPlannerTest, PodThatHasPrintedNothingYetStartsUp) {
  Have("a");
  Have("b").report->pod.iterations = 0;
  Of("b").report->pod.format.clear();
  EXPECT_THAT(Plan(), IsEmpty());
  Pass(minutes(2));
  Of("b").report->pod.format = "tqdm";
  EXPECT_THAT(Plan(), IsEmpty());
  Pass(minutes(7));
  EXPECT_THAT(Plan(), IsEmpty());
  Of("b").report->pod.iterations = 1;
  EXPECT_THAT(Plan(), ElementsAre("a", "b"));
}

TEST_F(TurnPlannerTest, RestartOfTheAgentDoesNotEndTurns) {
  Have("a");
  Have("b");
  Plan();
  for (const char* name : {"a", "b"}) Of(name).report->pod.iterations = 0;
  planner = TurnPlanner(seconds(60));
  EXPECT_THAT(Plan(), IsEmpty());
}

TEST_F(TurnPlannerTest, IdlePodHoldsNoTurn) {
  Have("a");
  Have("b");
  Plan();
  Of("b").report->pod.idle = IdleReading{kIdleToShow, {}};
  EXPECT_THAT(Plan(), ElementsAre("a-", "b-"));
  Of("b").report->pod.idle = IdleReading{};
  EXPECT_THAT(Plan(), ElementsAre("a", "b"));
}

TEST_F(TurnPlannerTest, NodeWhoseAgentIsSilentKeepsItsTurns) {
  Have("a");
  Have("b");
  Plan();
  Remove("b");
  Of("a").report->age = TurnPlanner::kOldReport + seconds(1);
  EXPECT_THAT(Plan(), IsEmpty());
  Of("a").report.reset();
  EXPECT_THAT(Plan(), IsEmpty());
}

TEST_F(TurnPlannerTest, NoPodWaitsForOneThatItsAgentNoLongerReports) {
  Have("a");
  Have("b");
  Plan();
  Of("b").report.reset();
  EXPECT_THAT(Plan(), ElementsAre("a-", "b-"));
}

TEST_F(TurnPlannerTest, PodOfLowerPriorityHasTheShortestTurns) {
  for (const char* name : {"a", "b"}) Have(name);
  SetPriority("b", 10);
  Plan();
  EXPECT_EQ(LengthOf("a"), seconds(30));
  EXPECT_EQ(LengthOf("b"), seconds(90));
}

TEST_F(TurnPlannerTest, PodsWithSeveralGpusAlwaysRun) {
  Have("a");
  Have("two").report->pod.turn->gpus = {"GPU-0", "GPU-1"};
  EXPECT_THAT(Plan(), IsEmpty());
}

TEST_F(TurnPlannerTest, PodWithInvalidLabelsOfAGangAlwaysRuns) {
  Have("a");
  Pod member = *Have("member").pod;
  member.gang = std::make_shared<const Gang>(Gang{.problem = "its size is not a number"});
  Of("member").pod = std::make_shared<const Pod>(member);
  EXPECT_THAT(Plan(), IsEmpty());
}

TEST_F(TurnPlannerTest, WallClockThatGoesBackMovesNoTurn) {
  Have("a");
  Have("b");
  Plan();
  at.wall -= minutes(30);
  EXPECT_THAT(Plan(), IsEmpty());
}

TEST(GpuTurnEqualityTest, TheSameTimesOfAnyCycleAreTheSame) {
  const WallTime epoch{std::chrono::hours(500000)};
  const GpuTurn turn{epoch, seconds(120), {{seconds(0), seconds(60)}}, {"b"}};
  GpuTurn later = turn;
  later.epoch += seconds(300);
  later.runs = {{seconds(60), seconds(120)}};
  EXPECT_TRUE(IsSameTurn(turn, later));
  later.epoch += seconds(1);
  EXPECT_FALSE(IsSameTurn(turn, later));
  later = turn;
  later.with = {"c"};
  EXPECT_FALSE(IsSameTurn(turn, later));
}

}  // namespace
}  // namespace synergy::testing
