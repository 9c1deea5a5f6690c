#include "kube/deadline.h"

#include <condition_variable>
#include <mutex>
#include <optional>

#include <gtest/gtest.h>

#include "support/fake_clock.h"

namespace synergy::kube {
namespace {

TEST(Deadline, StopsAtItsMoment) {
  synergy::testing::FakeClock clock;
  const Deadline deadline(clock, std::chrono::seconds(4));
  clock.AwaitSleepers(1);
  clock.Advance(std::chrono::seconds(3));
  EXPECT_FALSE(deadline.token().stop_requested());
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  clock.Advance(std::chrono::seconds(1));
  stopped.wait(lock, deadline.token(), [] { return false; });
  EXPECT_TRUE(deadline.token().stop_requested());
}

TEST(Deadline, StopsNothingThatEndedBefore) {
  synergy::testing::FakeClock clock;
  std::optional<Deadline> deadline;
  deadline.emplace(clock, std::chrono::seconds(4));
  const std::stop_token token = deadline->token();
  deadline.reset();
  EXPECT_FALSE(token.stop_requested());
}

}  // namespace
}  // namespace synergy::kube
