#include "controller/cluster/cluster_view.h"

#include <string>

#include <gtest/gtest.h>

#include "unit/controller/profiling_fixture.h"

namespace synergy::controller {
namespace {

class ClusterViewTest : public ProfilingFixture {
 protected:
  // Returns the product of the profile that is found, or "none".
  std::string Found(const std::string& wanted, const NodeSelection& selection = {}) {
    const auto known = view.FindMeasured("team", "bert", Gpus(1), 1, wanted, selection);
    return known == nullptr ? "none" : known->object.measured->gpu_product;
  }
};

TEST_F(ClusterViewTest, WhatWasMeasuredOnOneProductIsFoundWithoutNamingIt) {
  EXPECT_EQ(Found(""), "none");
  HaveMeasured(MeasuredBert());
  EXPECT_EQ(Found(""), "A100");
  EXPECT_EQ(Found("A100"), "A100");
  EXPECT_EQ(Found("V100"), "none");
}

TEST_F(ClusterViewTest, OfSeveralTheOneOfTheNodesThatThePodMayGoToIsFound) {
  HaveMeasured(MeasuredBert());
  HaveMeasured(MeasuredBert(1, "V100"));
  EXPECT_EQ(Found(""), "A100") << "the only GPUs there are";
  Node other = synergy::testing::NodeOfFour("n2");
  other.gpu_kinds.products = {"V100"};
  other.labels = {{"pool", "old"}};
  state.UpsertNode(other);
  EXPECT_EQ(Found(""), "none") << "it may be either";
  EXPECT_EQ(Found("", {.node_selector = {{"pool", "old"}}}), "V100");
  EXPECT_EQ(Found("V100"), "V100");
}

}  // namespace
}  // namespace synergy::controller
