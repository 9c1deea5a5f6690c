#include <gtest/gtest.h>

#include "kube/watches.h"
#include "support/fake_clock.h"

namespace synergy::kube {
namespace {

using std::chrono::seconds;

class HealthTest : public ::testing::Test {
 protected:
  synergy::testing::FakeClock clock;
  ReflectorStatus status;
  Health health{{{"pods", [this] { return status; }}}, clock, seconds(60)};
};

TEST_F(HealthTest, IsNotReadyBeforeTheFirstFullList) {
  EXPECT_EQ(health.NotReadyReason(), "pods have not been listed yet");
}

TEST_F(HealthTest, IsReadyWhileTheApiServerResponds) {
  status.synced = true;
  status.last_contact = clock.Now();
  clock.Advance(seconds(60));
  EXPECT_EQ(health.NotReadyReason(), "");
}

TEST_F(HealthTest, IsNotReadyAfterTooLongASilence) {
  status.synced = true;
  status.last_contact = clock.Now();
  clock.Advance(seconds(61));
  EXPECT_EQ(health.NotReadyReason(), "no response on pods for 61 s");
}

TEST_F(HealthTest, IsNotReadyDuringShutdown) {
  status.synced = true;
  status.last_contact = clock.Now();
  health.ShutDown();
  EXPECT_EQ(health.NotReadyReason(), "shutting down");
}

}  // namespace
}  // namespace synergy::kube
