#include "engine/tuner/loans.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include <gmock/gmock.h>

#include "unit/engine/tuner_fixture.h"

namespace synergy::testing {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

// Tests a full node of 12 cores with two pods of 3 cores: "idle" lends up to 2 of them, and "busy"
// trains faster with up to 9.
class LoansTest : public TunerPlanTest {
 protected:
  explicit LoansTest(Duration idle_after = minutes(30))
      : TunerPlanTest({.idle_after = idle_after}) {
    Reports(ManagedPod("idle", "n1", 3, ""));
    Reports(ManagedPod("busy", "n1", 3));
    Reports(ManagedPod("rest", "n1", 6, ""));
    Plan();
  }

  void IsIdleFor(const std::string& name, Duration duration) {
    memory.idle[name] = {
        .node = "n1", .idle = duration, .most_cpu = MilliCpu(100), .reported = at.now};
  }
  // Carries out decisions until none follows at this moment: announcements and resizes are
  // accepted, and the kubelet carries out the resizes.
  void CarryOut() {
    while (!Plan().empty()) {
      for (const TunerAction& action : plan.actions) {
        const std::string name = action.pod->name;
        Reports(With(LastOf(name), [&](ManagedContainer& pod) {
          const ChangeRecord& change = ChangeOf(action);
          if (std::holds_alternative<tuner_action::Resize>(action.what)) {
            pod.requested = pod.in_force = pod.set_aside = change.to;
          } else {
            pod.change = change;
            pod.announced_until = at.wall + minutes(2);
          }
        }));
      }
      ResultOfAll(true);
    }
  }
  Pod LastOf(const std::string& name) const {
    Pod pod = *state.FindPod(name);
    return pod;
  }
  void Reports(Pod pod) {
    pod.requests.main = pod.fungible->requested;
    pod.requests.main += pod.fungible->AnnouncedGrowth();
    TunerPlanTest::Reports(std::move(pod));
  }
  MilliCpu Cpu(const std::string& name) const {
    return state.FindPod(name)->fungible->requested.cpu;
  }
  // Makes the loan.
  void Lend() {
    IsIdleFor("idle", hours(1));
    After(seconds(10));
    memory.idle["idle"].reported = at.now;
    CarryOut();
    ASSERT_EQ(Cpu("idle"), Cores(1));
    ASSERT_EQ(Cpu("busy"), Cores(5));
  }
};

TEST_F(LoansTest, AnIdlePodLendsToTheOneThatGainsAndHasItBackWhenItWakes) {
  Lend();
  EXPECT_EQ(state.Snapshot()->node(0).Free().cpu, Cores(0));
  EXPECT_EQ(state.FindPod("idle")->fungible->change->borrower, "busy");
  EXPECT_EQ(state.FindPod("busy")->fungible->Borrows(), Cores(2));
  IsIdleFor("idle", seconds(0));
  CarryOut();
  EXPECT_EQ(Cpu("idle"), Cores(3));
  EXPECT_EQ(Cpu("busy"), Cores(3));
  EXPECT_EQ(state.FindPod("idle")->fungible->Lends(), Cores(0));
}

TEST_F(LoansTest, OnlyAPodThatIsIdleForLongEnoughLends) {
  IsIdleFor("idle", minutes(29));
  After(seconds(10));
  EXPECT_THAT(Plan(), IsEmpty());
}

class NoLoansTest : public LoansTest {
 protected:
  NoLoansTest() : LoansTest(Duration::zero()) {}
};

TEST_F(NoLoansTest, WithoutASettingNoPodLends) {
  IsIdleFor("idle", hours(1));
  After(seconds(10));
  EXPECT_THAT(Plan(), IsEmpty());
}

TEST_F(LoansTest, StrictPodsAndMembersOfGangsDoNotLend) {
  Reports(With(LastOf("idle"), [](auto& pod) { pod.enforcement = Enforcement::kStrict; }));
  Pod rest = LastOf("rest");
  rest.gang = std::make_shared<const Gang>(Gang{.name = "g", .size = 2});
  Reports(rest);
  IsIdleFor("idle", hours(1));
  IsIdleFor("rest", hours(1));
  After(seconds(10));
  memory.idle["idle"].reported = memory.idle["rest"].reported = at.now;
  EXPECT_THAT(Plan(), IsEmpty());
}

TEST_F(LoansTest, WithoutReportsALoanEnds) {
  Lend();
  After(seconds(14));
  EXPECT_THAT(Plan(), IsEmpty());
  After(seconds(2));
  EXPECT_THAT(Plan(), ElementsAre("announce busy"));
}

TEST_F(LoansTest, LentCpuCountsAsTakenWhenTheBorrowerIsGone) {
  Lend();
  state.RemovePod("busy");
  EXPECT_EQ(state.Snapshot()->node(0).Free().cpu, Cores(3));
  EXPECT_THAT(Plan(), ElementsAre("announce idle"));
  EXPECT_EQ(ChangeOf(plan.actions.front()).kind, ChangeKind::kReturned);
}

TEST_F(LoansTest, BorrowedCpuIsSurplusOnceTheLenderIsGone) {
  Lend();
  EXPECT_EQ(Surplus(LastOf("busy"), at.wall).cpu, Cores(0));
  state.RemovePod("idle");
  EXPECT_THAT(Plan(), ElementsAre("record busy"));
  Reports(With(LastOf("busy"), [this](auto& pod) { pod.change = ChangeOf(plan.actions.front()); }));
  EXPECT_EQ(Surplus(LastOf("busy"), at.wall).cpu, Cores(2));
}

TEST_F(LoansTest, ALoanEndsWhenItsLenderOrBorrowerOptsOut) {
  for (const char* name : {"idle", "busy"}) {
    Lend();
    Reports(With(LastOf(name), [](auto& pod) { pod.leaves = true; }));
    CarryOut();
    EXPECT_EQ(Cpu("idle"), Cores(3)) << name;
    EXPECT_EQ(Cpu("busy"), Cores(3)) << name;
    Reports(With(LastOf(name), [](auto& pod) { pod.leaves = false; }));
    After(minutes(10));
  }
}

TEST_F(LoansTest, APodThatCouldBePlacedOnTheNodeEndsItsLoans) {
  Lend();
  Reports(ManagedPod("new", "", 3));
  EXPECT_THAT(Plan(), Contains("announce busy"));
}

TEST_F(LoansTest, APodThatNeedsMoreThanTheNodeCouldHaveEndsNoLoan) {
  Lend();
  Reports(With(ManagedPod("new", "", 4), [](auto& pod) { pod.floor = OneGpu(4); }));
  EXPECT_THAT(Plan(), Not(Contains("announce busy")));
}

TEST_F(LoansTest, APodThatMayNotGoToTheNodeEndsNoLoan) {
  Lend();
  Pod elsewhere = ManagedPod("new", "", 3);
  Waiting waiting = *elsewhere.waiting;
  auto selection = std::make_shared<NodeSelection>();
  selection->node_selector = {{"zone", "b"}};
  waiting.selection = std::move(selection);
  elsewhere.waiting = std::make_shared<const Waiting>(std::move(waiting));
  Reports(elsewhere);
  EXPECT_THAT(Plan(), Not(Contains("announce busy")));
}

TEST_F(LoansTest, APodThatWaitsForPodAffinityEndsNoLoan) {
  Lend();
  Pod attached = ManagedPod("new", "", 3);
  Waiting waiting = *attached.waiting;
  waiting.message = "0/1 nodes are available: 1 node(s) didn't match pod affinity rules.";
  attached.waiting = std::make_shared<const Waiting>(std::move(waiting));
  Reports(attached);
  EXPECT_THAT(Plan(), Not(Contains("announce busy")));
}

TEST_F(LoansTest, AGangEndsLoansIfAllItsMembersCouldBePlaced) {
  Lend();
  for (const char* name : {"member-1", "member-2"}) {
    Pod member = ManagedPod(name, "", 3);
    member.gang = std::make_shared<const Gang>(Gang{"team/g", 2, {}});
    Reports(member);
  }
  EXPECT_THAT(Plan(), Not(Contains("announce busy")));  // the node has one GPU for them
  state.UpsertNode(MakeNode("n2", {Gpus(1), Cores(3), GiB(16)}));
  After(seconds(1));
  IsIdleFor("idle", hours(1));
  EXPECT_THAT(Plan(), Contains("announce busy"));
}

TEST_F(LoansTest, ASuccessorKnowsTheLoans) {
  Lend();
  memory = Tuner::StartOver(at);
  state.KeepNews();
  EXPECT_THAT(Plan(), IsEmpty());  // the agents need time to report
  After(seconds(16));
  CarryOut();
  EXPECT_EQ(Cpu("idle"), Cores(3));
  EXPECT_EQ(Cpu("busy"), Cores(3));
}

TEST_F(LoansTest, AFailedReturnIsTriedAgain) {
  Lend();
  IsIdleFor("idle", seconds(0));
  EXPECT_THAT(Plan(), ElementsAre("announce busy"));
  ResultOfAll(false);
  EXPECT_THAT(Plan(), IsEmpty());
  After(seconds(5));
  EXPECT_THAT(Plan(), ElementsAre("announce busy"));
}

}  // namespace
}  // namespace synergy::testing
