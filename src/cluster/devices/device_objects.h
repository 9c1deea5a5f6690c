#pragma once

// The objects of Dynamic Resource Allocation (resource.k8s.io/v1), as far as counting GPUs needs
// them, and what a pod has by them (docs/dra.md). kube-scheduler allocates devices; Synergy only
// counts.
//
// Threading: values; immutable once shared.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/units.h"

namespace synergy {

// Says which devices are GPUs. Without classes, none is.
struct DeviceRules {
  std::string gpu_resource;
  // Names of DeviceClasses. A class is named as the driver whose devices it selects, as NVIDIA's
  // `gpu.nvidia.com` is, or selects some of the devices of a driver that is named here, too.
  std::vector<std::string> classes;

  bool IsGpuClass(std::string_view name) const;
  bool operator==(const DeviceRules&) const = default;
};

// One of spec.devices.requests of a claim.
struct DeviceRequest {
  std::string device_class;  // empty: one of several (firstAvailable)
  int64_t count = 0;         // 0: open until it is allocated (allocationMode All, firstAvailable)
  bool admin_access = false;

  bool operator==(const DeviceRequest&) const = default;
};

// The most GPUs that a pod is counted with by its claims.
inline constexpr Gpus kMostClaimedGpus{int64_t{1} << 20};

// The GPUs for which the requests of a claim ask.
struct RequestedDevices {
  Gpus gpus;          // by requests with a number; at most kMostClaimedGpus
  bool open = false;  // others may get GPUs, too; their number is known once they are allocated

  bool operator==(const RequestedDevices&) const = default;
};
// Leaves out requests with adminAccess, and those of classes that are not GPUs.
RequestedDevices GpusOf(const std::vector<DeviceRequest>& requests, const DeviceRules& rules);

// One of status.allocation.devices.results of a claim.
struct AllocatedDevice {
  std::string driver;
  std::string pool;
  std::string device;
  bool admin_access = false;  // the device is its other users'

  bool operator==(const AllocatedDevice&) const = default;
};

struct ResourceClaim {
  std::string uid;
  std::string pod_namespace;
  std::string name;
  std::vector<DeviceRequest> requests;
  bool allocated = false;
  std::vector<AllocatedDevice> devices;

  bool operator==(const ResourceClaim&) const = default;
};

// Its claims are made for pods that name the template, with the same requests.
struct ResourceClaimTemplate {
  std::string pod_namespace;
  std::string name;
  std::vector<DeviceRequest> requests;

  std::string Key() const { return pod_namespace + "/" + name; }
};

struct SliceDevice {
  std::string name;      // unique in its pool
  std::string node;      // empty: it belongs to no node
  std::string product;   // attribute productName; empty: unknown
  bool part = false;     // of a GPU: the attribute `type` is there, and not "gpu"
  bool tainted = false;  // no new pods get it

  bool operator==(const SliceDevice&) const = default;
};

struct ResourceSlice {
  std::string name;
  std::string driver;
  std::string pool;
  int64_t generation = 0;  // of the pool: slices of older ones do not count
  std::vector<SliceDevice> devices;

  bool operator==(const ResourceSlice&) const = default;
};

struct DeviceClass {
  std::string name;
  std::string extended_resource;  // requests of it get devices of the class; empty: none

  bool operator==(const DeviceClass&) const = default;
};

// The ResourceClaims that a pod names, and its GPUs by them.
struct PodDevices {
  // Names of its claims; an empty one is not created yet. Without the claim that kube-scheduler
  // makes for a request of an extended resource: the pod's requests have its GPUs.
  std::vector<std::string> claims;
  // The rest is set by DeviceCatalog.
  Gpus gpus;           // those of requests.main that are by claims
  bool known = false;  // all claims are known
  // Why its CPU and memory are not changed, for people; empty: they may be.
  std::string why_left_alone;

  bool operator==(const PodDevices&) const = default;
};

}  // namespace synergy
