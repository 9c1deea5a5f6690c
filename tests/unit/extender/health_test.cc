#include "extender/health.h"

#include <gtest/gtest.h>

#include "extender/decision_ids.h"
#include "support/fake_clock.h"

namespace synergy::extender {
namespace {

using std::chrono::seconds;

class HealthTest : public ::testing::Test {
 protected:
  synergy::testing::FakeClock clock;
  kube::ReflectorStatus status;
  Health health{{{"pods", [this] { return status; }}}, clock, seconds(60)};
};

TEST_F(HealthTest, IsNotReadyBeforeTheFirstWholeList) {
  EXPECT_EQ(health.NotReadyReason(), "pods have not been listed yet");
}

TEST_F(HealthTest, IsReadyWhileTheApiServerIsHeard) {
  status.synced = true;
  status.last_contact = clock.Now();
  clock.Advance(seconds(60));
  EXPECT_EQ(health.NotReadyReason(), "");
}

TEST_F(HealthTest, IsNotReadyAfterTooLongASilence) {
  status.synced = true;
  status.last_contact = clock.Now();
  clock.Advance(seconds(61));
  EXPECT_EQ(health.NotReadyReason(), "nothing heard of pods for 61 s");
}

TEST_F(HealthTest, IsNotReadyOnItsWayOut) {
  status.synced = true;
  status.last_contact = clock.Now();
  health.ShutDown();
  EXPECT_EQ(health.NotReadyReason(), "shutting down");
}

TEST(DecisionIdsTest, GivesEachDecisionAnIdThatItsLaterCallsFind) {
  DecisionIds ids;
  EXPECT_EQ(ids.Current("a"), "-");
  EXPECT_EQ(ids.Begin("a"), "1");
  EXPECT_EQ(ids.Begin("b"), "2");
  EXPECT_EQ(ids.Current("a"), "1");
  EXPECT_EQ(ids.Begin("a"), "3");
  EXPECT_EQ(ids.Current("a"), "3");
}

TEST(DecisionIdsTest, ForgetsTheOldestPods) {
  DecisionIds ids;
  for (int i = 0; i < 5000; ++i) ids.Begin("uid-" + std::to_string(i));
  EXPECT_EQ(ids.Current("uid-0"), "-");
  EXPECT_EQ(ids.Current("uid-4999"), "5000");
}

}  // namespace
}  // namespace synergy::extender
