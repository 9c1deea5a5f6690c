#include "nodeagent/gpus/dcgm_page.h"

#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "metrics/exposition.h"

namespace synergy::nodeagent {
namespace {

// Larger values are rejected. The limits are far above those of real devices, and safe to convert.
constexpr double kMostMebibytes = 1e9;
constexpr double kMostWatts = 1e5;
constexpr double kMostDegrees = 1e3;
constexpr double kHighestXid = 1e6;

bool IsWithin(double value, double most) { return value >= 0 && value <= most; }

struct Found {
  DcgmDevice device;
  std::optional<double> engine;  // DCGM_FI_PROF_GR_ENGINE_ACTIVE
};

void Set(const metrics::Sample& sample, Found& found) {
  const double value = sample.value;
  DcgmDevice& device = found.device;
  const auto memory = [&](std::optional<Bytes>& out) {
    if (IsWithin(value, kMostMebibytes)) out = MiB(static_cast<int64_t>(value));
  };
  if (sample.name == "DCGM_FI_DEV_GPU_UTIL") {
    if (IsWithin(value, 100)) device.utilization = value / 100;
  } else if (sample.name == "DCGM_FI_PROF_GR_ENGINE_ACTIVE") {
    if (IsWithin(value, 1)) found.engine = value;
  } else if (sample.name == "DCGM_FI_DEV_FB_USED") {
    memory(device.memory_used);
  } else if (sample.name == "DCGM_FI_DEV_FB_FREE") {
    memory(device.memory_free);
  } else if (sample.name == "DCGM_FI_DEV_POWER_USAGE") {
    if (IsWithin(value, kMostWatts)) device.power = value;
  } else if (sample.name == "DCGM_FI_DEV_GPU_TEMP") {
    if (IsWithin(value, kMostDegrees)) device.temperature = value;
  } else if (sample.name == "DCGM_FI_DEV_XID_ERRORS") {
    if (IsWithin(value, kHighestXid)) device.last_xid = static_cast<uint64_t>(value);
  }
}

DcgmDevice Describe(const metrics::Sample& sample) {
  const auto text = [&](std::string_view label) { return std::string(sample.Label(label)); };
  DcgmDevice device;
  device.uuid = text("UUID");
  device.device = text("device");
  device.product = text("modelName");
  device.pci_id = text("pci_bus_id");
  device.instance = text("GPU_I_ID");
  device.profile = text("GPU_I_PROFILE");
  device.pod_namespace = text("namespace");
  device.pod = text("pod");
  device.container = text("container");
  return device;
}

}  // namespace

Result<std::vector<DcgmDevice>> ReadDcgmPage(std::string_view page) {
  std::map<std::string, Found> found;
  bool too_many = false;
  metrics::ForEachLine(page, [&](std::string_view line) {
    if (!line.starts_with("DCGM_FI_")) return;
    const std::optional<metrics::Sample> sample = metrics::ParseSample(line);
    if (!sample) return;
    DcgmDevice device = Describe(*sample);
    if (device.uuid.empty()) return;
    std::string key = device.Key();
    auto known = found.find(key);
    if (known == found.end()) {
      if (found.size() >= kMostDcgmDevices) {
        too_many = true;
        return;
      }
      known = found.emplace(std::move(key), Found{std::move(device), {}}).first;
    }
    Set(*sample, known->second);
  });
  if (too_many)
    return Fail(ErrorCode::kTooLarge, fmt::format("more than {} GPUs", kMostDcgmDevices));
  if (found.empty()) return Fail(ErrorCode::kInvalid, "no figures of DCGM's (DCGM_FI_...)");
  std::vector<DcgmDevice> devices;
  for (auto& [key, one] : found) {
    if (one.device.IsInstance() || one.engine) one.device.utilization = one.engine;
    devices.push_back(std::move(one.device));
  }
  return devices;
}

}  // namespace synergy::nodeagent
