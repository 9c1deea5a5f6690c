#pragma once

// Detects that another component offers a node's GPUs. Only one component of a node may offer its
// GPUs: two device plugins for one resource displace each other, and a DRA driver beside a device
// plugin causes GPUs to be allocated twice.
//
//   what is found                                        it means
//   a ResourceSlice of a GPU driver for the node         a DRA driver offers its GPUs
//   a socket with a known name that another process      NVIDIA's or GKE's device plugin runs
//     serves in the kubelet's folder
//   a device of our resource that is none of ours        another device plugin registered for it
//   one of our GPUs, or a share of it, under a resource  another device plugin offers it there
//     that is not ours
//
// Ids alone are not enough, because NVIDIA's device plugin also names GPUs by their UUIDs. A fifth
// sign, which ListsDevices() finds, is that the kubelet lists devices while this plugin serves
// none.
//
// Threading: pure.

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/kubelet_device.h"

namespace synergy {

// The findings of one check of the node.
struct AdvertiserEvidence {
  // Healthy devices in the kubelet's list. A kubelet forgets them when it starts, and when the
  // plugin's stream ends. Absent: no answer.
  std::optional<std::vector<KubeletDevice>> offered;
  // Devices that containers have. A kubelet keeps them across restarts and boots. Absent: no
  // answer.
  std::optional<std::vector<DeviceOwner>> given;
  std::vector<std::string> sockets;  // names of those that other processes serve
  std::string dra_driver;            // of a ResourceSlice for the node; empty: none
};

// The offers of this plugin since the machine was booted.
struct OwnOffer {
  std::set<std::string, std::less<>> resources;
  std::set<std::string, std::less<>> ids;
};

// Returns how another component offers the GPUs, as the end of a sentence; nullopt if there is no
// sign of it.
std::optional<std::string> FindOtherAdvertiser(const AdvertiserEvidence& evidence,
                                               const OwnOffer& own);

// Returns whether the kubelet has healthy devices of this resource.
bool ListsDevices(const AdvertiserEvidence& evidence, std::string_view resource);

// Returns whether a DRA driver of this name offers GPUs.
bool IsGpuDriver(std::string_view driver);

}  // namespace synergy
