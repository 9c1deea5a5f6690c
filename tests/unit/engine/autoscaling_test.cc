#include "engine/reservations/autoscaling.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using enum NodeGuard;

TEST(AutoscalingTest, OnlyNodesThatDoNotExistYetAreNew) {
  EXPECT_TRUE(ReportsNewNode("TriggeredScaleUp", "pod triggered scale-up: [{gpu 1->2 (max: 9)}]"));
  EXPECT_TRUE(ReportsNewNode("Nominated", "Pod should schedule on: nodeclaim/gpu-x7k2q"));
  EXPECT_FALSE(ReportsNewNode("Nominated", "Pod should schedule on: node/gpu-3"));
  EXPECT_FALSE(ReportsNewNode("Nominated", "Pod should schedule on: nodeclaim/a, node/gpu-3"));
  EXPECT_FALSE(ReportsNewNode("NotTriggerScaleUp", "pod didn't trigger scale-up"));
}

TEST(AutoscalingTest, ANodeIsExpectedForAQuarterOfAnHour) {
  const WallTime reported{1000h};
  EXPECT_TRUE(IsNodeComing(reported, reported));
  EXPECT_TRUE(IsNodeComing(reported, reported + 15min - 1s));
  EXPECT_FALSE(IsNodeComing(reported, reported + 15min));
  EXPECT_TRUE(IsNodeComing(reported, reported - 1s)) << "the clocks differ";
  EXPECT_FALSE(IsNodeComing(reported, WallTime{})) << "a date of the future lasts no longer";
}

std::vector<GpuReservation> ReservedOn(const std::vector<std::string>& nodes) {
  GpuReservation reservation;
  for (const std::string& node : nodes) reservation.places.push_back({node, Gpus(1)});
  return {reservation};
}

TEST(AutoscalingTest, ReservedNodesGetTheGuardsThatTheyLack) {
  const std::vector<GuardedNode> nodes{{"n1", "7", {kNone, kNone}},
                                       {"n2", "8", {kOthers, kNone}},
                                       {"n3", "9", {kOurs, kOthers}},
                                       {"n4", "10", {kNone, kNone}}};
  EXPECT_THAT(PlanNodeGuards(ReservedOn({"n1", "n2", "n3", "gone"}), nodes),
              ElementsAre(NodeGuardChange{"n1", "7", {kNodeGuards[0], kNodeGuards[1]}, {}},
                          NodeGuardChange{"n2", "8", {kNodeGuards[1]}, {}}));
}

TEST(AutoscalingTest, OtherNodesLoseOursOnly) {
  const std::vector<GuardedNode> nodes{{"n1", "7", {kOurs, kOthers}},
                                       {"n2", "8", {kOthers, kNone}}};
  EXPECT_THAT(PlanNodeGuards({}, nodes),
              ElementsAre(NodeGuardChange{"n1", "7", {}, {kNodeGuards[0]}}));
  EXPECT_THAT(PlanNodeGuards(ReservedOn({"n1"}), nodes), IsEmpty());
}

// Tests every state of a node: after a plan is carried out, nothing is left to do. A reserved node
// then has all guards, another node has none of Synergy's, and other clients' guards are unchanged.
TEST(AutoscalingTest, APlanIsDoneOnceItIsCarriedOut) {
  for (const NodeGuard one : {kNone, kOurs, kOthers}) {
    for (const NodeGuard other : {kNone, kOurs, kOthers}) {
      for (const bool is_reserved : {false, true}) {
        const auto reservations = is_reserved ? ReservedOn({"n1"}) : std::vector<GpuReservation>{};
        GuardedNode node{"n1", "7", {one, other}};
        const GuardedNode before = node;
        for (const NodeGuardChange& change : PlanNodeGuards(reservations, std::vector{node})) {
          for (size_t i = 0; i < kNodeGuards.size(); ++i) {
            if (std::ranges::count(change.added, kNodeGuards[i]) > 0) node.guards[i] = kOurs;
            if (std::ranges::count(change.removed, kNodeGuards[i]) > 0) node.guards[i] = kNone;
          }
        }
        EXPECT_THAT(PlanNodeGuards(reservations, std::vector{node}), IsEmpty());
        for (size_t i = 0; i < kNodeGuards.size(); ++i) {
          EXPECT_EQ(node.guards[i] == kOthers, before.guards[i] == kOthers);
          EXPECT_NE(node.guards[i], is_reserved ? kNone : kOurs);
        }
      }
    }
  }
}

}  // namespace
}  // namespace synergy
