#include "research/reference/event_queue.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::reference {
namespace {

using ::testing::ElementsAre;

std::vector<uint32_t> JobsOf(EventQueue& events) {
  std::vector<uint32_t> jobs;
  while (!events.empty()) jobs.push_back(events.Pop().job);
  return jobs;
}

TEST(EventQueueTest, EarlierEventsComeFirstThenArrivalsThenLeaseEndsThenSchedules) {
  EventQueue events;
  events.Push({300, EventKind::kSchedule, 4});
  events.Push({300, EventKind::kLeaseEnd, 3});
  events.Push({300, EventKind::kArrival, 2});
  events.Push({299, EventKind::kSchedule, 1});
  EXPECT_THAT(JobsOf(events), ElementsAre(1, 2, 3, 4));
}

// Events that compare equal come in the order of Python's heapq.
TEST(EventQueueTest, EqualEventsComeInTheOrderOfPythonsHeap) {
  EventQueue events;
  for (uint32_t job = 0; job < 8; ++job) events.Push({300, EventKind::kLeaseEnd, job});
  EXPECT_THAT(JobsOf(events), ElementsAre(0, 2, 6, 5, 7, 4, 1, 3));
  for (uint32_t job = 0; job < 5; ++job) events.Push({300, EventKind::kLeaseEnd, job});
  events.Push({300, EventKind::kSchedule, 5});
  events.Push({100, EventKind::kArrival, 6});
  events.Push({300, EventKind::kArrival, 7});
  EXPECT_THAT(JobsOf(events), ElementsAre(6, 7, 0, 2, 4, 1, 3, 5));
}

}  // namespace
}  // namespace synergy::reference
