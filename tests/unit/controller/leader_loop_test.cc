#include "controller/cluster/leader_loop.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <semaphore>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_clock.h"

namespace synergy::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class LeaderLoopTest : public ::testing::Test {
 protected:
  // Returns the loop's actions in the next period.
  std::vector<std::string> AfterOnePeriod() {
    clock.AwaitSleepers(1);
    did.clear();
    clock.Advance(std::chrono::seconds(1));
    clock.AwaitSleepers(1);
    return did;
  }

  LeaderTask Task() {
    return {.may_act = [this] { return may_act; },
            .sees = [this] { return sees; },
            .start_over = [this] { did.emplace_back("start over"); },
            .rest = [this] { did.emplace_back("rest"); },
            .step = [this](const std::stop_token&) { did.emplace_back("step"); },
            .every_look =
                [this](bool acts, const std::stop_token&) {
                  did.emplace_back(acts ? "leads" : "follows");
                }};
  }

  synergy::testing::FakeClock clock;
  // The test writes this while the loop sleeps, and the loop reads it while the test waits.
  bool may_act = false;
  bool sees = true;
  std::vector<std::string> did;
};

TEST_F(LeaderLoopTest, ALeaderThatDoesNotSeeForAWhileGoesOnLater) {
  sees = false;
  may_act = true;
  LeaderLoop loop(Task(), std::chrono::seconds(1), clock);
  loop.Start();
  EXPECT_THAT(AfterOnePeriod(), ElementsAre("follows"));
  sees = true;
  EXPECT_THAT(AfterOnePeriod(), ElementsAre("start over", "step", "leads"));
  sees = false;
  EXPECT_THAT(AfterOnePeriod(), ElementsAre("follows"));
  sees = true;
  EXPECT_THAT(AfterOnePeriod(), ElementsAre("step", "leads"));
  sees = may_act = false;
  EXPECT_THAT(AfterOnePeriod(), ElementsAre("rest", "follows"));
  may_act = true;
  EXPECT_THAT(AfterOnePeriod(), ElementsAre("follows"));
  sees = true;
  EXPECT_THAT(AfterOnePeriod(), ElementsAre("start over", "step", "leads"));
  clock.AwaitSleepers(1);
  loop.Stop();
}

TEST_F(LeaderLoopTest, ALeaderStartsOverOnceAndStepsUntilItMayActNoMore) {
  LeaderLoop loop(Task(), std::chrono::seconds(1), clock);
  loop.Start();
  EXPECT_THAT(AfterOnePeriod(), ElementsAre("follows"));
  may_act = true;
  EXPECT_THAT(AfterOnePeriod(), ElementsAre("start over", "step", "leads"));
  EXPECT_THAT(AfterOnePeriod(), ElementsAre("step", "leads"));
  may_act = false;
  EXPECT_THAT(AfterOnePeriod(), ElementsAre("rest", "follows"));
  EXPECT_THAT(AfterOnePeriod(), ElementsAre("follows"));
  may_act = true;
  EXPECT_THAT(AfterOnePeriod(), ElementsAre("start over", "step", "leads"));
  loop.Stop();
}

TEST_F(LeaderLoopTest, ATaskWithTermsContinuesAfterAPauseUnlessAnotherLedMeanwhile) {
  uint64_t term = 1;
  LeaderTask task = Task();
  task.term = [&term] { return term; };
  LeaderLoop loop(std::move(task), std::chrono::seconds(1), clock);
  loop.Start();
  may_act = true;
  EXPECT_THAT(AfterOnePeriod(), ElementsAre("start over", "step", "leads"));
  may_act = false;
  EXPECT_THAT(AfterOnePeriod(), ElementsAre("rest", "follows"));
  may_act = true;
  EXPECT_THAT(AfterOnePeriod(), ElementsAre("step", "leads"));
  may_act = false;
  EXPECT_THAT(AfterOnePeriod(), ElementsAre("rest", "follows"));
  term = 2;
  may_act = true;
  EXPECT_THAT(AfterOnePeriod(), ElementsAre("start over", "step", "leads"));
  term = 3;  // too short a pause to be noticed
  EXPECT_THAT(AfterOnePeriod(), ElementsAre("start over", "step", "leads"));
  clock.AwaitSleepers(1);
  loop.Stop();
}

TEST_F(LeaderLoopTest, NothingIsDoneOnceItIsStopped) {
  LeaderLoop loop(Task(), std::chrono::seconds(1), clock);
  loop.Stop();
  loop.Start();
  may_act = true;
  AfterOnePeriod();
  did.clear();
  loop.Stop();
  loop.Stop();
  EXPECT_THAT(did, IsEmpty());
}

TEST(WokenLeaderLoopTest, StepsOnStartingOverWhenWokenAndWhenDue) {
  Waker waker;
  std::atomic<bool> due = false;
  std::atomic<int> steps = 0;
  std::counting_semaphore<> looks(0);
  const auto after_looks = [&](int count) {
    for (int i = 0; i < count; ++i) looks.acquire();
    return steps.load();
  };
  LeaderLoop loop({.may_act = [] { return true; },
                   .due = [&] { return due.exchange(false); },
                   .step = [&](const std::stop_token&) { ++steps; },
                   .every_look = [&](bool, const std::stop_token&) { looks.release(); }},
                  std::chrono::milliseconds(1), waker);
  loop.Start();
  EXPECT_EQ(after_looks(3), 1) << "the first look started over";
  waker.Wake();
  while (after_looks(1) < 2) {
  }
  due = true;
  while (after_looks(1) < 3) {
  }
  loop.Stop();
  EXPECT_EQ(steps, 3);
}

TEST(WokenLeaderLoopTest, IsWokenLongBeforeItsPeriodIsOver) {
  Waker waker;
  std::counting_semaphore<> steps(0);
  LeaderLoop loop(
      {.may_act = [] { return true; }, .step = [&](const std::stop_token&) { steps.release(); }},
      std::chrono::hours(1), waker);
  waker.Wake();
  loop.Start();
  steps.acquire();
  waker.Wake();
  steps.acquire();
  loop.Stop();
}

}  // namespace
}  // namespace synergy::controller
