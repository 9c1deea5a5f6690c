#pragma once

// Determines from a running container's control group whether its GPUs survive a resize
// (docs/internals/tuner.md). A device unknown to runc, such as one injected by NVIDIA's toolkit in
// its legacy mode, is lost when systemd applies the scope's own device list. systemd does so at
// each change of the scope and at each daemon-reload.
//
// Threading: any thread. Failures: kNotFound if there is no such group, for example because the
// container has ended.

#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "cluster/managed_container.h"
#include "core/result.h"
#include "wire/objects/resize_status.h"

namespace synergy::nodeagent {

class DeviceGroups {
 public:
  virtual ~DeviceGroups() = default;
  virtual Result<DeviceReading> Read(const wire::ResizeStatus& pod,
                                     const wire::ResizeStatus::Container& container) = 0;
};

// Returns the machine's groups. `unit_folder` is where systemd keeps the files of transient units.
// `gpu_resource`: the resource of the node's GPUs.
std::unique_ptr<DeviceGroups> FindDeviceGroups(const std::string& cgroup_folder,
                                               std::string kubelet_cgroup_root,
                                               std::string unit_folder, std::string gpu_resource);

// The major numbers of GPU devices that differ between machines.
struct GpuMajors {
  bool nvidia = false;       // NVIDIA's driver is loaded
  std::set<int> nvidia_uvm;  // empty: the driver has not created it yet
  std::set<int> kfd;         // for AMD's GPUs
};
// Parses the text of /proc/devices.
GpuMajors ParseGpuMajors(std::string_view proc_devices);

// Judges a scope by the texts of its unit files. `unit_files`: in systemd's order.
DeviceReading JudgeScope(std::span<const std::string> unit_files, const GpuMajors& majors);

}  // namespace synergy::nodeagent
