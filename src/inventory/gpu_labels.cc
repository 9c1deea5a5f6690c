#include "inventory/gpu_labels.h"

#include <array>
#include <charconv>
#include <span>

#include "inventory/advertisement.h"
#include "inventory/node_labels.h"

namespace synergy {
namespace {

struct Product {
  std::string_view pattern;  // with * and ?; the first match counts
  std::string_view product;
};

// https://cloud.google.com/kubernetes-engine/docs/how-to/gpus, "GPU types". eksctl uses
// the same names: https://github.com/eksctl-io/eksctl (pkg/nodebootstrap).
constexpr std::array kAccelerators = {
    Product{"nvidia-gb200", "NVIDIA-GB200"},
    Product{"nvidia-b200", "NVIDIA-B200"},
    Product{"nvidia-h200-141gb", "NVIDIA-H200"},
    Product{"nvidia-h100-80gb", "NVIDIA-H100-80GB-HBM3"},
    Product{"nvidia-h100-mega-80gb", "NVIDIA-H100-80GB-HBM3"},
    Product{"nvidia-a100-80gb", "NVIDIA-A100-SXM4-80GB"},
    Product{"nvidia-tesla-a100", "NVIDIA-A100-SXM4-40GB"},
    Product{"nvidia-l4", "NVIDIA-L4"},
    Product{"nvidia-tesla-t4", "Tesla-T4"},
    Product{"nvidia-tesla-v100", "Tesla-V100-SXM2-16GB"},
    Product{"nvidia-tesla-p100", "Tesla-P100-PCIE-16GB"},
    Product{"nvidia-tesla-p4", "Tesla-P4"},
};

// https://karpenter.sh/docs/reference/instance-types/, label karpenter.k8s.aws/instance-gpu-name.
constexpr std::array kAmazonGpus = {
    Product{"b200", "NVIDIA-B200"},
    Product{"h200", "NVIDIA-H200"},
    Product{"h100", "NVIDIA-H100-80GB-HBM3"},
    Product{"a10g", "NVIDIA-A10G"},
    Product{"l40s", "NVIDIA-L40S"},
    Product{"l4", "NVIDIA-L4"},
    Product{"t4g", "NVIDIA-T4G"},
    Product{"t4", "Tesla-T4"},
};
// An A100 or V100 with at least this memory is the larger of its two variants.
constexpr int64_t kLargeA100 = 80'000;  // MiB
constexpr int64_t kLargeV100 = 32'000;

// Whole GPUs only. https://learn.microsoft.com/azure/virtual-machines/sizes/overview (series with
// GPUs), https://aws.amazon.com/ec2/instance-types/ (accelerated computing),
// https://cloud.google.com/compute/docs/gpus.
constexpr std::array kInstanceTypes = {
    Product{"Standard_ND*_H200_v5", "NVIDIA-H200"},
    Product{"Standard_ND*_H100_v5", "NVIDIA-H100-80GB-HBM3"},
    Product{"Standard_NC*_H100_v5", "NVIDIA-H100-NVL"},
    Product{"Standard_ND96amsr_A100_v4", "NVIDIA-A100-SXM4-80GB"},
    Product{"Standard_ND96asr_v4", "NVIDIA-A100-SXM4-40GB"},
    Product{"Standard_NC*_A100_v4", "NVIDIA-A100-80GB-PCIe"},
    Product{"Standard_NC*_T4_v3", "Tesla-T4"},
    Product{"Standard_NV36*_A10_v5", "NVIDIA-A10"},
    Product{"Standard_NV72*_A10_v5", "NVIDIA-A10"},
    Product{"Standard_ND40rs_v2", "Tesla-V100-SXM2-32GB"},
    Product{"Standard_NC6s_v3", "Tesla-V100-PCIE-16GB"},
    Product{"Standard_NC12s_v3", "Tesla-V100-PCIE-16GB"},
    Product{"Standard_NC24*s_v3", "Tesla-V100-PCIE-16GB"},
    Product{"p6-b200.*", "NVIDIA-B200"},
    Product{"p5en.*", "NVIDIA-H200"},
    Product{"p5e.*", "NVIDIA-H200"},
    Product{"p5.*", "NVIDIA-H100-80GB-HBM3"},
    Product{"p4de.*", "NVIDIA-A100-SXM4-80GB"},
    Product{"p4d.*", "NVIDIA-A100-SXM4-40GB"},
    Product{"p3dn.*", "Tesla-V100-SXM2-32GB"},
    Product{"p3.*", "Tesla-V100-SXM2-16GB"},
    Product{"g6e.*", "NVIDIA-L40S"},
    Product{"g6.*", "NVIDIA-L4"},
    Product{"gr6.*", "NVIDIA-L4"},
    Product{"g5g.*", "NVIDIA-T4G"},
    Product{"g5.*", "NVIDIA-A10G"},
    Product{"g4dn.*", "Tesla-T4"},
    Product{"a4-highgpu-*", "NVIDIA-B200"},
    Product{"a3-ultragpu-*", "NVIDIA-H200"},
    Product{"a3-highgpu-*", "NVIDIA-H100-80GB-HBM3"},
    Product{"a3-megagpu-*", "NVIDIA-H100-80GB-HBM3"},
    Product{"a2-ultragpu-*", "NVIDIA-A100-SXM4-80GB"},
    Product{"a2-highgpu-*", "NVIDIA-A100-SXM4-40GB"},
    Product{"a2-megagpu-*", "NVIDIA-A100-SXM4-40GB"},
    Product{"g2-standard-*", "NVIDIA-L4"},
};

std::string_view Find(std::span<const Product> table, std::string_view value) {
  for (const auto& [pattern, product] : table) {
    if (MatchesPattern(pattern, value)) return product;
  }
  return {};
}

// A name that the table lacks also counts as a product, because nodes that have it are alike.
std::string FindOrKeep(std::span<const Product> table, std::string_view value) {
  const std::string_view known = Find(table, value);
  return known.empty() ? ToLabelValue(value) : std::string(known);
}

std::string OfAmazon(std::string_view name, std::string_view memory) {
  int64_t mebibytes = 0;
  std::from_chars(memory.data(), memory.data() + memory.size(), mebibytes);
  if (name == "a100")
    return mebibytes >= kLargeA100 ? "NVIDIA-A100-SXM4-80GB" : "NVIDIA-A100-SXM4-40GB";
  if (name == "v100")
    return mebibytes >= kLargeV100 ? "Tesla-V100-SXM2-32GB" : "Tesla-V100-SXM2-16GB";
  return FindOrKeep(kAmazonGpus, name);
}

}  // namespace

std::string ProductByLabels(const ReadLabel& label) {
  if (const std::string_view product = label(kProductLabel); !product.empty())
    return std::string(product);
  if (const std::string_view accelerator = label("cloud.google.com/gke-accelerator");
      !accelerator.empty()) {
    std::string product = FindOrKeep(kAccelerators, accelerator);
    if (const std::string_view part = label("cloud.google.com/gke-gpu-partition-size");
        !part.empty())
      product += "-MIG-" + std::string(part);
    if (!label("cloud.google.com/gke-gpu-sharing-strategy").empty()) product += "-SHARED";
    return product;
  }
  if (const std::string_view name = label("karpenter.k8s.aws/instance-gpu-name");
      !name.empty() && label("karpenter.k8s.aws/instance-gpu-manufacturer") == "nvidia")
    return OfAmazon(name, label("karpenter.k8s.aws/instance-gpu-memory"));
  if (const std::string_view accelerator = label("k8s.amazonaws.com/accelerator");
      !accelerator.empty())
    return FindOrKeep(kAccelerators, accelerator);
  return std::string(Find(kInstanceTypes, label("node.kubernetes.io/instance-type")));
}

}  // namespace synergy
