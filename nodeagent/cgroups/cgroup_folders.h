#pragma once

// The folders of pods' and containers' control groups. The kubelet keeps a pod's by the rules of
// its two drivers:
//
//   cgroupfs   ROOT/kubepods/burstable/pod1-2/90d9
//   systemd    ROOT.slice/ROOT-kubepods.slice/ROOT-kubepods-burstable.slice/
//                ROOT-kubepods-burstable-pod1_2.slice/cri-containerd-90d9.scope
//
// A pod of the Guaranteed class has no folder of its class above it.
//
// Threading: from any thread. Failures: kNotFound when there is no such group, which is so as soon
// as a container has ended; kInvalid for a UID that could lead elsewhere.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"
#include "wire/objects/resize_status.h"

namespace synergy::nodeagent {

// Both drivers' folders for the pod, relative to a hierarchy's own: one of them exists.
// kInvalid when the UID could lead elsewhere.
Result<std::vector<std::string>> PodFolders(std::string_view kubelet_cgroup_root,
                                            wire::QosClass qos_class, std::string_view uid);

// Both drivers' folders of all pods.
std::vector<std::string> FoldersOfAllPods(std::string_view kubelet_cgroup_root);

// Whether a folder in a pod's is that of the container with this ID
// ("containerd://90d9"): called by the ID alone, or with a known runtime's name before it, with or
// without .scope after it. Never for an ID that is empty or odd.
bool IsContainerFolder(std::string_view folder, std::string_view container_id);

// The folders that are there, in one hierarchy.
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
