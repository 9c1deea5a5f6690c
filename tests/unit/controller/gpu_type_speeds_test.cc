#include "queues/types/gpu_type_speeds.h"

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/cluster/profile_store.h"
#include "support/cluster_vocabulary.h"

namespace synergy::controller {
namespace {

using synergy::testing::Cordoned;
using synergy::testing::Finished;
using synergy::testing::MakeGpuPod;
using synergy::testing::MakeNode;
using synergy::testing::OnNode;
using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr Gpus kOne(1);

class GpuTypeSpeedsTest : public ::testing::Test {
 protected:
  // Returns a profile of `workload` on a GPU of that product.
  static ProfileObject Profile(const std::string& workload, const std::string& product,
                               double speed) {
    ProfileObject profile;
    profile.uid = profile.name = workload + "-" + product;
    profile.profile_namespace = "team";
    profile.workload = workload;
    profile.training.gpu_product = product;
    profile.profile =
        std::make_shared<const JobProfile>(*JobProfile::Create(kOne, {{Cores(1), GB(1), speed}}));
    return profile;
  }
  static ProfileObject Measured(ProfileObject profile) {
    profile.name += "-measured";
    profile.measured = MeasuredProfile{.workload = profile.workload,
                                       .gpu_product = profile.training.gpu_product,
                                       .node = {},
                                       .note = {}};
    return profile;
  }
  static Workload Job(const std::string& alike, int64_t pods = 1, Gpus gpus = kOne) {
    Workload job;
    job.workload_namespace = "team";
    job.alike = alike;
    job.pods = pods;
    job.pod_gpus = gpus;
    return job;
  }
  // Returns "V100 4, P100 2?", in which a question mark means an estimate.
  std::string Speeds(const Workload& job,
                     const std::vector<std::string>& products = {"V100", "P100", "K80"}) const {
    std::vector<std::string> texts;
    const std::vector<TypeSpeed> speeds = facts.SpeedsOf(job, products);
    for (size_t at = 0; at < products.size(); ++at) {
      texts.push_back(fmt::format("{} {:.4g}{}", products[at], speeds[at].throughput,
                                  speeds[at].estimate ? "?" : ""));
    }
    return fmt::format("{}", fmt::join(texts, ", "));
  }
  void Know(const std::string& workload,
            const std::vector<std::pair<std::string, double>>& speeds) {
    for (const auto& [product, speed] : speeds) profiles.Upsert(Profile(workload, product, speed));
  }

