#pragma once

// Recognises the product of a node's GPUs from the node's labels, whichever component set them. All
// products are spelled as GPU feature discovery spells them (NVML's name as a label value), so that
// profiles and pods name one product in the same way on every node.
//
//   label                                     set by                          value
//   nvidia.com/gpu.product                    GPU feature discovery,          the product itself
//                                               synergy-device-plugin
//   cloud.google.com/gke-accelerator          GKE                             "nvidia-tesla-t4"
//   karpenter.k8s.aws/instance-gpu-name       Karpenter on AWS, EKS Auto      "a100", and beside it
//                                               Mode                            instance-gpu-memory
//   k8s.amazonaws.com/accelerator             eksctl, by convention           as GKE's
//   node.kubernetes.io/instance-type          AKS, EKS, any cloud provider
//   "Standard_ND96isr_H100_v5"
//
// The first label that names a product counts.
//
// Threading: pure.

#include <functional>
#include <string>
#include <string_view>

namespace synergy {

inline constexpr std::string_view kProductLabel = "nvidia.com/gpu.product";

// Returns a label's value; empty without one.
using ReadLabel = std::function<std::string_view(std::string_view key)>;

// Returns the product; empty if the labels name none. Parts of GPUs (MIG) and GPUs that containers
// share have their own products, marked as GPU feature discovery marks them: "-MIG-1g.5gb",
// "-SHARED".
std::string ProductByLabels(const ReadLabel& label);

}  // namespace synergy
