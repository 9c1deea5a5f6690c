#pragma once

// Whether a running container's GPUs outlast a resize of it, by what is known of its control group
// (docs/tuner.md). A device that runc was not told of, as one that NVIDIA's toolkit gives in its
// legacy mode, is gone once systemd applies the scope's own list of devices, which it does with
// each change of the scope and with each daemon-reload.
//
// Threading: from any thread.
// Failures: kNotFound when there is no such group, which is so as soon as a container has ended.

#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "cluster/fungible.h"
#include "core/result.h"
#include "wire/objects/resize_status.h"

namespace synergy::nodeagent {

class DeviceGroups {
 public:
  virtual ~DeviceGroups() = default;
  virtual Result<DeviceReading> Read(const wire::ResizeStatus& pod,
                                     const wire::ResizeStatus::Container& container) = 0;
};

// The machine's. `unit_folder` is where systemd has the files of transient units.
std::unique_ptr<DeviceGroups> FindDeviceGroups(const std::string& cgroup_folder,
                                               std::string kubelet_cgroup_root,
                                               std::string unit_folder);

// The numbers of GPUs' character devices that differ from machine to machine.
struct GpuMajors {
  std::set<int> nvidia_uvm;  // none: the driver has not made it yet
  std::set<int> kfd;         // AMD's
};
// Reads the text of /proc/devices.
GpuMajors ParseGpuMajors(std::string_view proc_devices);

// Judges the scope whose unit files have these texts, in systemd's order.
DeviceReading JudgeScope(std::span<const std::string> unit_files, const GpuMajors& majors);

}  // namespace synergy::nodeagent
