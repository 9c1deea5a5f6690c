#include "nodeagent/memory/shrinker.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_clock.h"
#include "support/recorded_events.h"
#include "support/silent_log.h"
#include "unit/nodeagent/shrinking_pod.h"

namespace synergy::nodeagent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Memory that follows requests: page cache decreases, down to a floor.
struct FakeGroup {
  MemoryUse use;
  Bytes limit = MiB(200);
  Bytes pinned;                // page cache that cannot be reclaimed
  std::vector<Bytes> targets;  // target of each release
  std::optional<Error> failure;
};

class FakeMemoryGroup final : public MemoryGroup {
 public:
  FakeMemoryGroup(FakeGroup& group, testing::FakeClock& clock) : group_(group), clock_(clock) {}

  Result<MemoryUse> Read() override {
    if (group_.failure) return Fail(*group_.failure);
    return group_.use;
  }
  Result<Bytes> Limit() override { return group_.limit; }
  Result<MemorySample> Sample() override {
    return Fail(ErrorCode::kInvalid, "a shrink needs none");
  }
  Result<bool> Drop(Bytes) override { return Fail(ErrorCode::kInvalid, "a shrink has a target"); }
  Result<> Release(Bytes target, const std::stop_token&) override {
    group_.targets.push_back(target);
    clock_.Advance(milliseconds(30));
    const Bytes least = group_.use.held + group_.pinned;
    group_.use.usage = std::max(std::min(target, group_.use.usage), least);
    return {};
  }

 private:
  FakeGroup& group_;
  testing::FakeClock& clock_;
};

struct FakeMemoryGroups final : MemoryGroups {
  explicit FakeMemoryGroups(testing::FakeClock& fake_clock) : clock(fake_clock) {}

  Result<std::unique_ptr<MemoryGroup>> OfPod(const wire::ResizeStatus& pod) override {
    return Open("pod " + pod.uid);
  }
  Result<std::unique_ptr<MemoryGroup>> OfContainer(
      const wire::ResizeStatus&, const wire::ResizeStatus::Container& container) override {
    return Open(container.id);
  }
  Result<std::unique_ptr<MemoryGroup>> Open(const std::string& name) {
    const auto group = groups.find(name);
    if (group == groups.end()) return Fail(ErrorCode::kNotFound, "no " + name);
    return std::make_unique<FakeMemoryGroup>(group->second, clock);
  }

  testing::FakeClock& clock;
  std::map<std::string, FakeGroup> groups;
};

class ShrinkerTest : public ::testing::Test {
 protected:
  ShrinkerTest() {
    container() = {{MiB(180), MiB(20)}, MiB(200)};
    pod() = {{MiB(181), MiB(21)}, MiB(200)};
  }

  FakeGroup& container() { return groups_.groups["containerd://90d9"]; }
  FakeGroup& pod() { return groups_.groups["pod uid-1"]; }
  void Step() { shrinker_.Step({}); }
  void StepAfter(Duration time) {
    clock_.Advance(time);
    Step();
  }
  wire::ResizeStatus Done() {
    wire::ResizeStatus done = ShrinkingPod();
    done.containers[0].memory_limit_in_force = MiB(100);
    done.resize_in_progress.reset();
    return done;
  }
  void ExpectOutcome(const std::string& outcome, int count = 1) {
    EXPECT_THAT(metrics_.Render(),
                HasSubstr("synergy_node_agent_shrink_duration_seconds_count{outcome=\"" + outcome +
                          "\"} " + std::to_string(count) + "\n"));
  }

  testing::FakeClock clock_;
  synergy::testing::SilentSink sink_;
  Logger log_{sink_, clock_, LogLevel::kDebug, LogFormat::kText};
  metrics::NodeAgentMetrics metrics_;
  synergy::testing::RecordedEvents events_;
  FakeMemoryGroups groups_{clock_};
  Shrinker shrinker_{groups_, events_, clock_, log_, metrics_, {{10, MiB(64)}, seconds(60)}};
};

TEST_F(ShrinkerTest, ReleasesPageCacheOfContainerAndPodWithAnEvent) {
  shrinker_.Upsert(ShrinkingPod());
  Step();
  EXPECT_THAT(container().targets, ElementsAre(MiB(90)));
  EXPECT_THAT(pod().targets, ElementsAre(MiB(90)));
  ASSERT_THAT(events_.lines(), SizeIs(1));
  EXPECT_EQ(events_.all[0].object_namespace, "team");
  EXPECT_EQ(events_.all[0].object_name, "job");
  EXPECT_EQ(events_.all[0].object_uid, "uid-1");
  EXPECT_EQ(events_.all[0].type, "Normal");
  EXPECT_EQ(events_.all[0].reason, "SynergyMemoryReleased");
  EXPECT_EQ(events_.all[0].message,
            "Released 181.0 MiB of page cache in 0.060 s, so that memory can shrink: train from "
            "200.0 MiB to 100.0 MiB");
  EXPECT_THAT(metrics_.Render(), HasSubstr("synergy_node_agent_release_duration_seconds_count 2"));
  EXPECT_EQ(shrinker_.in_progress(), 1U);
}

