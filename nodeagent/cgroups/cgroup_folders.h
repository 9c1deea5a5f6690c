#pragma once

// Finds the folders of pods' and containers' control groups. The kubelet names a pod's folder by
// the conventions of its cgroup driver:
//
//   cgroupfs   ROOT/kubepods/burstable/pod1-2/90d9
//   systemd    ROOT.slice/ROOT-kubepods.slice/ROOT-kubepods-burstable.slice/
//                ROOT-kubepods-burstable-pod1_2.slice/cri-containerd-90d9.scope
//
// A pod of the Guaranteed class has no class folder above it.
//
// Threading: any thread. Failures: kNotFound if there is no such group, for example because the
// container has ended; kInvalid for a UID that could lead to another folder.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"
#include "wire/objects/resize_status.h"

namespace synergy::nodeagent {

// Returns the pod's folders under both drivers, relative to a hierarchy's mount point; one of them
// exists. Returns kInvalid if the UID could lead to another folder.
Result<std::vector<std::string>> PodFolders(std::string_view kubelet_cgroup_root,
                                            wire::QosClass qos_class, std::string_view uid);

// Returns the folders that contain all pods, under both drivers.
std::vector<std::string> FoldersOfAllPods(std::string_view kubelet_cgroup_root);

// Returns whether a folder inside a pod's folder belongs to the container with this ID
// ("containerd://90d9"). The folder is named after the ID, optionally after a known runtime's
// prefix and before .scope. Returns false for an empty or malformed ID.
bool IsContainerFolder(std::string_view folder, std::string_view container_id);

// Finds existing folders in one hierarchy.
class CgroupFolders {
 public:
  // `hierarchy`: the hierarchy's mount point ("/sys/fs/cgroup/memory"). `kubelet_cgroup_root`: the
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
