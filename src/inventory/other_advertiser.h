#pragma once

// Detects that another component offers a node's GPUs. Two device plugins for one resource take it
// from each other, and with a DRA driver beside a device plugin, GPUs are given out twice: only one
// component of a node may offer its GPUs.
//
//   what is found                                        it means
//   a ResourceSlice of a GPU driver for the node         a DRA driver offers its GPUs
//   a socket with a known name that another process      NVIDIA's or GKE's device plugin runs
//     serves in the kubelet's folder
//   a device of our resource that is none of ours        another device plugin registered for it
//   one of our GPUs, or a share of it, under a resource  another device plugin offers it there
//     that is not ours
//
// Ids alone are not enough: NVIDIA's device plugin names GPUs by their UUIDs, too. Devices that the
// kubelet lists while we serve none are the fifth sign, which ListsDevices() finds.
//
// Threading: pure.

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/kubelet_device.h"

namespace synergy {

// The findings of one look at the node.
struct AdvertiserEvidence {
  // Healthy devices by the kubelet's list. Kubelets forget them when they start, and when the
  // plugin's stream ends. None: no answer.
  std::optional<std::vector<KubeletDevice>> offered;
  // Devices that containers have. Kubelets keep them over restarts and boots. None: no answer.
  std::optional<std::vector<DeviceOwner>> given;
  std::vector<std::string> sockets;  // names of those that other processes serve
  std::string dra_driver;            // of a ResourceSlice for the node; empty: none
};

// The offers of this plugin since the machine was booted.
struct OwnOffer {
  std::set<std::string, std::less<>> resources;
  std::set<std::string, std::less<>> ids;
};

// Returns how another component offers the GPUs, as the end of a sentence; none if no sign of it is
// found.
std::optional<std::string> FindOtherAdvertiser(const AdvertiserEvidence& evidence,
                                               const OwnOffer& own);

// Whether the kubelet has healthy devices of this resource.
bool ListsDevices(const AdvertiserEvidence& evidence, std::string_view resource);

// Whether a DRA driver of this name offers GPUs.
bool IsGpuDriver(std::string_view driver);

}  // namespace synergy
