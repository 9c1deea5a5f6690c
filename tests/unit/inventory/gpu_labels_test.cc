#include "inventory/gpu_labels.h"

#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "inventory/node_labels.h"

namespace synergy::testing {
namespace {

using LabelMap = std::map<std::string, std::string, std::less<>>;

constexpr char kGke[] = "cloud.google.com/gke-accelerator";
constexpr char kKarpenter[] = "karpenter.k8s.aws/instance-gpu-name";
constexpr char kMaker[] = "karpenter.k8s.aws/instance-gpu-manufacturer";
constexpr char kMemory[] = "karpenter.k8s.aws/instance-gpu-memory";
constexpr char kEks[] = "k8s.amazonaws.com/accelerator";
constexpr char kType[] = "node.kubernetes.io/instance-type";

std::string ProductOf(const LabelMap& labels) {
  return ProductByLabels([&](std::string_view key) -> std::string_view {
    const auto found = labels.find(key);
    return found == labels.end() ? std::string_view() : std::string_view(found->second);
  });
}

TEST(GpuLabelsTest, EachCloudsLabelsNameTheProductAsFeatureDiscoveryDoes) {
  const std::vector<std::pair<LabelMap, std::string>> cases = {
      {{}, ""},
      {{{"nvidia.com/gpu.product", "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb"}},
       "NVIDIA-A100-SXM4-80GB-MIG-1g.10gb"},
      {{{kGke, "nvidia-tesla-t4"}}, "Tesla-T4"},
      {{{kGke, "nvidia-h100-mega-80gb"}}, "NVIDIA-H100-80GB-HBM3"},
      {{{kGke, "nvidia-tesla-a100"}, {"cloud.google.com/gke-gpu-partition-size", "1g.5gb"}},
       "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb"},
      {{{kGke, "nvidia-l4"}, {"cloud.google.com/gke-gpu-sharing-strategy", "time-sharing"}},
       "NVIDIA-L4-SHARED"},
      {{{kGke, "nvidia-of-tomorrow"}}, "nvidia-of-tomorrow"},
      {{{kKarpenter, "a100"}, {kMaker, "nvidia"}, {kMemory, "40960"}}, "NVIDIA-A100-SXM4-40GB"},
      {{{kKarpenter, "a100"}, {kMaker, "nvidia"}, {kMemory, "81920"}}, "NVIDIA-A100-SXM4-80GB"},
      {{{kKarpenter, "v100"}, {kMaker, "nvidia"}, {kMemory, "32768"}}, "Tesla-V100-SXM2-32GB"},
      {{{kKarpenter, "v100"}, {kMaker, "nvidia"}, {kMemory, "?"}}, "Tesla-V100-SXM2-16GB"},
      {{{kKarpenter, "l4"}, {kMaker, "nvidia"}}, "NVIDIA-L4"},
      {{{kKarpenter, "gaudi-hl-205"}, {kMaker, "habana"}}, ""},
      {{{kEks, "nvidia-tesla-v100"}}, "Tesla-V100-SXM2-16GB"},
      {{{kType, "Standard_ND96isr_H100_v5"}}, "NVIDIA-H100-80GB-HBM3"},
      {{{kType, "Standard_NC24ads_A100_v4"}}, "NVIDIA-A100-80GB-PCIe"},
      {{{kType, "Standard_NC24rs_v3"}}, "Tesla-V100-PCIE-16GB"},
      {{{kType, "Standard_NV6ads_A10_v5"}}, ""},  // a sixth of a GPU
      {{{kType, "Standard_D8s_v5"}}, ""},
      {{{kType, "p4d.24xlarge"}}, "NVIDIA-A100-SXM4-40GB"},
      {{{kType, "p4de.24xlarge"}}, "NVIDIA-A100-SXM4-80GB"},
      {{{kType, "p5en.48xlarge"}}, "NVIDIA-H200"},
      {{{kType, "g6.2xlarge"}}, "NVIDIA-L4"},
      {{{kType, "g6e.2xlarge"}}, "NVIDIA-L40S"},
      {{{kType, "a2-ultragpu-8g"}}, "NVIDIA-A100-SXM4-80GB"},
      {{{kType, "m7i.large"}}, ""},
  };
  for (const auto& [labels, product] : cases)
    EXPECT_EQ(ProductOf(labels), product) << (labels.empty() ? "" : labels.begin()->second);
}

// Labels in the order of precedence, each with values that name a product.
const std::vector<std::vector<LabelMap>> kSources = {
    {{{"nvidia.com/gpu.product", "NVIDIA-A10"}}, {{"nvidia.com/gpu.product", "Tesla-K80"}}},
    {{{kGke, "nvidia-tesla-p100"}}, {{kGke, "nvidia-b200"}}, {{kGke, "nvidia-new"}}},
    {{{kKarpenter, "t4"}, {kMaker, "nvidia"}, {kMemory, "16384"}},
     {{kKarpenter, "a100"}, {kMaker, "nvidia"}, {kMemory, "81920"}},
     {{kKarpenter, "new"}, {kMaker, "nvidia"}}},
    {{{kEks, "nvidia-l4"}}, {{kEks, "nvidia-tesla-a100"}}},
    {{{kType, "p3dn.24xlarge"}}, {{kType, "Standard_ND40rs_v2"}}, {{kType, "g2-standard-4"}}},
};

// Among any labels, the first source that exists decides. The product is a valid label value, so
// that a pod can name it.
TEST(GpuLabelsTest, TheFirstSourceDecidesAmongAnyLabels) {
  std::mt19937 random(11);
  for (int round = 0; round < 2000; ++round) {
    LabelMap labels = {{"kubernetes.io/arch", "amd64"}, {"nvidia.com/gpu.count", "8"}};
    std::string expected;
    for (const std::vector<LabelMap>& source : kSources) {
      if (random() % 2 == 0) continue;
      const LabelMap& chosen = source[random() % source.size()];
      labels.insert(chosen.begin(), chosen.end());
      if (expected.empty()) expected = ProductOf(chosen);
      ASSERT_FALSE(expected.empty());
    }
    const std::string product = ProductOf(labels);
    EXPECT_EQ(product, expected);
    EXPECT_EQ(product, ToLabelValue(product));
  }
}

TEST(GpuLabelsTest, ArbitraryValuesHarmNothing) {
  std::mt19937 random(13);
  const std::vector<std::string> keys = {kGke, kKarpenter, kMemory, kEks, kType};
  for (int round = 0; round < 2000; ++round) {
    LabelMap labels = {{kMaker, "nvidia"}};
    for (const std::string& key : keys) {
      std::string value;
      for (size_t left = random() % 80; left > 0; --left)
        value += static_cast<char>(random() % 256);
      labels[key] = value;
    }
    const std::string product = ProductOf(labels);
    EXPECT_EQ(product, ToLabelValue(product));
  }
}

}  // namespace
}  // namespace synergy::testing
