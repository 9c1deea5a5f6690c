#include "sim/queue/queue_driver.h"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "queues/round_workload.h"

namespace synergy::testing {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Tests a queue of 2 GPUs in which pods run at once.
class QueueDriverTest : public ::testing::Test {
 protected:
  void Begin(const std::string& policy, QueueSetup setup = {}) {
    setup.rounds.policy = policy;
    setup.rounds.least_run = minutes(1);
    ASSERT_TRUE(CheckQueue(setup));
    driver_.emplace(
        setup, "team", Gpus(2),
        [this](const std::string& uid) -> std::optional<PodProgress> {
          PodProgress progress;
          const auto found = remaining_.find(uid);
          if (found != remaining_.end()) progress.remaining = found->second;
          return progress;
        },
        [](const Workload& /*workload*/, Gpus quota) { return quota.count(); }, nullptr, at_);
    RunFor(seconds(1));
  }
  void Add(const std::string& name, int64_t gpus, std::optional<Duration> longest = std::nullopt) {
    driver_->Add({.name = name, .gpus = Gpus(gpus), .longest = longest}, at_);
  }
  // Returns which jobs start and stop in this time.
  std::vector<std::string> RunFor(Duration duration) {
    std::vector<std::string> actions;
    const Instant end = at_.now + duration;
    while (driver_->wake() <= end) {
      GoTo(std::max(driver_->wake(), at_.now));
      for (const KueueAction& action : driver_->Run(at_)) {
        const bool starts = action.kind == KueueAction::Kind::kStart;
        actions.push_back((starts ? "start " : "stop ") + action.name);
        if (starts) {
          driver_->AddPod(action.name, action.name + "-0", Gpus(1), at_);
          driver_->BindPod(action.name + "-0", "n", at_);
          driver_->RunPod(action.name + "-0", at_);
        } else {
          driver_->RemovePod(action.name + "-0", at_);
          driver_->PodsGone(action.name, at_);
        }
      }
    }
    GoTo(end);
    return actions;
  }
  void GoTo(Instant now) {
    at_.wall += now - at_.now;
    at_.now = now;
  }
  void Finish(const std::string& name) {
    driver_->RemovePod(name + "-0", at_);
    driver_->Finish(name, at_);
  }

  Moment at_{Instant(seconds(3600)), WallTime(std::chrono::hours(1000))};
  std::map<std::string, Duration> remaining_;  // pod -> remaining time
  std::optional<QueueDriver> driver_;
};

TEST_F(QueueDriverTest, UnderFifoTurnsAreNotTaken) {
  Begin("fifo");
  Add("a", 2);
  RunFor(seconds(10));
  Add("b", 2);
  EXPECT_THAT(RunFor(minutes(30)), IsEmpty());
  Finish("a");
  EXPECT_THAT(RunFor(minutes(1)), ElementsAre("start b"));
}

TEST_F(QueueDriverTest, WithBackfillAJobPassesOnlyIfItEndsInTime) {
  for (const bool backfill : {false, true}) {
    SCOPED_TRACE(backfill);
    QueueSetup setup{.strict = true};
    setup.rounds.backfill = backfill;
    Begin("fifo", setup);
    Add("a", 1);
    remaining_["a-0"] = minutes(60);
    RunFor(minutes(1));
    Add("large", 2);
    RunFor(minutes(1));
    Add("endless", 1);
    Add("long", 1, minutes(50));
    EXPECT_THAT(RunFor(minutes(10)), IsEmpty());
    Add("short", 1, minutes(10));
    EXPECT_THAT(RunFor(minutes(10)),
                backfill ? std::vector<std::string>{"start short"} : std::vector<std::string>());
    if (backfill) Finish("short");
    Finish("a");
    EXPECT_THAT(RunFor(minutes(1)), ElementsAre("start large"));
  }
}

TEST_F(QueueDriverTest, UnderLasTheJobThatHasHadLessTakesOverInTheNextRound) {
  Begin("las");
  Add("a", 2);
  RunFor(minutes(1));
  Add("b", 2);
  EXPECT_THAT(RunFor(minutes(3)), IsEmpty());
  EXPECT_THAT(RunFor(minutes(3)), ElementsAre("stop a", "start b"));
}

TEST_F(QueueDriverTest, ServiceIsChargedThoughSecondsAreLeftOut) {
  Begin("las");
  Add("a", 2);
  RunFor(minutes(6));
  Add("b", 2);
  RunFor(minutes(20));
  // Its note was written when it lost its turn: service from its start to the begin of the round.
  const auto note = driver_->kueue().Find("a")->note;
  ASSERT_TRUE(note);
  EXPECT_NEAR(note->served, 2 * (600 - 2), 2 * 3);
}

TEST_F(QueueDriverTest, UnderSrtfTheJobOfWhichLessIsLeftGoesFirst) {
  Begin("srtf");
  Add("long", 2);
  remaining_["long-0"] = minutes(600);
  RunFor(minutes(6));
  Add("short", 2);
  remaining_["short-0"] = minutes(20);
  // It has never run, so its remaining time is unknown, and it goes last.
  EXPECT_THAT(RunFor(minutes(30)), IsEmpty());
}

TEST_F(QueueDriverTest, AQuietQueueIsNotPlannedEverySecond) {
  Begin("las");
  Add("a", 1);
  Add("b", 1);
  RunFor(minutes(2));
  const uint64_t before = driver_->plans();
  RunFor(minutes(50));
  EXPECT_LE(driver_->plans() - before, 30U);
}

TEST_F(QueueDriverTest, WritesThatFailAreMadeLater) {
  Begin("las");
  Faults faults({.call_fails = 0.5, .call_late = seconds(3), .seed = 7});
  driver_->SetFaults(faults);
  Add("a", 2);
  RunFor(minutes(1));
  Add("b", 2);
  EXPECT_THAT(RunFor(minutes(20)),
              ::testing::IsSupersetOf({"stop a", "start b", "stop b", "start a"}));
}

TEST(CheckQueueTest, ErrorsNameTheField) {
  const auto error_of = [](const QueueSetup& setup) {
    const auto checked = CheckQueue(setup);
    return checked ? "none" : checked.error().message;
  };
  QueueSetup setup;
  EXPECT_EQ(error_of(setup), "none");
  setup.rounds.policy = "luck";
  EXPECT_THAT(error_of(setup),
              ::testing::StartsWith("policy: unknown policy 'luck': use one of fifo"));
  setup.rounds.policy = "las";
  setup.rounds.elastic = true;
  EXPECT_THAT(error_of(setup), ::testing::HasSubstr("workers: Elastic"));
}

}  // namespace
}  // namespace synergy::testing
