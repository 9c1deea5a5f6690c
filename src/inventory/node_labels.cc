#include "inventory/node_labels.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace synergy {
namespace {

constexpr size_t kLongestLabelValue = 63;

bool IsAlphanumeric(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

}  // namespace

std::string ToLabelValue(std::string_view text) {
  std::string value;
  for (const char c : text.substr(0, kLongestLabelValue))
    value += IsAlphanumeric(c) || c == '-' || c == '_' || c == '.' ? c : '-';
  while (!value.empty() && !IsAlphanumeric(value.back())) value.pop_back();
  const auto first = std::find_if(value.begin(), value.end(), IsAlphanumeric);
  value.erase(value.begin(), first);
  return value;
}

NodeLabels DesiredNodeLabels(const GpuInventory& inventory, int replicas, bool in_turns) {
  NodeLabels labels;
  if (inventory.gpus().empty()) return labels;
  const Gpu& first = inventory.gpus().front();
  const bool any_mig =
      std::any_of(inventory.gpus().begin(), inventory.gpus().end(),
                  [](const Gpu& gpu) { return gpu.mig_capable || gpu.mig_enabled; });
  labels["nvidia.com/gpu.present"] = "true";
  labels["nvidia.com/gpu.count"] = std::to_string(inventory.gpus().size());
  labels["nvidia.com/gpu.product"] = ToLabelValue(first.product);
  if (first.memory > Bytes(0))
    labels["nvidia.com/gpu.memory"] = std::to_string(first.memory.count() / MiB(1).count());
  if (first.compute_capability) {
    labels["nvidia.com/gpu.compute.major"] = std::to_string(first.compute_capability->major);
    labels["nvidia.com/gpu.compute.minor"] = std::to_string(first.compute_capability->minor);
  }
  if (!inventory.driver_version.empty())
    labels["nvidia.com/cuda.driver-version.full"] = ToLabelValue(inventory.driver_version);
  if (!inventory.cuda_version.empty())
    labels["nvidia.com/cuda.runtime-version.full"] = ToLabelValue(inventory.cuda_version);
  if (any_mig) labels["nvidia.com/mig.capable"] = "true";
  if (replicas > 0) {
    labels[std::string(kReplicasLabel)] = std::to_string(replicas);
    labels["nvidia.com/gpu.sharing-strategy"] = in_turns ? "turns" : "time-slicing";
  }
  return labels;
}

NodeLabelChange PlanNodeLabels(const NodeLabels& desired, const NodeLabels& present,
                               const NodeLabels& written) {
  NodeLabelChange plan;
  // A label with a value that this program did not write belongs to its new writer.
  const auto is_ours = [&](const auto& label) {
    const auto ours = written.find(label.first);
    return ours != written.end() && ours->second == label.second;
  };
  for (const auto& [name, value] : desired) {
    const auto there = present.find(name);
    if (there != present.end() && !is_ours(*there)) continue;
    plan.owned.push_back(name);
    if (there == present.end() || there->second != value) plan.changes[name] = value;
  }
  for (const auto& label : present)
    if (!desired.contains(label.first) && is_ours(label)) plan.changes[label.first] = std::nullopt;
  return plan;
}

}  // namespace synergy
