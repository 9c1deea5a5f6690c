#include "wire/objects/node_guards.h"

#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "wire/objects/objects.h"

namespace synergy::wire {
namespace {

using enum NodeGuard;

// Returns a node with cluster-autoscaler's guard, written by `manager`.
GuardedNode GuardedBy(std::string_view manager, std::string_view subresource = "") {
  const auto page = ObjectReader().ReadList<GuardedNode>(fmt::format(
      R"({{"metadata":{{}},"items":[{{"metadata":{{"name":"n1","uid":"u","resourceVersion":"7",)"
      R"("annotations":{{"cluster-autoscaler.kubernetes.io/scale-down-disabled":"true","x":"y"}},)"
      R"("managedFields":[{{"manager":"{}","operation":"Update","subresource":"{}",)"
      R"("time":"2026-11-21T13:05:00Z","fieldsV1":{{"f:metadata":{{"f:annotations":)"
      R"({{"f:cluster-autoscaler.kubernetes.io/scale-down-disabled":{{}}}}}}}}}}]}}}}]}})",
      manager, subresource));
  EXPECT_TRUE(page) << page.error().message;
  return page->items.at(0);
}

TEST(NodeGuardsTest, OnlyWhatSynergyWroteIsOurs) {
  EXPECT_EQ(GuardedBy("synergy"), (GuardedNode{"n1", "7", {kOurs, kNone}}));
  EXPECT_EQ(GuardedBy("kubectl-annotate"), (GuardedNode{"n1", "7", {kOthers, kNone}}));
  EXPECT_EQ(GuardedBy("synergy", "status"), (GuardedNode{"n1", "7", {kOthers, kNone}}));
}

TEST(NodeGuardsTest, APatchNamesTheVersionThatItWasPlannedBy) {
  EXPECT_EQ(WriteNodeGuards({"n1", "7", {kNodeGuards[0]}, {kNodeGuards[1]}}),
            R"({"metadata":{"resourceVersion":"7","annotations":)"
            R"({"cluster-autoscaler.kubernetes.io/scale-down-disabled":"true",)"
            R"("karpenter.sh/do-not-disrupt":null}}})");
}

}  // namespace
}  // namespace synergy::wire
