#include "cluster/node_selection.h"

#include <gtest/gtest.h>

namespace synergy {
namespace {

using Operator = NodeRequirement::Operator;

const Labels kLabels = {{"gpus", "8"}, {"product", "V100"}};

bool MayGo(const NodeSelection& selection, const std::vector<Taint>& taints = {}) {
  return MayGoTo(selection, "n1", kLabels, taints);
}

NodeSelection Requiring(NodeRequirement requirement) {
  return {.has_affinity = true, .terms = {{std::move(requirement)}}};
}

TEST(MayGoTo, AcceptsAnyNodeForAPodWithoutConstraints) { EXPECT_TRUE(MayGo({})); }

TEST(MayGoTo, NeedsEveryLabelOfTheNodeSelector) {
  EXPECT_TRUE(MayGo({.node_selector = {{"product", "V100"}}}));
  EXPECT_FALSE(MayGo({.node_selector = {{"product", "A100"}}}));
  EXPECT_FALSE(MayGo({.node_selector = {{"zone", ""}}}));
}

TEST(MayGoTo, NeedsOneTermOfTheAffinity) {
  EXPECT_TRUE(MayGo(Requiring({"product", Operator::kIn, {"A100", "V100"}})));
  EXPECT_FALSE(MayGo(Requiring({"product", Operator::kNotIn, {"V100"}})));
  EXPECT_TRUE(MayGo(Requiring({"zone", Operator::kNotIn, {"a"}})));
  EXPECT_TRUE(MayGo(Requiring({"gpus", Operator::kExists, {}})));
  EXPECT_FALSE(MayGo(Requiring({"gpus", Operator::kDoesNotExist, {}})));
  EXPECT_TRUE(MayGo(Requiring({"gpus", Operator::kGt, {"7"}})));
  EXPECT_FALSE(MayGo(Requiring({"gpus", Operator::kLt, {"8"}})));
  EXPECT_FALSE(MayGo(Requiring({"product", Operator::kGt, {"7"}})));
  EXPECT_TRUE(MayGo(Requiring({"metadata.name", Operator::kIn, {"n1"}, true})));
  EXPECT_FALSE(MayGo(Requiring({"metadata.name", Operator::kIn, {"n2"}, true})));
  EXPECT_FALSE(MayGo(Requiring({"product", Operator::kUnknown, {"V100"}})));
}

TEST(MayGoTo, NowhereWithAnAffinityWithoutTerms) {
  EXPECT_FALSE(MayGo({.has_affinity = true}));
  EXPECT_FALSE(MayGo({.has_affinity = true, .terms = {{}}}));
}

TEST(MayGoTo, NeedsATolerationForEveryTaintThatKeepsPodsAway) {
  const std::vector<Taint> taints = {{"gpu", "yes", "NoSchedule"}, {"x", "", "PreferNoSchedule"}};
  EXPECT_FALSE(MayGo({}, taints));
  EXPECT_TRUE(MayGo({.tolerations = {{"gpu", "yes", "NoSchedule", false}}}, taints));
  EXPECT_TRUE(MayGo({.tolerations = {{"gpu", "", "", true}}}, taints));
  EXPECT_TRUE(MayGo({.tolerations = {{"", "", "", true}}}, taints));
  EXPECT_FALSE(MayGo({.tolerations = {{"gpu", "no", "", false}}}, taints));
  EXPECT_FALSE(MayGo({.tolerations = {{"gpu", "yes", "NoExecute", false}}}, taints));
  EXPECT_FALSE(MayGo({.tolerations = {{"", "yes", "", false}}}, taints));
}

}  // namespace
}  // namespace synergy
