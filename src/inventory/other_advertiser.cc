#include "inventory/other_advertiser.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "inventory/advertisement.h"

namespace synergy {
namespace {

struct KnownSocket {
  std::string_view pattern;
  std::string_view plugin;
};
// NVIDIA's is named after the resource, and GKE's name ends with the time of its start:
// https://github.com/NVIDIA/k8s-device-plugin (internal/plugin),
// https://github.com/GoogleCloudPlatform/container-engine-accelerators (cmd/nvidia_gpu).
constexpr std::array kSockets = {KnownSocket{"nvidia-*.sock", "NVIDIA's device plugin"},
                                 KnownSocket{"nvidiaGPU-*.sock", "GKE's device plugin"}};

constexpr std::array<std::string_view, 1> kGpuDrivers = {"gpu.nvidia.com"};

// Returns whether an id that is not ours may belong to a GPU that has been removed from the
// machine.
bool IsUuid(std::string_view id) {
  return (id.starts_with("GPU-") || id.starts_with("MIG-")) &&
         id.find(kSliceMark) == std::string_view::npos;
}

std::optional<std::string> JudgeDevice(std::string_view resource, std::string_view id,
                                       const OwnOffer& own) {
  const bool is_ours = own.ids.contains(id);
  if (own.resources.contains(resource)) {
    if (is_ours) return std::nullopt;
    return fmt::format("the kubelet has the device {} of {}, which is none of this plugin's", id,
                       resource);
  }
  if (!is_ours && !own.ids.contains(WithoutSlice(id))) return std::nullopt;
  return fmt::format("the kubelet has the device {} as {}", id, resource);
}

}  // namespace

std::optional<std::string> FindOtherAdvertiser(const AdvertiserEvidence& evidence,
                                               const OwnOffer& own) {
  if (!evidence.dra_driver.empty())
    return fmt::format("the DRA driver {} offers them by a ResourceSlice", evidence.dra_driver);
  for (const std::string& socket : evidence.sockets) {
    for (const auto& [pattern, plugin] : kSockets) {
      if (MatchesPattern(pattern, socket)) return fmt::format("{} serves {}", plugin, socket);
    }
  }
  if (evidence.offered) {
    for (const KubeletDevice& device : *evidence.offered) {
      if (auto found = JudgeDevice(device.resource, device.id, own)) return found;
    }
  }
  if (evidence.given) {
    for (const DeviceOwner& owner : *evidence.given) {
      // It may be a GPU that the machine had before, or one that an earlier configuration of this
      // plugin offered.
      if (IsUuid(owner.device)) continue;
      if (auto found = JudgeDevice(owner.resource, owner.device, own)) return found;
    }
  }
  return std::nullopt;
}

bool ListsDevices(const AdvertiserEvidence& evidence, std::string_view resource) {
  return evidence.offered &&
         std::any_of(evidence.offered->begin(), evidence.offered->end(),
                     [&](const KubeletDevice& device) { return device.resource == resource; });
}

bool IsGpuDriver(std::string_view driver) {
  return std::find(kGpuDrivers.begin(), kGpuDrivers.end(), driver) != kGpuDrivers.end();
}

}  // namespace synergy