TEST_F(ShrinkerTest, EndsOnceTheKubeletHasAppliedTheLimit) {
  shrinker_.Upsert(ShrinkingPod());
  Step();
  shrinker_.Upsert(Done());
  StepAfter(seconds(11));
  EXPECT_EQ(shrinker_.in_progress(), 0U);
  ExpectOutcome("completed");
  container().use.usage = MiB(99);
  Step();
  EXPECT_THAT(container().targets, SizeIs(1));
}

TEST_F(ShrinkerTest, AReleaseThatTheKubeletUsesBeforeTheNextLookIsAnEventToo) {
  container().pinned = MiB(85);  // just above the limit after the release
  shrinker_.Upsert(ShrinkingPod());
  Step();
  EXPECT_THAT(events_.lines(), IsEmpty());
  shrinker_.Upsert(Done());
  Step();
  ASSERT_THAT(events_.lines(), SizeIs(1));
  EXPECT_EQ(events_.all[0].reason, "SynergyMemoryReleased");
  EXPECT_THAT(events_.all[0].message, HasSubstr("Released 75.0 MiB of page cache"));
  ExpectOutcome("completed");
}

TEST_F(ShrinkerTest, UntilThenWhatComesBackIsReleasedAgain) {
  shrinker_.Upsert(ShrinkingPod());
  Step();
  container().use.usage = MiB(94);  // within half of the margin
  StepAfter(milliseconds(20));
  EXPECT_THAT(container().targets, SizeIs(1));
  container().use.usage = MiB(97);
  StepAfter(milliseconds(20));
  EXPECT_THAT(container().targets, ElementsAre(MiB(90), MiB(90)));
  EXPECT_THAT(events_.lines(), SizeIs(1));
}

TEST_F(ShrinkerTest, ALaterReleaseOfMemoryThatWasDownAtFirstIsAnEventToo) {
  container().use.usage = MiB(80);
  pod().use.usage = MiB(81);
  shrinker_.Upsert(ShrinkingPod());
  Step();
  EXPECT_THAT(events_.lines(), IsEmpty());
  container().use.usage = MiB(97);
  StepAfter(milliseconds(20));
  container().use.usage = MiB(97);
  StepAfter(milliseconds(20));
  ASSERT_THAT(events_.lines(), SizeIs(1));
  EXPECT_EQ(events_.all[0].reason, "SynergyMemoryReleased");
}

TEST_F(ShrinkerTest, DoesNothingIfTheMemoryFits) {
  container().use.usage = MiB(80);
  pod().use.usage = MiB(81);
  shrinker_.Upsert(ShrinkingPod());
  Step();
  EXPECT_THAT(container().targets, IsEmpty());
  EXPECT_THAT(events_.lines(), IsEmpty());
}

TEST_F(ShrinkerTest, APodWithoutALimitOfItsOwnIsNotTouched) {
  pod().limit = kNoMemoryLimit;
  shrinker_.Upsert(ShrinkingPod());
  Step();
  EXPECT_THAT(container().targets, SizeIs(1));
  EXPECT_THAT(pod().targets, IsEmpty());
}

TEST_F(ShrinkerTest, ReportsStuckMemoryOnceAndReleasesNothing) {
  container().use.held = MiB(91);
  shrinker_.Upsert(ShrinkingPod());
  for (int i = 0; i < 5; ++i) StepAfter(seconds(2));
  EXPECT_THAT(container().targets, IsEmpty());
  ASSERT_THAT(events_.lines(), SizeIs(1));
  EXPECT_EQ(events_.all[0].type, "Warning");
  EXPECT_EQ(events_.all[0].reason, "SynergyMemoryStuck");
  EXPECT_THAT(events_.all[0].message, AllOf(HasSubstr("train from 200.0 MiB to 100.0 MiB"),
                                            HasSubstr("91.0 MiB of container train are in use"),
                                            HasSubstr("10.0 MiB is to stay free")));
  ExpectOutcome("stuck");
}

TEST_F(ShrinkerTest, ContinuesOnceTheMemoryFits) {
  container().use.held = MiB(91);
  shrinker_.Upsert(ShrinkingPod());
  Step();
  container().use.held = MiB(20);
  StepAfter(milliseconds(500));
  EXPECT_THAT(container().targets, IsEmpty());  // it is examined only at intervals
  StepAfter(milliseconds(500));
  EXPECT_THAT(container().targets, ElementsAre(MiB(90)));
  ASSERT_THAT(events_.lines(), SizeIs(2));
  EXPECT_EQ(events_.all[1].reason, "SynergyMemoryReleased");
}

