#include "controller/cluster/succeeded_counter.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "support/cluster_vocabulary.h"
#include "support/fake_clock.h"

namespace synergy::controller {
namespace {

// A gang of three pods, of which the first ones that a test adds wait.
class SucceededCounterTest : public ::testing::Test {
 protected:
  SucceededCounterTest() { clock.Advance(std::chrono::hours(1)); }

  void Add(const std::string& name, Duration waited = std::chrono::seconds(10)) {
    Pod pod = synergy::testing::MakeGpuPod(name, 1);
    pod.gang = std::make_shared<const Gang>(Gang{"team/g", 3, {}});
    auto waiting = std::make_shared<Waiting>();
    waiting->unschedulable = true;
    waiting->since = clock.WallNow() - waited;
    pod.waiting = std::move(waiting);
    state.UpsertPod(std::move(pod));
  }
  size_t Succeeded() {
    counter.Look({});
    return state.Snapshot()->GangOf("team/g")->succeeded;
  }

  synergy::testing::FakeClock clock;
  ClusterState state;
  size_t done = 2;
  int asked = 0;
  SucceededCounter counter{state,
                           [this](const Pod&) {
                             ++asked;
                             return done;
                           },
                           clock};
};

TEST_F(SucceededCounterTest, CountsForAGangThatMissesMembersTwiceAMinute) {
  Add("g-0");
  EXPECT_EQ(Succeeded(), 2U);
  done = 0;
  EXPECT_EQ(Succeeded(), 2U);
  clock.Advance(std::chrono::seconds(30));
  EXPECT_EQ(Succeeded(), 0U);
  EXPECT_EQ(asked, 2);
}

TEST_F(SucceededCounterTest, AsksNothingAboutAWholeGangOrAYoungOne) {
  Add("g-0", std::chrono::seconds(9));
  EXPECT_EQ(Succeeded(), 0U);
  for (const char* name : {"g-0", "g-1", "g-2"}) Add(name);
  EXPECT_EQ(Succeeded(), 0U);
  EXPECT_EQ(asked, 0);
}

}  // namespace
}  // namespace synergy::controller
