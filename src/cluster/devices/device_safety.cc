#include "cluster/devices/device_safety.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

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

// Returns the node agent's report; null if there is none.
const DeviceReading* ReportOn(const Pod& pod) {
  return pod.fungible && pod.fungible->devices ? &*pod.fungible->devices : nullptr;
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

bool IsSuspect(const Pod& pod) {
  const DeviceReading* const report = ReportOn(pod);
  if (report == nullptr || pod.waiting || !HasDevices(pod)) return false;
  return report->safety == DeviceSafety::kLost ||
         (report->safety == DeviceSafety::kUnsafe && report->resized);
}

bool HasLostDevices(const Pod& pod, const NodeState& node) {
  return IsSuspect(pod) && (ReportOn(pod)->safety == DeviceSafety::kLost ||
                            SafetyByLabel(node.detail->labels) == DeviceSafety::kSafe);
}

namespace {

bool AnyHasLostDevices(const NodeState& node) {
  return node.suspect_devices > 0 &&
         std::any_of(node.detail->pods.begin(), node.detail->pods.end(),
                     [&node](const auto& pod) { return HasLostDevices(*pod, node); });
}

}  // namespace

DeviceSafety DeviceSafetyOf(const Pod& pod, const NodeState& node) {
  if (!HasDevices(pod)) return DeviceSafety::kSafe;
  if (HasLostDevices(pod, node) || AnyHasLostDevices(node)) return DeviceSafety::kLost;
  if (const auto labelled = SafetyByLabel(node.detail->labels)) return *labelled;
  const DeviceReading* const report = ReportOn(pod);
  return report == nullptr ? DeviceSafety::kUnknown : report->safety;
}

DeviceReading DevicesOf(const Pod& pod, const NodeState& node) {
  const DeviceSafety safety = DeviceSafetyOf(pod, node);
  const DeviceReading* const report = ReportOn(pod);
  const auto because = [safety](std::string why) {
    return DeviceReading{.safety = safety, .why = std::move(why)};
  };
  if (!HasDevices(pod)) return because({});
  if (HasLostDevices(pod, node)) {
    if (report->safety == DeviceSafety::kLost) return *report;
    return because(fmt::format(
        "a resize has removed them, although the node's label {} says otherwise; remove the label, "
        "and create the pod again ({})",
        annotations::kDevicesSafe, report->why));
  }
  if (safety == DeviceSafety::kLost)
    return because("a resize has cost another pod on its node its GPUs");
  if (SafetyByLabel(node.detail->labels))
    return because(fmt::format("set by the node's label {}", annotations::kDevicesSafe));
  if (report == nullptr)
    return because("the node agent has not reported whether its GPUs survive a resize");
  return *report;
}

DeviceSafety DeviceSafetyOf(const NodeState& node) {
  std::optional<DeviceSafety> worst;
  for (const auto& pod : node.detail->pods) {
    if (!pod->fungible || pod->waiting || !HasDevices(*pod)) continue;
    const DeviceSafety safety = DeviceSafetyOf(*pod, node);
    if (!worst || IsWorse(safety, *worst)) worst = safety;
  }
  return worst.value_or(SafetyByLabel(node.detail->labels).value_or(DeviceSafety::kUnknown));
}

}  // namespace synergy
