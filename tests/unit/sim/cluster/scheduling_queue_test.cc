#include "sim/cluster/scheduling_queue.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cluster/node_selection.h"
#include "support/cluster_vocabulary.h"

namespace synergy::testing {
namespace {

Instant At(double after) {
  return Instant(std::chrono::duration_cast<Duration>(Seconds(1000 + after)));
}

Pod WaitingPod(std::string name, int64_t gpus = 1, int32_t priority = 0) {
  Pod pod = WithPriority(MakeGpuPod(std::move(name), gpus), priority);
  auto waiting = std::make_shared<Waiting>();
  waiting->selection = std::make_shared<const NodeSelection>();
  pod.waiting = std::move(waiting);
  return pod;
}

// Returns the pods that are tried, one after the other, if all attempts fail.
std::vector<std::string> AllFail(SchedulingQueue& queue, Instant now) {
  std::vector<std::string> tried;
  while (const auto next = queue.Next(now)) {
    tried.push_back(next->uid);
    queue.Failed(*next, now);
  }
  return tried;
}

using Names = std::vector<std::string>;

TEST(SchedulingQueueTest, HigherPriorityGoesFirstThenTheLongestWait) {
  SchedulingQueue queue;
  queue.Add(WaitingPod("first"), At(0));
  queue.Add(WaitingPod("second", 2), At(1));
  queue.Add(WaitingPod("urgent", 1, 5), At(2));
  EXPECT_EQ(AllFail(queue, At(3)), (Names{"urgent", "first", "second"}));
}

TEST(SchedulingQueueTest, FailedPodRestsUntilAnEventAndOneOfEachKindIsTried) {
  SchedulingQueue queue;
  queue.Add(WaitingPod("a"), At(0));
  queue.Add(WaitingPod("like-a"), At(1));
  queue.Add(WaitingPod("b", 2), At(2));
  AllFail(queue, At(3));
  EXPECT_FALSE(queue.Next(At(20)));
  queue.WakeAll();
  EXPECT_EQ(AllFail(queue, At(20)), (Names{"a", "b"}));
}

TEST(SchedulingQueueTest, SuccessPassesTheTurnToTheNextPodOfItsKind) {
  SchedulingQueue queue;
  queue.Add(WaitingPod("a"), At(0));
  queue.Add(WaitingPod("like-a"), At(1));
  AllFail(queue, At(2));
  queue.WakeAll();
  ASSERT_EQ(queue.Next(At(20))->uid, "a");
  queue.Remove("a");
  EXPECT_EQ(AllFail(queue, At(20)), (Names{"like-a"}));
}

TEST(SchedulingQueueTest, PodInBackoffGoesAfterOthers) {
  SchedulingQueue queue;
  queue.Add(WaitingPod("old"), At(0));
  AllFail(queue, At(10));
  queue.Add(WaitingPod("young", 2), At(10.5));
  queue.WakeAll();
  EXPECT_EQ(AllFail(queue, At(10.5)), (Names{"young", "old"}));
  // A second later its first backoff would be over.
  SchedulingQueue later;
  later.Add(WaitingPod("old"), At(0));
  AllFail(later, At(10));
  later.Add(WaitingPod("young", 2), At(11.5));
  later.WakeAll();
  EXPECT_EQ(AllFail(later, At(11.5)), (Names{"old", "young"}));
}

TEST(SchedulingQueueTest, BackoffDoublesUpToTenSeconds) {
  SchedulingQueue queue;
  queue.Add(WaitingPod("old"), At(0));
  for (const double fails_at : {0, 20, 40, 60, 80, 100, 120, 140}) {
    queue.WakeAll();
    AllFail(queue, At(fails_at));
  }
  queue.Add(WaitingPod("young", 2), At(149));
  queue.WakeAll();
  EXPECT_EQ(queue.Next(At(149.9))->uid, "young");
  EXPECT_EQ(queue.Next(At(150.1))->uid, "old");
}

TEST(SchedulingQueueTest, ChangeOfAPodWakesThatPodAlone) {
  SchedulingQueue queue;
  queue.Add(WaitingPod("a"), At(0));
  queue.Add(WaitingPod("b", 2), At(1));
  AllFail(queue, At(2));
  queue.Wake("b");
  EXPECT_EQ(AllFail(queue, At(20)), (Names{"b"}));
}

TEST(SchedulingQueueTest, PodThatRestedForFiveMinutesIsTriedAgain) {
  SchedulingQueue queue;
  queue.Add(WaitingPod("a"), At(0));
  EXPECT_FALSE(queue.RestEnds());
  AllFail(queue, At(2));
  EXPECT_EQ(queue.RestEnds(), At(302));
  EXPECT_FALSE(queue.Next(At(301.9)));
  EXPECT_EQ(AllFail(queue, At(302)), (Names{"a"}));
  EXPECT_EQ(queue.RestEnds(), At(602));
}

TEST(SchedulingQueueTest, PodsAreTriedOnTheirOwnIfTheirLikenessDiffers) {
  SchedulingQueue queue;
  queue.Add(WaitingPod("a"), At(0), "one");
  queue.Add(WaitingPod("b"), At(1), "other");
  AllFail(queue, At(2));
  queue.WakeAll();
  EXPECT_EQ(AllFail(queue, At(20)), (Names{"a", "b"}));
}

TEST(SchedulingQueueTest, AllNodesAreSearchedAgainAfterAnEventThatNoNodeShows) {
  SchedulingQueue queue;
  queue.Add(WaitingPod("a"), At(0));
  const auto next = queue.Next(At(0));
  next->kind->looked_at = 7;
  queue.Failed(*next, At(0));
  queue.LookAgain();
  ASSERT_EQ(queue.Next(At(20))->uid, "a");
  EXPECT_EQ(queue.Next(At(20))->kind->looked_at, 0U);
}

}  // namespace
}  // namespace synergy::testing