TEST_F(ShrinkerTest, ReportsStuckPageCacheAfterAFewTries) {
  container().pinned = MiB(120);
  shrinker_.Upsert(ShrinkingPod());
  for (int i = 0; i < 4; ++i) StepAfter(milliseconds(20));
  EXPECT_THAT(events_.lines(), IsEmpty());
  StepAfter(milliseconds(20));
  EXPECT_THAT(container().targets, SizeIs(5));
  ASSERT_THAT(events_.lines(), SizeIs(1));
  EXPECT_THAT(events_.all[0].message,
              HasSubstr("140.0 MiB of container train are in use after its page cache"));
  ExpectOutcome("stuck");
}

TEST_F(ShrinkerTest, AKubeletThatDoesNotTakeTheLimitIsGivenUp) {
  shrinker_.Upsert(ShrinkingPod());
  Step();
  StepAfter(seconds(59));
  EXPECT_THAT(events_.lines(), SizeIs(1));
  StepAfter(seconds(1));
  ASSERT_THAT(events_.lines(), SizeIs(2));
  EXPECT_EQ(events_.all[1].reason, "SynergyMemoryStuck");
  EXPECT_THAT(events_.all[1].message, HasSubstr("the kubelet has not shrunk it"));
  ExpectOutcome("given_up");
  // The pod has all of its memory again.
  container().use.usage = MiB(180);
  StepAfter(seconds(1));
  EXPECT_THAT(container().targets, SizeIs(1));
  // It stays so until another change is requested.
  wire::ResizeStatus again = ShrinkingPod();
  again.generation = 3;
  shrinker_.Upsert(again);
  Step();
  EXPECT_THAT(container().targets, SizeIs(2));
}

TEST_F(ShrinkerTest, ARequestThatIsTakenBackLeavesThePodAlone) {
  shrinker_.Upsert(ShrinkingPod());
  Step();
  wire::ResizeStatus undone = ShrinkingPod();
  undone.generation = 3;
  undone.containers[0].memory_limit = MiB(200);
  shrinker_.Upsert(undone);
  container().use.usage = MiB(180);
  Step();
  EXPECT_THAT(container().targets, SizeIs(1));
  EXPECT_EQ(shrinker_.in_progress(), 0U);
  ExpectOutcome("withdrawn");
}

TEST_F(ShrinkerTest, APodThatGoesTakesItsShrinkAlong) {
  shrinker_.Upsert(ShrinkingPod());
  Step();
  shrinker_.Remove(ShrinkingPod());
  Step();
  EXPECT_EQ(shrinker_.in_progress(), 0U);
  EXPECT_EQ(shrinker_.watched_pods(), 0U);
  shrinker_.Upsert(ShrinkingPod());
  Step();
  shrinker_.Replace({});
  Step();
  EXPECT_EQ(shrinker_.in_progress(), 0U);
  ExpectOutcome("withdrawn", 2);
}

TEST_F(ShrinkerTest, AContainerThatStartsAnewIsFoundAgain) {
  shrinker_.Upsert(ShrinkingPod());
  Step();
  container().failure = Error{ErrorCode::kNotFound, "gone"};
  StepAfter(milliseconds(20));
  EXPECT_THAT(metrics_.Render(),
              HasSubstr("synergy_node_agent_errors_total{reason=\"release_failed\"} 1"));
  container().failure.reset();
  container().use.usage = MiB(180);
  StepAfter(milliseconds(20));
  EXPECT_THAT(container().targets, SizeIs(1));  // it does not try again at once
  StepAfter(seconds(1));
  EXPECT_THAT(container().targets, SizeIs(2));
}

TEST_F(ShrinkerTest, AGroupThatIsNotThereIsCountedAndTriedAgain) {
  groups_.groups.erase("pod uid-1");
  shrinker_.Upsert(ShrinkingPod());
  Step();
  StepAfter(milliseconds(20));
  EXPECT_THAT(metrics_.Render(),
              HasSubstr("synergy_node_agent_errors_total{reason=\"no_cgroup\"} 1"));
  EXPECT_THAT(container().targets, IsEmpty());
  pod() = {{MiB(181), MiB(21)}, MiB(200)};
  StepAfter(seconds(1));
  EXPECT_THAT(container().targets, SizeIs(1));
}

TEST_F(ShrinkerTest, OthersPodsAreCountedAndNothingElse) {
  wire::ResizeStatus other = ShrinkingPod();
  other.managed = false;
  shrinker_.Replace({other});
  Step();
  EXPECT_EQ(shrinker_.watched_pods(), 1U);
  EXPECT_EQ(shrinker_.in_progress(), 0U);
  EXPECT_THAT(container().targets, IsEmpty());
}

TEST_F(ShrinkerTest, WithoutWorkItWaitsUntilStopped) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(shrinker_.AwaitWork(stop.get_token()));
  shrinker_.Upsert(ShrinkingPod());
  EXPECT_TRUE(shrinker_.AwaitWork({}));
  Step();
  EXPECT_TRUE(shrinker_.AwaitWork({}));
}

}  // namespace
}  // namespace synergy::nodeagent
