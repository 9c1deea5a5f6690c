#include "nodeagent/memory/shrink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/nodeagent/shrinking_pod.h"

namespace synergy::nodeagent {
namespace {

using ::testing::SizeIs;

TEST(ShrinkOfTest, IsTheRequestedCutNotYetInForce) {
  const auto shrink = ShrinkOf(ShrinkingPod());
  ASSERT_TRUE(shrink);
  ASSERT_THAT(shrink->containers, SizeIs(1));
  EXPECT_EQ(shrink->containers[0].from, MiB(200));
  EXPECT_EQ(shrink->containers[0].to, MiB(100));
  EXPECT_EQ(shrink->pod_by, MiB(100));
  EXPECT_EQ(Describe(*shrink), "train from 200.0 MiB to 100.0 MiB");
}

TEST(ShrinkOfTest, GrowthOfAnotherContainerCountsForThePod) {
  wire::ResizeStatus pod = ShrinkingPod();
  pod.containers.push_back({"other", "containerd://1f", MiB(80), MiB(20)});
  const auto shrink = ShrinkOf(pod);
  ASSERT_TRUE(shrink);
  EXPECT_THAT(shrink->containers, SizeIs(1));
  EXPECT_EQ(shrink->pod_by, MiB(40));
}

TEST(ShrinkOfTest, OthersPodsAreLeftAlone) {
  wire::ResizeStatus pod = ShrinkingPod();
  pod.managed = false;
  EXPECT_FALSE(ShrinkOf(pod));
}

TEST(ShrinkOfTest, IsNoneUnlessAResizeIsInProgress) {
  const auto changed = [](auto change) {
    wire::ResizeStatus pod = ShrinkingPod();
    change(pod);
    return ShrinkOf(pod).has_value();
  };
  EXPECT_TRUE(changed([](auto&) {}));
  EXPECT_FALSE(changed([](auto& pod) { pod.resize_in_progress.reset(); }));
  EXPECT_FALSE(changed([](auto& pod) { pod.resize_pending.emplace(); }));
  EXPECT_FALSE(changed([](auto& pod) { pod.terminal = true; }));
  EXPECT_FALSE(changed([](auto& pod) { pod.deleting = true; }));
  EXPECT_FALSE(changed([](auto& pod) { pod.containers[0].id.clear(); }));
  EXPECT_FALSE(changed([](auto& pod) { pod.containers[0].memory_limit = MiB(300); }));
  EXPECT_FALSE(changed([](auto& pod) { pod.containers[0].memory_limit.reset(); }));
  EXPECT_FALSE(changed([](auto& pod) { pod.containers[0].memory_limit_in_force.reset(); }));
  EXPECT_FALSE(changed([](auto& pod) { pod.containers[0].memory_limit = Bytes(-1); }));
}

TEST(MarginRuleTest, IsAPartOfTheLimitUpToABound) {
  const MarginRule rule{10, MiB(64)};
  EXPECT_EQ(rule.Of(Bytes(1000)), Bytes(100));
  EXPECT_EQ(rule.Of(GiB(10)), MiB(64));
  EXPECT_EQ(rule.Of(Bytes(INT64_MAX)), MiB(64));
  EXPECT_EQ((MarginRule{0, MiB(64)}.Of(GiB(10))), Bytes(0));
}

}  // namespace
}  // namespace synergy::nodeagent
