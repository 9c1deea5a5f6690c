#pragma once

// The folders of pods' and containers' control groups in one hierarchy.
//
// Threading: from any thread. Failures: kNotFound when there is no such group, which is so as soon
// as a container has ended; kInvalid for a UID that could lead elsewhere.

#include <string>
#include <utility>

#include "core/result.h"
#include "wire/objects/resize_status.h"

namespace synergy::nodeagent {

class CgroupFolders {
 public:
  // `hierarchy`: where it is mounted ("/sys/fs/cgroup/memory"); `kubelet_cgroup_root`: the
  // kubelet's cgroupRoot.
  CgroupFolders(std::string hierarchy, std::string kubelet_cgroup_root)
      : hierarchy_(std::move(hierarchy)), kubelet_cgroup_root_(std::move(kubelet_cgroup_root)) {}

  Result<std::string> OfPod(const wire::ResizeStatus& pod) const;
  Result<std::string> OfContainer(const wire::ResizeStatus& pod,
                                  const wire::ResizeStatus::Container& container) const;

 private:
  const std::string hierarchy_;
  const std::string kubelet_cgroup_root_;
};

}  // namespace synergy::nodeagent
