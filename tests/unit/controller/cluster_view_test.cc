#include "controller/cluster/cluster_view.h"

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "unit/controller/profiling_fixture.h"

namespace synergy::controller {
namespace {

class ClusterViewTest : public ProfilingFixture {
 protected:
  // Returns the GPU product of the profile that is found, or "none".
  std::string Found(const std::string& wanted, const NodeSelection& selection = {}) {
    const auto known =
        view.FindMeasured("team", {"bert", {}}, Gpus(1), 1, wanted, selection).profile;
    return known == nullptr ? "none" : known->object.measured->gpu_product;
  }
};

TEST_F(ClusterViewTest, FindsAMeasuredProfileWithoutANamedProduct) {
  EXPECT_EQ(Found(""), "none");
  HaveMeasured(MeasuredBert());
  EXPECT_EQ(Found(""), "A100");
  EXPECT_EQ(Found("A100"), "A100");
  EXPECT_EQ(Found("V100"), "none");
}

TEST_F(ClusterViewTest, FindsTheProfileForProductsOfEligibleNodes) {
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

TEST_F(ClusterViewTest, AHintIsFoundWhereNothingIsKnownOfTheWorkloadItself) {
  const auto found = [this](const std::string& name_space, const std::string& exact,
                            LooserIdentities alike) {
    return view.FindMeasured(name_space, {exact, std::move(alike)}, Gpus(1), 1, "", {});
  };
  const LooserIdentities both{.arguments = "a-0123456789abcdef", .owner = "o-0123456789abcdef"};
  MeasuredProfile bert = MeasuredBert();
  bert.alike = both;
  HaveMeasured(bert);
  EXPECT_EQ(found("team", "gpt", both).profile, nullptr) << "it is not confirmed";
  bert.confirmed = true;
  HaveMeasured(bert);
  EXPECT_EQ(found("team", "bert", both).by_looser, std::nullopt);
  EXPECT_NE(found("team", "bert", both).profile, nullptr);
  EXPECT_EQ(found("team", "gpt", both).by_looser, LooserIdentity::kArguments);
  EXPECT_EQ(found("team", "gpt", {.arguments = "a-1", .owner = both.owner}).by_looser,
            LooserIdentity::kOwner);
  EXPECT_EQ(found("team", "gpt", {}).profile, nullptr);
  EXPECT_EQ(found("other", "gpt", both).profile, nullptr) << "never of another namespace";

  MeasuredProfile newer = bert;
  newer.workload = "newer";
  newer.at += std::chrono::minutes(1);
  HaveMeasured(newer);
  EXPECT_EQ(found("team", "gpt", both).profile->object.workload, "newer");
  newer.drifted = true;
  HaveMeasured(newer);
  EXPECT_EQ(found("team", "gpt", both).profile->object.workload, "bert");
  profiles.Remove(profiles.Find("team", name_)->object);
  EXPECT_EQ(found("team", "gpt", both).profile, nullptr);
}

}  // namespace
}  // namespace synergy::controller