  ClusterState state;
  ProfileStore profiles{0.1};
  // All nodes are tainted, and none has an H100.
  GpuTypeSpeeds facts{
      state, profiles, [](const NodeSelection& selection, Gpus gpus, const std::string& product) {
        const bool may_go = MayGoTo(selection, "n", {}, {{"nvidia.com/gpu", "", "NoSchedule"}});
        return product == "H100" || !may_go ? std::nullopt
                                            : std::optional(ResourceVector{gpus, Cores(4), GB(40)});
      }};
};

TEST_F(GpuTypeSpeedsTest, AllProductsAreEqualWithoutData) {
  EXPECT_EQ(Speeds(Job("a")), "V100 1?, P100 1?, K80 1?");
  EXPECT_THAT(facts.MeanSpeeds({"V100", "K80"}), ElementsAre(0, 0));
}

TEST_F(GpuTypeSpeedsTest, LatestProgressWeighsAsMuchAsAllBefore) {
  facts.Learn(Job("a"), "V100", 10);
  EXPECT_EQ(Speeds(Job("a")), "V100 10, P100 10?, K80 10?");
  facts.Learn(Job("a"), "V100", 20);
  EXPECT_EQ(Speeds(Job("a")), "V100 15, P100 15?, K80 15?");
  facts.Learn(Job("a"), "V100", 5);
  facts.Learn(Job("a"), "K80", 4);
  EXPECT_EQ(Speeds(Job("a")), "V100 10, P100 7?, K80 4");
}

TEST_F(GpuTypeSpeedsTest, ProgressWithoutSpeedOrProductIsIgnored) {
  for (const double impossible : {0.0, 5e-320, 1e300, std::nan("")})
    facts.Learn(Job("a"), "V100", impossible);
  facts.Learn(Job("a"), "", 10);
  EXPECT_EQ(Speeds(Job("a")), "V100 1?, P100 1?, K80 1?");
}

TEST_F(GpuTypeSpeedsTest, JoinsProgressAndProfilesByCommonProducts) {
  Know("a", {{"V100", 4}, {"P100", 2}, {"K80", 1}});
  EXPECT_EQ(Speeds(Job("a")), "V100 4, P100 2, K80 1");
  facts.Learn(Job("a"), "P100", 100);
  EXPECT_EQ(Speeds(Job("a")), "V100 200, P100 100, K80 50");
  // The speeds 75 and 50 are iterations per unit of the profiles.
  facts.Learn(Job("a"), "V100", 300);
  EXPECT_EQ(Speeds(Job("a")), "V100 300, P100 100, K80 62.5");
}

TEST_F(GpuTypeSpeedsTest, WithoutACommonProductTheLargerSourceCounts) {
  Know("a", {{"V100", 4}, {"P100", 2}});
  facts.Learn(Job("a"), "K80", 50);
  EXPECT_EQ(Speeds(Job("a")), "V100 4, P100 2, K80 3?");
  Know("b", {{"V100", 4}});
  facts.Learn(Job("b"), "K80", 50);
  EXPECT_EQ(Speeds(Job("b"), {"V100", "K80"}), "V100 50?, K80 50");
}

TEST_F(GpuTypeSpeedsTest, MeasuredProfilePrecedesTheWrittenOne) {
  Know("a", {{"V100", 4}});
  profiles.Upsert(Measured(Profile("a", "V100", 6)));
  EXPECT_EQ(Speeds(Job("a"), {"V100"}), "V100 6");
  ProfileObject last = Profile("a", "V100", 5);
  last.name = "zzz";
  profiles.Upsert(last);
  EXPECT_EQ(Speeds(Job("a"), {"V100"}), "V100 6");
}

TEST_F(GpuTypeSpeedsTest, EstimatesUnknownSpeedsFromOtherJobs) {
  Know("b", {{"V100", 4}, {"P100", 2}, {"K80", 1}});
  Know("a", {{"V100", 8}});
  EXPECT_EQ(Speeds(Job("a")), "V100 8, P100 4?, K80 2?");
  EXPECT_EQ(Speeds(Job("stranger"), {"V100", "K80"}), "V100 1.3?, K80 0.4?");
  EXPECT_THAT(facts.MeanSpeeds({"V100", "P100", "K80"}), ElementsAre(1, 0.5, 0.25));
}

TEST_F(GpuTypeSpeedsTest, ProfileOfOnePodOrGpuRanksProducts) {
  Know("a", {{"V100", 4}, {"K80", 1}});
  EXPECT_EQ(Speeds(Job("a", 2, Gpus(4)), {"V100", "K80"}), "V100 4, K80 1");
  facts.Learn(Job("a", 2, Gpus(4)), "K80", 30);
  EXPECT_EQ(Speeds(Job("a", 2, Gpus(4)), {"K80"}), "K80 30");
  EXPECT_EQ(Speeds(Job("a"), {"K80"}), "K80 1");
}

TEST_F(GpuTypeSpeedsTest, ProfilesOfANamespaceAreItsOwn) {
  Know("a", {{"V100", 4}, {"K80", 1}});
  Workload stranger = Job("a");
  stranger.workload_namespace = "others";
  EXPECT_EQ(Speeds(stranger, {"V100", "K80"}), "V100 1.6?, K80 0.4?");
}

TEST_F(GpuTypeSpeedsTest, NoNamespaceDistortsTheEstimatesOfTheOthers) {
  Know("a", {{"V100", 8}});
  Know("b", {{"V100", 4}, {"K80", 1}});
  for (const auto& [tenant, kinds] : std::map<std::string, int>{{"honest", 1}, {"loud", 20}}) {
    for (int kind = 0; kind < kinds; ++kind) {
      for (const auto& [product, speed] : std::map<std::string, double>{{"V100", 4}, {"K80", 1}}) {
        const bool lies = tenant == "loud" && product == "K80";
        ProfileObject profile = Profile("c" + std::to_string(kind), product, lies ? 1e18 : speed);
        profile.profile_namespace = tenant;
        profile.uid += tenant;
        profiles.Upsert(profile);
      }
    }
  }
  EXPECT_EQ(Speeds(Job("a"), {"V100", "K80"}), "V100 8, K80 2?");
  EXPECT_THAT(facts.MeanSpeeds({"V100", "K80"}), ElementsAre(1, 0.25));
}

TEST_F(GpuTypeSpeedsTest, ProductsDifferByAHundredTimesAtMost) {
  Know("a", {{"V100", 1}, {"K80", 1e18}});
  EXPECT_EQ(Speeds(Job("a"), {"V100", "K80"}), "V100 1e+16, K80 1e+18");
}

TEST_F(GpuTypeSpeedsTest, ForgetsTheKindThatWasNotSeenForTheLongestTime) {
  facts.Learn(Job("first"), "K80", 10);
  facts.Learn(Job("second"), "K80", 10);
  facts.Learn(Job("first"), "K80", 10);
  for (size_t kind = 2; kind <= GpuTypeSpeeds::kMostLearned; ++kind)
    facts.Learn(Job(std::to_string(kind)), "K80", 10);
  EXPECT_EQ(Speeds(Job("first"), {"K80"}), "K80 10");
  EXPECT_EQ(Speeds(Job("second"), {"K80"}), "K80 1?");
}

TEST_F(GpuTypeSpeedsTest, IncompleteProfileIsIgnored) {
  Know("", {{"V100", 4}});
  Know("a", {{"", 4}, {"H100", 9}});
  EXPECT_EQ(Speeds(Job("a"), {"V100", "H100"}), "V100 1?, H100 1?");
}

TEST_F(GpuTypeSpeedsTest, ProductsNamedByTheUserForbidTheOthers) {
  Know("a", {{"V100", 4}, {"P100", 2}, {"K80", 1}});
  Workload job = Job("a");
  job.products = {"K80", "P100"};
  EXPECT_EQ(Speeds(job), "V100 0, P100 2, K80 1");
  job.products->clear();
  EXPECT_EQ(Speeds(job), "V100 0, P100 0, K80 0");
}

TEST_F(GpuTypeSpeedsTest, ForbidsProductsWithoutAnEligibleNode) {
  Know("a", {{"V100", 4}, {"P100", 2}, {"K80", 1}});
  const auto add = [&](const std::string& name, const std::string& product, const char* pool) {
    Node node = MakeNode(name, {Gpus(4), Cores(16), GB(160)});
    node.gpu_kinds.products = {product};
    node.labels = {{"nvidia.com/gpu.product", product}, {"pool", pool}};
    // A flavor may have a toleration for this taint.
    node.taints = {{"dedicated", "training", "NoSchedule"}};
    state.UpsertNode(std::move(node));
  };
  add("one", "V100", "research");
  add("two", "V100", "research");
  add("three", "P100", "production");
  add("four", "K80", "production");
  Workload job = Job("a");
  NodeSelection not_old;
  not_old.has_affinity = true;
  not_old.terms = {{{.key = "nvidia.com/gpu.product",
                     .op = NodeRequirement::Operator::kNotIn,
                     .values = {"K80"}}}};
  job.selections = {not_old};
  EXPECT_EQ(Speeds(job), "V100 4, P100 2, K80 0");
  NodeSelection in_production;
  in_production.node_selector = {{"pool", "production"}};
  job.selections = {in_production};
  EXPECT_EQ(Speeds(job), "V100 0, P100 2, K80 1");
  job.selections = {in_production, not_old};
  EXPECT_EQ(Speeds(job), "V100 0, P100 2, K80 0");
}

TEST_F(GpuTypeSpeedsTest, AProfileNamesItsWorkloadAndForbidsOtherProducts) {
  Know("a", {{"V100", 4}, {"P100", 2}});
  Workload job = Job("something else");
  job.profile = "a-P100";
  EXPECT_EQ(Speeds(job), "V100 0, P100 2, K80 0");
  EXPECT_EQ(facts.ProductOfProfile(job), "P100");
  EXPECT_EQ(Speeds(job, {"V100", "K80"}), "V100 4, K80 4?") << "no node has its product";
  job.profile = "missing";
  EXPECT_EQ(facts.ProductOfProfile(job), "");
}

TEST_F(GpuTypeSpeedsTest, GpusAreCountedByProductAndThoseThatOthersHaveAreLeftOut) {
  const auto add = [&](Node node, std::vector<std::string> products) {
    if (!products.empty()) node.labels = {{"nvidia.com/gpu.product", products.front()}};
    node.gpu_kinds.products = std::move(products);
    state.UpsertNode(std::move(node));
  };
  const ResourceVector size{Gpus(4), Cores(16), GB(160)};
  add(MakeNode("a", size), {"V100"});
  add(MakeNode("b", size), {"V100"});
  add(MakeNode("c", size), {"K80"});
  add(Cordoned(MakeNode("cordoned", size)), {"K80"});
  add(MakeNode("mixed", size), {"K80", "V100"});
  // A cloud's label names the product, so a job's node selector cannot name it.
  Node unselectable = MakeNode("unselectable", size);
  unselectable.gpu_kinds.products = {"V100"};
  unselectable.labels = {{"cloud.google.com/gke-accelerator", "nvidia-tesla-v100"}};
  state.UpsertNode(unselectable);
  add(MakeNode("untold", size), {});
  add(MakeNode("without", {Gpus(0), Cores(16), GB(160)}), {"P100"});
  state.UpsertPod(OnNode(MakeGpuPod("ours", 2), "a"));
  state.UpsertPod(OnNode(MakeGpuPod("another's", 1), "a"));
  state.UpsertPod(Finished(OnNode(MakeGpuPod("ended", 1), "b")));
  EXPECT_THAT(facts.Count({"ours"}), UnorderedElementsAre(Pair("V100", ProductGpus{7, 5, 8}),
                                                          Pair("K80", ProductGpus{4, 4, 4})));
  EXPECT_THAT(facts.Count({}), UnorderedElementsAre(Pair("V100", ProductGpus{5, 5, 8}),
                                                    Pair("K80", ProductGpus{4, 4, 4})));
  EXPECT_EQ(facts.ProductOf("b"), "V100");
  EXPECT_EQ(facts.ProductOf("mixed"), "");
  EXPECT_EQ(facts.ProductOf("missing"), "");
}

}  // namespace
}  // namespace synergy::controller
