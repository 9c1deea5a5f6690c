#include "cluster/devices/device_safety.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "cluster/annotations.h"

namespace synergy {
namespace {

// Returns the value of the node's label; nullopt unless it is "true" or "false".
std::optional<DeviceSafety> SafetyByLabel(const Labels& node) {
  const std::string_view value = FindLabel(node, annotations::kDevicesSafe).value_or("");
  if (value == "true") return DeviceSafety::kSafe;
  if (value == "false") return DeviceSafety::kUnsafe;
  return std::nullopt;
}

bool HasDevices(const Pod& pod) { return pod.UsesGpus() || pod.SharesGpus(); }

bool IsLost(const Pod& pod) {
  return pod.fungible && pod.fungible->devices &&
         pod.fungible->devices->safety == DeviceSafety::kLost;
}

// From best to worst.
constexpr std::array kFromBestToWorst = {DeviceSafety::kSafe, DeviceSafety::kUnknown,
                                         DeviceSafety::kUnsafe, DeviceSafety::kLost};

bool IsWorse(DeviceSafety one, DeviceSafety other) {
  const auto rank = [](DeviceSafety safety) {
    return std::find(kFromBestToWorst.begin(), kFromBestToWorst.end(), safety);
  };
  return rank(one) > rank(other);
}

}  // namespace

DeviceSafety DeviceSafetyOf(const Pod& pod, const Labels& node) {
  if (!HasDevices(pod)) return DeviceSafety::kSafe;
  if (IsLost(pod)) return DeviceSafety::kLost;
  if (const auto labelled = SafetyByLabel(node)) return *labelled;
  if (!pod.fungible || !pod.fungible->devices) return DeviceSafety::kUnknown;
  return pod.fungible->devices->safety;
}

DeviceReading DevicesOf(const Pod& pod, const Labels& node) {
  if (!HasDevices(pod)) return {.safety = DeviceSafety::kSafe, .why = {}};
  if (IsLost(pod)) return *pod.fungible->devices;
  if (const auto labelled = SafetyByLabel(node)) {
    return {.safety = *labelled,
            .why = fmt::format("set by the node's label {}", annotations::kDevicesSafe)};
  }
  if (!pod.fungible || !pod.fungible->devices) {
    return {.safety = DeviceSafety::kUnknown,
            .why = "the node agent has not reported whether its GPUs survive a resize"};
  }
  return *pod.fungible->devices;
}

DeviceSafety DeviceSafetyOf(const NodeDetail& node) {
  std::optional<DeviceSafety> worst;
  for (const auto& pod : node.pods) {
    if (!pod->fungible || pod->waiting || !HasDevices(*pod)) continue;
    const DeviceSafety safety = DeviceSafetyOf(*pod, node.labels);
    if (!worst || IsWorse(safety, *worst)) worst = safety;
  }
  return worst.value_or(SafetyByLabel(node.labels).value_or(DeviceSafety::kUnknown));
}

}  // namespace synergy
