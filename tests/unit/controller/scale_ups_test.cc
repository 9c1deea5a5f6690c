#include "controller/preemption/scale_ups.h"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

namespace synergy::controller {
namespace {

using namespace std::chrono_literals;

constexpr WallTime kReported{1000h};

wire::EventAboutPod ScaleUpFor(const std::string& pod, WallTime reported = kReported,
                               const std::string& its_namespace = "team") {
  wire::EventAboutPod event;
  event.pod_namespace = its_namespace;
  event.pod_uid = pod;
  event.reason = "TriggeredScaleUp";
  event.last = reported;
  return event;
}

bool IsComing(const ScaleUps& scale_ups, const std::string& uid, WallTime now = kReported) {
  Pod pod;
  pod.pod_namespace = "team";
  pod.uid = uid;
  return scale_ups.IsNodeComingFor(pod, now);
}

TEST(ScaleUpsTest, TheNewestEventOfAPodCounts) {
  ScaleUps scale_ups;
  scale_ups.Replace({ScaleUpFor("a", kReported + 10min), ScaleUpFor("a")});
  EXPECT_TRUE(IsComing(scale_ups, "a", kReported + 20min));
  EXPECT_FALSE(IsComing(scale_ups, "a", kReported + 25min));
  EXPECT_FALSE(IsComing(scale_ups, "b"));
  scale_ups.Remove(ScaleUpFor("a"));
  EXPECT_TRUE(IsComing(scale_ups, "a")) << "only the older event went";
  scale_ups.Remove(ScaleUpFor("a", kReported + 10min));
  EXPECT_FALSE(IsComing(scale_ups, "a"));
  scale_ups.Upsert(ScaleUpFor("b"));
  EXPECT_TRUE(IsComing(scale_ups, "b"));
  scale_ups.Replace({});
  EXPECT_FALSE(IsComing(scale_ups, "b"));
}

TEST(ScaleUpsTest, EventsOfAnotherNamespaceDoNotCount) {
  ScaleUps scale_ups;
  scale_ups.Upsert(ScaleUpFor("a", kReported, "hostile"));
  EXPECT_FALSE(IsComing(scale_ups, "a"));
  scale_ups.Upsert(ScaleUpFor("a"));
  scale_ups.Remove(ScaleUpFor("a", kReported, "hostile"));
  EXPECT_TRUE(IsComing(scale_ups, "a"));
}

TEST(ScaleUpsTest, AFloodInOneNamespaceLeavesTheOthers) {
  ScaleUps scale_ups;
  for (size_t i = 0; i <= ScaleUps::kMostOfNamespace; ++i) {
    scale_ups.Upsert(ScaleUpFor(std::to_string(i), kReported, "hostile"));
    scale_ups.Upsert(ScaleUpFor(std::to_string(i)));
  }
  EXPECT_TRUE(IsComing(scale_ups, "0"));
  EXPECT_FALSE(IsComing(scale_ups, std::to_string(ScaleUps::kMostOfNamespace))) << "bounded";
}

}  // namespace
}  // namespace synergy::controller
