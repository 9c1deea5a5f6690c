#include "engine/sharing/pack_planner.h"

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/shared_gpu_model.h"

namespace synergy::testing {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class PackPlannerTest : public ::testing::Test {
 protected:
  // Has two pods with these speeds together.
  void HavePair(double speed, double other) {
    gpu.Add("a");
    gpu.Add("b", 20);
    gpu.SetPair("a", "b", speed, other);
  }
  void AwaitTrial() { ASSERT_EQ(gpu.Await().outcome, PackOutcome::kTried); }
  static void Allow(const std::string& memory_of_both, SharedGpuModel& gpu) {
    for (const char* name : {"a", "b"}) {
      gpu.Change(name, [&](Pod&, ManagedContainer& fungible) {
        fungible.gpu_memory = GiB(std::stoi(memory_of_both));
      });
    }
  }

  SharedGpuModel gpu;
};

TEST_F(PackPlannerTest, GoodPairIsKeptAndRunsAllTheTime) {
  HavePair(0.8, 0.7);
  AwaitTrial();
  const Instant begun = gpu.at.now;
  const PackNews kept = gpu.Await();
  EXPECT_EQ(kept.outcome, PackOutcome::kKept);
  EXPECT_NEAR(kept.speeds[0], 0.8, 0.01);
  EXPECT_NEAR(kept.speeds[1], 0.7, 0.01);
  EXPECT_NEAR(kept.alone[1], 20, 0.2);
  EXPECT_LT(gpu.at.now - begun, minutes(3));
  EXPECT_EQ(gpu.OutcomesIn(minutes(60)), "");
  EXPECT_EQ(gpu.Beside("a"), "b");
  EXPECT_EQ(gpu.Beside("b"), "a");
  EXPECT_FALSE(gpu.Of("a").pod->fungible->turn->NextSwitch(gpu.at.wall));
  EXPECT_TRUE(gpu.Of("a").pod->fungible->turn->IsValid());
}

TEST_F(PackPlannerTest, BadPairIsUndoneWithinThreeMinutesAndRestsLongerEachTime) {
  HavePair(0.4, 0.4);
  AwaitTrial();
  const Instant begun = gpu.at.now;
  PackNews refused = gpu.Await();
  EXPECT_EQ(refused.outcome, PackOutcome::kRefused);
  EXPECT_LT(gpu.at.now - begun, minutes(3));
  EXPECT_EQ(gpu.Beside("a"), "");
  EXPECT_FALSE(gpu.Of("a").pod->fungible->turn->with.empty());
  EXPECT_EQ(refused.rest, Packing::kFirstRest);
  const Instant ended = gpu.at.now;
  AwaitTrial();
  EXPECT_GE(gpu.at.now - ended, Packing::kFirstRest);
  EXPECT_EQ(gpu.Await().rest, 2 * Packing::kFirstRest);
}

TEST_F(PackPlannerTest, PodThatIsStarvedEndsTheTrialAtOnce) {
  HavePair(1.0, 0.2);
  AwaitTrial();
  const Instant begun = gpu.at.now;
  EXPECT_EQ(gpu.Await().outcome, PackOutcome::kRefused);
  EXPECT_LT(gpu.at.now - begun, seconds(30));
}

TEST_F(PackPlannerTest, PodThatNoLongerTrainsAtAllEndsTheTrial) {
  HavePair(1.0, 0.0);
  AwaitTrial();
  const Instant begun = gpu.at.now;
  EXPECT_EQ(gpu.Await().outcome, PackOutcome::kRefused);
  EXPECT_LT(gpu.at.now - begun, seconds(40));
}

TEST_F(PackPlannerTest, KeptPackIsUndoneWhenItBecomesBad) {
  HavePair(0.8, 0.7);
  AwaitTrial();
  EXPECT_EQ(gpu.Await().outcome, PackOutcome::kKept);
  gpu.SetPair("a", "b", 0.6, 0.35);
  const Instant worse = gpu.at.now;
  EXPECT_EQ(gpu.Await().outcome, PackOutcome::kUndone);
  EXPECT_LT(gpu.at.now - worse, minutes(3));
  EXPECT_EQ(gpu.Beside("a"), "");
}

TEST_F(PackPlannerTest, OffWithoutTheOperator) {
  gpu = SharedGpuModel(false);
  HavePair(0.8, 0.7);
  EXPECT_EQ(gpu.OutcomesIn(minutes(30)), "");
}

TEST_F(PackPlannerTest, PodsThatAreNotPacked) {
  const auto outcomes = [](const std::string& name, const auto& change) {
    SharedGpuModel model;
    model.Add("a");
    model.Add("b");
    model.SetPair("a", "b", 0.9, 0.9);
    change(model);
    return name + ":" + model.OutcomesIn(minutes(15));
  };
  const auto changed = [](const auto& f) {
    return [f](SharedGpuModel& model) { model.Change("b", f); };
  };
  EXPECT_EQ(outcomes("not opted in",
                     changed([](Pod&, ManagedContainer& fungible) { fungible.may_pack = false; })),
            "not opted in:");
  EXPECT_EQ(outcomes("priority", changed([](Pod& pod, ManagedContainer&) { pod.priority = 1; })),
            "priority:");
  EXPECT_EQ(outcomes("CPU probe", changed([](Pod&, ManagedContainer& fungible) {
                       fungible.probe = CpuProbe{MilliCpu(1), WallTime::max()};
                     })),
            "CPU probe:");
  EXPECT_EQ(outcomes("gang", changed([](Pod& pod, ManagedContainer&) {
                       pod.gang = std::make_shared<const Gang>();
                     })),
            "gang:");
  EXPECT_EQ(outcomes("no progress",
                     [](SharedGpuModel& model) { model.Of("b").report->pod.format.clear(); }),
            "no progress:");
  EXPECT_EQ(outcomes("refused",
                     [](SharedGpuModel& model) {
                       model.Of("b").report->pod.turn->refusal = "its probe would fail";
                     }),
            "refused:");
  EXPECT_EQ(outcomes("idle",
                     [](SharedGpuModel& model) {
                       model.Of("b").report->pod.idle = IdleReading{kIdleToShow, {}};
                     }),
            "idle:");
  EXPECT_EQ(outcomes("product",
                     [](SharedGpuModel& model) {
                       model.Of("a").gpu_product = model.Of("b").gpu_product = "";
                     }),
            "product:");
  EXPECT_EQ(
      outcomes("agent suspends nothing", [](SharedGpuModel& model) { model.suspends = false; }),
      "agent suspends nothing:");
  EXPECT_EQ(outcomes("none of these", [](SharedGpuModel&) {}), "none of these:tried kept");
}

TEST_F(PackPlannerTest, PodThatAlwaysRunsOnTheGpuPreventsPacks) {
  HavePair(0.8, 0.7);
  for (const char* other : {"a", "b"}) gpu.SetPair(other, "c", 1, 1);
  gpu.Add("c").report->pod.turn->refusal = "its probe would fail";
  EXPECT_EQ(gpu.OutcomesIn(minutes(30)), "");
}

TEST_F(PackPlannerTest, MemoryIsDeclaredOrHeldTogetherAlready) {
  const auto begins = [](double alone, const std::string& declared) {
    SharedGpuModel model;
    model.Add("a", alone);
    model.Add("b", alone);
    model.SetPair("a", "b", 0.9, 0.9);
    for (const char* name : {"a", "b"}) model.Of(name).gpu_memory = GiB(16);
    if (!declared.empty()) Allow(declared, model);
    const Instant start = model.at.now;
    return model.Await().outcome == PackOutcome::kTried ? model.at.now - start : Duration::zero();
  };
  // 100 iterations take 100 s of running, and so 160 to 220 s with turns of 60 s.
  EXPECT_GT(begins(1, ""), seconds(155));
  EXPECT_LT(begins(1, "6"), seconds(125));
  EXPECT_GT(begins(1, "7"), seconds(155));  // 2 * (1.1 * 7 + 0.5) GiB is more than 16
}

TEST_F(PackPlannerTest, TrialWithoutAResultEndsAndRests) {
  const auto in_trial = [this](const auto& change) {
    gpu = SharedGpuModel();
    HavePair(0.8, 0.7);
    AwaitTrial();
    gpu.OutcomesIn(seconds(30));
    change();
    return gpu.OutcomesIn(seconds(40));
  };
  EXPECT_EQ(in_trial([this] { gpu.reports = false; }), "given_up");
  EXPECT_EQ(gpu.Beside("a"), "");
  gpu.reports = true;
  EXPECT_EQ(gpu.OutcomesIn(minutes(9)), "");
  EXPECT_EQ(gpu.OutcomesIn(minutes(5)), "tried kept");

  EXPECT_EQ(in_trial([this] { gpu.RestartTraining("b"); }), "given_up");
  EXPECT_EQ(gpu.Beside("a"), "");
  EXPECT_EQ(in_trial([this] { gpu.Remove("b"); }), "given_up");
  EXPECT_FALSE(gpu.Of("a").pod->fungible->turn);
  EXPECT_EQ(in_trial([this] { gpu.Of("b").report->pod.idle = IdleReading{kIdleToShow, {}}; }),
            "given_up");
  EXPECT_EQ(in_trial([this] {
              gpu.Change("a", [](Pod&, ManagedContainer& fungible) { fungible.may_pack = false; });
            }),
            "given_up");
  EXPECT_FALSE(gpu.Of("a").pod->fungible->turn->with.empty());
}

TEST_F(PackPlannerTest, PodsThatDoNotRunTogetherAreNotJudged) {
  HavePair(0.2, 0.2);
  gpu.OutcomesIn(seconds(30));
  for (const char* name : {"a", "b"}) gpu.outdated[name] = *gpu.Of(name).pod->fungible->turn;
  EXPECT_EQ(gpu.OutcomesIn(minutes(8)), "tried given_up");
}

TEST_F(PackPlannerTest, KeptPackThatCannotBeMeasuredEnds) {
  HavePair(0.8, 0.7);
  EXPECT_EQ(gpu.OutcomesIn(minutes(8)), "tried kept");
  gpu.SetPair("a", "b", 0.8, 0.0);
  EXPECT_EQ(gpu.OutcomesIn(minutes(4)), "given_up");
}

TEST_F(PackPlannerTest, NewLeaderKeepsNothingThatItHasNotMeasured) {
  HavePair(0.8, 0.7);
  AwaitTrial();
  gpu.Restart();
  gpu.Step();
  EXPECT_EQ(gpu.Beside("a"), "");
  EXPECT_FALSE(gpu.Of("a").pod->fungible->turn->with.empty());
  EXPECT_EQ(gpu.OutcomesIn(minutes(10)), "tried kept");
  gpu.Restart();
  gpu.Step();
  EXPECT_EQ(gpu.Beside("a"), "");
  EXPECT_EQ(gpu.OutcomesIn(minutes(10)), "tried kept");
}

TEST_F(PackPlannerTest, NewLeaderPacksARecordedGoodPairWithoutATrial) {
  gpu.records_are_kept = true;
  HavePair(0.8, 0.7);
  EXPECT_EQ(gpu.OutcomesIn(minutes(10)), "tried kept");
  gpu.Restart();
  gpu.Step();
  EXPECT_EQ(gpu.Beside("a"), "") << "speeds alone are measured first";
  EXPECT_EQ(gpu.OutcomesIn(minutes(10)), "reused");
  EXPECT_NEAR(gpu.news.back().speeds[0], 0.8, 0.01);
  EXPECT_NEAR(gpu.news.back().speeds[1], 0.7, 0.01);
  EXPECT_EQ(gpu.Beside("a"), "b");
  // It is still watched, and the record follows.
  gpu.SetPair("a", "b", 0.6, 0.35);
  EXPECT_EQ(gpu.Await().outcome, PackOutcome::kUndone);
  gpu.Restart();
  EXPECT_EQ(gpu.OutcomesIn(minutes(9)), "");
}

TEST_F(PackPlannerTest, NewLeaderLeavesARefusedPairItsRest) {
  gpu.records_are_kept = true;
  HavePair(0.4, 0.4);
  AwaitTrial();
  EXPECT_EQ(gpu.Await().rest, Packing::kFirstRest);
  gpu.OutcomesIn(minutes(4));
  gpu.Restart();
  EXPECT_EQ(gpu.OutcomesIn(minutes(5)), "");
  AwaitTrial();
  EXPECT_EQ(gpu.Await().rest, 2 * Packing::kFirstRest);
}

TEST_F(PackPlannerTest, PackHasOneSlotBesideOthers) {
  HavePair(0.8, 0.7);
  gpu.Add("c");
  gpu.Change("c", [](Pod&, ManagedContainer& fungible) { fungible.may_pack = false; });
  for (const char* other : {"a", "b"}) {
    gpu.SetPair(other, "c", 0.9, 0.9);
  }
  EXPECT_EQ(gpu.OutcomesIn(minutes(15)), "tried kept");
  const GpuTurn a = *gpu.Of("a").pod->fungible->turn;
  const GpuTurn b = *gpu.Of("b").pod->fungible->turn;
  EXPECT_EQ(a.runs, b.runs);
  EXPECT_THAT(a.with, ElementsAre("c"));
  EXPECT_THAT(gpu.Of("c").pod->fungible->turn->with, ElementsAre("a", "b"));
  EXPECT_EQ(a.runs.front().end - a.runs.front().begin, seconds(80));
  // A new leader adopts the rotation: the present turn goes on.
  gpu.OutcomesIn(seconds(24));
  const bool c_runs = gpu.Of("c").pod->fungible->turn->RunsAt(gpu.at.wall + seconds(3));
  gpu.Restart();
  gpu.Step();
  EXPECT_EQ(gpu.Of("c").pod->fungible->turn->RunsAt(gpu.at.wall + seconds(1)), c_runs);
  EXPECT_EQ(gpu.Beside("a"), "");
}

// Even if the gang's member is idle there, because the gang still has turns.
TEST_F(PackPlannerTest, PodsOfAGpuThatAGangAlsoHasAreNotPacked) {
  HavePair(0.8, 0.7);
  AwaitTrial();
  gpu.Add("c");
  gpu.SetPair("a", "c", 0.5, 0.5);
  gpu.SetPair("b", "c", 0.5, 0.5);
  gpu.Change("c", [&](Pod& made, ManagedContainer&) {
    made.gang = std::make_shared<const Gang>(Gang{.name = "team/g", .size = 2});
  });
  gpu.Of("c").report->pod.idle = IdleReading{kIdleToShow, {}};
  gpu.pods["n2"].push_back(MemberOn("n2", "GPU-0", "d", "g", 2));
  EXPECT_EQ(gpu.OutcomesIn(minutes(30)), "given_up");
  EXPECT_THAT(gpu.Of("a").pod->fungible->turn->with, ElementsAre("b", "c"));
  EXPECT_EQ(gpu.Beside("a") + gpu.Beside("b") + gpu.Beside("c"), "");
}

TEST_F(PackPlannerTest, OtherPodsOfAGoodPairNeedNoTrial) {
  HavePair(0.8, 0.7);
  EXPECT_EQ(gpu.OutcomesIn(minutes(8)), "tried kept");
  gpu.Remove("b");
  EXPECT_EQ(gpu.OutcomesIn(seconds(4)), "given_up");
  gpu.Add("b2", 20);
  gpu.SetPair("a", "b2", 0.8, 0.7);
  gpu.Change("b2", [](Pod&, ManagedContainer& fungible) { fungible.workload = "of-b"; });
  EXPECT_EQ(gpu.OutcomesIn(minutes(8)), "reused");
}

}  // namespace
}  // namespace synergy::testing
