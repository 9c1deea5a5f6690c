#pragma once

// Finds the containers whose GPUs had Xids, which are errors that NVIDIA's driver reports about a
// GPU (xid.h). An Xid explains a failed training better than its log does
// (docs/internals/failures.md).
//
// Threading: values; one owner of XidOwners.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "core/clock.h"
#include "inventory/kubelet_device.h"

namespace synergy {

struct ContainerXid {
  std::string pod_namespace;
  std::string pod;
  std::string container;
  int32_t xid = 0;
  WallTime at{};  // when it last occurred

  bool operator==(const ContainerXid&) const = default;
};

// An Xid belongs to the containers that had the GPU when the owners were last read before the Xid,
// because the Xid may have ended these containers since. If no container had the GPU then, the Xid
// belongs to those that have the GPU now.
class XidOwners {
 public:
  // A training may fail half an hour after its GPU was lost, when a collective operation times out.
  static constexpr Duration kKept = std::chrono::minutes(35);
  static constexpr size_t kMost = 256;

  // Takes an Xid of the GPU or MIG device with this UUID.
  void Add(std::string uuid, uint64_t xid, WallTime at);
  // `owners`: the present owners of all GPUs, by UUID. Returns the Xids of the last minutes, oldest
  // first, each number once per container.
  std::vector<ContainerXid> Recent(const std::vector<DeviceOwner>& owners, WallTime now);

 private:
  struct Seen {
    std::string uuid;
    int32_t xid = 0;
    WallTime at{};
  };

  // Returns whether some container has the GPU.
  bool Attribute(const Seen& seen, const std::vector<DeviceOwner>& owners);
  void Keep(ContainerXid xid);

  std::deque<Seen> unattributed_;
  std::vector<DeviceOwner> before_;  // as they were at the previous call
  std::deque<ContainerXid> recent_;  // oldest first
};

}  // namespace synergy
