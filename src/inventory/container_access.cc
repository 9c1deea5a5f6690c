#include "inventory/container_access.h"

#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "inventory/kubelet_device.h"

namespace synergy {
namespace {

// Truncates an id for messages, because ids come from outside and may be too long.
std::string_view Shown(const std::string& id) {
  return std::string_view(id).substr(0, kLongestDeviceId);
}

// Returns null if the device is the whole GPU.
const MigDevice* FindPart(const Gpu& gpu, std::string_view id) {
  const auto part = std::find_if(gpu.mig_devices.begin(), gpu.mig_devices.end(),
                                 [&](const MigDevice& other) { return other.uuid == id; });
  return part == gpu.mig_devices.end() ? nullptr : &*part;
}

void AppendMissing(std::vector<std::string>& paths, const std::vector<std::string>& more) {
  for (const std::string& path : more)
    if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
}

}  // namespace

Result<ContainerAccess> GrantAccess(const GpuInventory& inventory,
                                    std::span<const GpuDevice> devices,
                                    std::span<const std::string> ids,
                                    const ContainerAccessRules& rules) {
  if (ids.empty()) return Fail(ErrorCode::kInvalid, "the request names no device");
  if (rules.one_slice_only && ids.size() > 1 && WithoutSlice(ids.front()) != ids.front()) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{} shares of GPUs are requested, which may be of one GPU and bring no "
                            "more of its time; request 1, or whole GPUs",
                            ids.size()));
  }
  ContainerAccess access;
  std::set<std::string_view> seen;
  std::set<std::string_view> given;
  std::string list;
  for (const std::string& id : ids) {
    const auto device = std::find_if(devices.begin(), devices.end(),
                                     [&](const GpuDevice& other) { return other.id == id; });
    if (device == devices.end())
      return Fail(ErrorCode::kNotFound, fmt::format("device {} is unknown", Shown(id)));
    if (!seen.insert(id).second)
      return Fail(ErrorCode::kInvalid, fmt::format("device {} was requested twice", id));
    if (!device->health.healthy) {
      return Fail(ErrorCode::kUnavailable,
                  fmt::format("device {} is unhealthy: {}", id, device->health.reason));
    }
    const std::string_view whole = WithoutSlice(id);
    if (!given.insert(whole).second) continue;
    list += fmt::format("{}{}", list.empty() ? "" : ",", whole);
    if (rules.kind == ContainerAccessKind::kCdi)
      access.cdi_names.push_back(fmt::format("{}={}", rules.cdi_kind, whole));
    const Gpu& gpu = inventory.gpus()[device->gpu];
    const MigDevice* const part = FindPart(gpu, whole);
    if (part != nullptr && rules.kind != ContainerAccessKind::kEnvironment &&
        part->device_nodes.empty()) {
      return Fail(ErrorCode::kUnavailable,
                  fmt::format("the driver does not report the device nodes of MIG device {}; "
                              "deviceListStrategy: envvar does not need them",
                              id));
    }
    if (rules.kind == ContainerAccessKind::kDeviceNodes) {
      AppendMissing(access.device_nodes, gpu.device_nodes);
      if (part != nullptr) AppendMissing(access.device_nodes, part->device_nodes);
    }
  }
  if (rules.kind == ContainerAccessKind::kDeviceNodes)
    AppendMissing(access.device_nodes, inventory.shared_device_nodes);
  // With CDI, "void" prevents NVIDIA's runtime, if installed, from interfering.
  access.environment[rules.variable] = rules.kind == ContainerAccessKind::kCdi ? "void" : list;
  return access;
}

}  // namespace synergy
