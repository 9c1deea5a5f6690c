#include "engine/reservations/waiting_times.h"

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

class WaitingTimesTest : public ::testing::Test {
 protected:
  void Observe(const std::vector<WaitingTimes::OwnedPod>& pods) {
    now_ += minutes(1);
    times.Observe(pods, now_);
  }
  static WaitingTimes::OwnedPod Waits(const std::string& owner, const std::string& uid,
                                      Duration waited) {
    return {.owner = owner, .uid = uid, .waited = waited};
  }

  WaitingTimes times;

 private:
  Instant now_{hours(1)};
};

TEST_F(WaitingTimesTest, ASuspendedJobKeepsWhatItHasWaited) {
  Observe({Waits("job", "a", minutes(10))});
  Observe({Waits("job", "a", minutes(11))});
  EXPECT_EQ(times.WaitedBefore("job"), Duration::zero()) << "its pod still has it";
  Observe({});
  EXPECT_EQ(times.WaitedBefore("job"), minutes(11));
  Observe({});
  Observe({Waits("job", "b", minutes(1))});
  EXPECT_EQ(times.WaitedBefore("job"), minutes(11));
  // Suspended again, and resumed between two looks.
  Observe({Waits("job", "b", minutes(4))});
  Observe({Waits("job", "c", minutes(0))});
  EXPECT_EQ(times.WaitedBefore("job"), minutes(15));
  EXPECT_EQ(times.WaitedBefore("another"), Duration::zero());
}

TEST_F(WaitingTimesTest, AJobThatHasRunBeginsAnew) {
  Observe({Waits("job", "a", minutes(10))});
  Observe({});
  Observe({{.owner = "job", .uid = "b", .runs = true}});
  Observe({});
  EXPECT_EQ(times.WaitedBefore("job"), Duration::zero());
  Observe({Waits("job", "c", minutes(3))});
  Observe({});
  EXPECT_EQ(times.WaitedBefore("job"), minutes(3));
}

TEST_F(WaitingTimesTest, SeveralPodsHaveWaitedForAsLongAsTheLastOfThem) {
  Observe({Waits("job", "a", minutes(10)), Waits("job", "b", minutes(2))});
  // One of them is replaced; the others have their own times.
  Observe({Waits("job", "a", minutes(11)), Waits("job", "c", minutes(1))});
  EXPECT_EQ(times.WaitedBefore("job"), Duration::zero());
  Observe({});
  EXPECT_EQ(times.WaitedBefore("job"), minutes(1));
}

TEST_F(WaitingTimesTest, TheOwnersGoneForLongestAreForgotten) {
  std::vector<WaitingTimes::OwnedPod> pods;
  for (size_t i = 0; i <= WaitingTimes::kMostGone; ++i)
    pods.push_back(Waits("job" + std::to_string(i), "pod" + std::to_string(i), minutes(5)));
  const WaitingTimes::OwnedPod first = pods.front();
  pods.erase(pods.begin());
  Observe({first});
  Observe(pods);
  EXPECT_EQ(times.WaitedBefore("job0"), minutes(5));
  Observe({});
  EXPECT_EQ(times.WaitedBefore("job0"), Duration::zero());
  EXPECT_EQ(times.WaitedBefore("job1"), minutes(5));
}

}  // namespace
}  // namespace synergy::testing
