#include "nodeagent/health.h"

#include <gtest/gtest.h>

#include "support/fake_clock.h"

namespace synergy::nodeagent {
namespace {

using std::chrono::seconds;

TEST(NodeAgentHealthTest, IsThatOfItsWatch) {
  synergy::testing::FakeClock clock;
  kube::ReflectorStatus pods;
  EXPECT_EQ(NotReadyReason(pods, clock, seconds(60)), "pods have not been listed yet");
  pods.synced = true;
  pods.last_contact = clock.Now();
  clock.Advance(seconds(60));
  EXPECT_EQ(NotReadyReason(pods, clock, seconds(60)), "");
  clock.Advance(seconds(1));
  EXPECT_EQ(NotReadyReason(pods, clock, seconds(60)), "nothing heard of pods for 61 s");
}

}  // namespace
}  // namespace synergy::nodeagent
