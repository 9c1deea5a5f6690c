#pragma once

// The objects of Dynamic Resource Allocation (resource.k8s.io/v1) as far as counting GPUs needs
// them, and what they give a pod (docs/dra.md). kube-scheduler allocates devices; Synergy only
// counts.
//
// Threading: values; immutable once shared.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/units.h"

namespace synergy {

// Determines which devices are GPUs. Without classes, no device is a GPU.
struct DeviceRules {
  std::string gpu_resource;
  // Names of DeviceClasses. A class has the name of the driver whose devices it selects, as
  // NVIDIA's `gpu.nvidia.com` does, or it selects some devices of a driver that is also named here.
  std::vector<std::string> classes;

  bool IsGpuClass(std::string_view name) const;
  bool operator==(const DeviceRules&) const = default;
};

// One of spec.devices.requests of a claim.
struct DeviceRequest {
  std::string device_class;  // empty: one of several (firstAvailable)
  int64_t count = 0;         // 0: open until allocation (allocationMode All, firstAvailable)
  bool admin_access = false;

  bool operator==(const DeviceRequest&) const = default;
};

// The most GPUs that a pod's claims can count for.
inline constexpr Gpus kMostClaimedGpus{int64_t{1} << 20};

// The number of GPUs that the requests of a claim ask for.
struct RequestedDevices {
  Gpus gpus;          // by requests with a number; at most kMostClaimedGpus
  bool open = false;  // others may also get GPUs, whose number is known after allocation

  bool operator==(const RequestedDevices&) const = default;
};
// Omits requests with adminAccess, and those of classes that are not GPUs.
RequestedDevices GpusOf(const std::vector<DeviceRequest>& requests, const DeviceRules& rules);

// One of status.allocation.devices.results of a claim.
struct AllocatedDevice {
  std::string driver;
  std::string pool;
  std::string device;
  bool admin_access = false;  // the device belongs to its other users

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

// A claim that is made from the template, for a pod that names it, has the same requests.
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
  bool part = false;     // a part of a GPU: the attribute `type` exists and is not "gpu"
  bool tainted = false;  // new pods do not get it

  bool operator==(const SliceDevice&) const = default;
};

struct ResourceSlice {
  std::string name;
  std::string driver;
  std::string pool;
  int64_t generation = 0;  // of the pool; slices of older generations do not count
  std::vector<SliceDevice> devices;

  bool operator==(const ResourceSlice&) const = default;
};

struct DeviceClass {
  std::string name;
  std::string extended_resource;  // requests for it get devices of the class; empty: none

  bool operator==(const DeviceClass&) const = default;
};

// The ResourceClaims that a pod names, and the GPUs that it has through them.
struct PodDevices {
  // The names of its claims; an empty name means that the claim does not exist yet. Omits the claim
  // that kube-scheduler makes for a request of an extended resource, because the pod's requests
  // already include its GPUs.
  std::vector<std::string> claims;
  // DeviceCatalog sets the rest.
  Gpus gpus;           // the part of requests.main that comes from claims
  bool known = false;  // all claims are known
  // Why its CPU and memory are not changed, as text for people; empty if they may be.
  std::string why_left_alone;

  bool operator==(const PodDevices&) const = default;
};

}  // namespace synergy
