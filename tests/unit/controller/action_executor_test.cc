#include "controller/tuner/action_executor.h"

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include "controller/cluster/patch_rate.h"
#include "unit/controller/tuner_fixture.h"

namespace synergy::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

using synergy::testing::OneGpu;

TEST(PatchRate, LetsABurstGoAndThenSoManyASecond) {
  PatchRate rate(10, 3);
  Instant now = Instant{} + std::chrono::hours(1);
  for (int i = 0; i < 3; ++i) {
    EXPECT_LE(rate.Next(), now);
    rate.Spend(1, now);
  }
  EXPECT_EQ(rate.Next(), now + std::chrono::milliseconds(100));
  now += std::chrono::milliseconds(100);
  rate.Spend(2, now);
  EXPECT_EQ(rate.Next(), now + std::chrono::milliseconds(200));
}

TEST(PatchRate, AQuietTimeAllowsNoMoreThanABurst) {
  PatchRate rate(10, 2);
  const Instant now = Instant{} + std::chrono::hours(1);
  rate.Spend(1, now);
  const Instant later = now + std::chrono::minutes(1);
  rate.Spend(2, later);
  EXPECT_GT(rate.Next(), later);
}

// Uses an API server that answers when the test says so.
class ActionExecutorTest : public ::testing::Test {
 protected:
  ActionExecutorTest() {
    for (const char* name : {"a", "b", "c"}) {
      api.Put(synergy::testing::ManagedPod(name, "n1", 3));
      state.UpsertPod(api.pod(name));
    }
    api.before_call = [this](std::string_view call) {
      std::unique_lock lock(mutex);
      started.emplace_back(call);
      changed.notify_all();
      changed.wait(lock, [this] { return open; });
      return Result<>();
    };
  }
  ~ActionExecutorTest() override { Open(); }

  void Open() {
    const std::lock_guard lock(mutex);
    open = true;
    changed.notify_all();
  }
  std::vector<std::string> Started(size_t calls) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return started.size() >= calls; });
    return started;
  }
  std::vector<ActionOutcome> Outcomes(size_t count) {
    std::vector<ActionOutcome> all;
    while (all.size() < count) {
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [this] { return outcomes > 0; });
        outcomes = 0;
      }
      for (const ActionOutcome& outcome : executor->TakeOutcomes()) all.push_back(outcome);
    }
    return all;
  }
  void Ask(uint64_t number, const std::string& name, ChangeKind kind, int64_t cores,
           int64_t from = 3) {
    const ChangeRecord change{kind, OneGpu(from), OneGpu(cores), "", WallTime{}};
    executor->Submit(number,
                     {std::make_shared<const Pod>(api.pod(name)), tuner_action::Resize{{change}}});
  }
  void Start(size_t at_once) {
    executor = MakeActionExecutor(
        actions, [this] { return MayAct(); },
        [this] {
          const std::lock_guard lock(mutex);
          ++outcomes;
          changed.notify_all();
        },
        SystemClock(), {.at_once = at_once, .patches_per_second = 10000});
  }
  bool MayAct() {
    const std::lock_guard lock(mutex);
    return may_act;
  }

  std::mutex mutex;
  std::condition_variable changed;
  bool open = false;
  bool may_act = true;
  int outcomes = 0;
  std::vector<std::string> started;

  synergy::testing::SilentLog log;
  metrics::TunerMetrics metrics;
  ClusterState state;
  synergy::testing::FakePodApi api;
  synergy::testing::RecordedEvents events;
  TunerCalls actions{
      state, api, events, SystemClock(), log.log, metrics, [this] { return MayAct(); }};
  std::unique_ptr<ActionExecutor> executor;
};

TEST_F(ActionExecutorTest, SeveralPodsAreChangedSideBySide) {
  Start(2);
  Ask(1, "a", ChangeKind::kGrown, 4);
  Ask(2, "b", ChangeKind::kGrown, 4);
  Ask(3, "c", ChangeKind::kGrown, 4);
  EXPECT_THAT(Started(2), UnorderedElementsAre("resize a cpu 4", "resize b cpu 4"));
  Open();
  EXPECT_EQ(Outcomes(3).size(), 3U);
}

TEST_F(ActionExecutorTest, APodsActionsAreCarriedOutInOrder) {
  Start(3);
  Ask(1, "a", ChangeKind::kGrown, 4);
  Ask(2, "a", ChangeKind::kReclaimed, 5, 4);
  Ask(3, "b", ChangeKind::kGrown, 4);
  EXPECT_THAT(Started(2), UnorderedElementsAre("resize a cpu 4", "resize b cpu 4"));
  Open();
  EXPECT_EQ(Outcomes(3).size(), 3U);
  EXPECT_EQ(api.pod("a").fungible->requested, OneGpu(5));
}

TEST_F(ActionExecutorTest, RunsUrgentActionsFirst) {
  Start(1);
  Ask(1, "a", ChangeKind::kGrown, 4);
  Started(1);
  Ask(2, "b", ChangeKind::kGrown, 4);
  Ask(3, "c", ChangeKind::kReclaimed, 1);
  Open();
  std::vector<uint64_t> numbers;
  for (const ActionOutcome& outcome : Outcomes(3)) numbers.push_back(outcome.number);
  EXPECT_THAT(numbers, ElementsAre(1, 3, 2));
}

TEST_F(ActionExecutorTest, NothingIsBegunWhereWeMayNotAct) {
  Start(1);
  Ask(1, "a", ChangeKind::kGrown, 4);
  Started(1);
  Ask(2, "b", ChangeKind::kGrown, 4);
  {
    const std::lock_guard lock(mutex);
    may_act = false;
  }
  Open();
  const std::vector<ActionOutcome> all = Outcomes(2);
  EXPECT_TRUE(all[0].done);
  EXPECT_TRUE(all[1].kept_from);
  EXPECT_THAT(api.calls(), ElementsAre("resize a cpu 4"));
}

TEST_F(ActionExecutorTest, AbandonedActionsNeitherStartNorReport) {
  Start(1);
  Ask(1, "a", ChangeKind::kGrown, 4);
  Started(1);
  Ask(2, "b", ChangeKind::kGrown, 4);
  executor->Abandon();
  Ask(3, "c", ChangeKind::kGrown, 4);
  Open();
  const std::vector<ActionOutcome> all = Outcomes(1);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].number, 3U);
  EXPECT_THAT(api.calls(), ElementsAre("resize a cpu 4", "resize c cpu 4"));
}

}  // namespace
}  // namespace synergy::controller
