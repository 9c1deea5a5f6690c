// Reads the objects of Dynamic Resource Allocation (resource.k8s.io/v1), and the claims that a pod
// names.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/devices/device_objects.h"
#include "inventory/node_labels.h"
#include "wire/base/json_words.h"
#include "wire/base/metadata.h"
#include "wire/objects/kind.h"
#include "wire/objects/object_readers.h"

namespace synergy::wire {
namespace {

// The API server allows 32 requests and devices per claim, and 128 devices per slice. Nothing
// beyond these limits is read.
constexpr size_t kMostOfClaim = 64;
constexpr size_t kMostOfSlice = 512;
constexpr size_t kMostClaimsOfPod = 64;

// The devices of this driver are whole GPUs, parts of GPUs and others, according to their attribute
// `type`.
constexpr std::string_view kNvidiaDriver = "gpu.nvidia.com";

// Calls read(object) for each of the first `most` elements.
void ForFirst(FieldReader& fields, Value list, size_t most, auto read) {
  size_t count = 0;
  fields.Array(list).ForEachElement([&](Value element) {
    if (count++ < most) read(fields.Object(element));
  });
}

DeviceRequest ReadDeviceRequest(FieldReader& fields, Value request) {
  DeviceRequest read;
  const Value exactly = fields.Object(request["exactly"]);
  if (exactly.missing()) return read;
  read.device_class = ReadText(fields, exactly["deviceClassName"]);
  read.admin_access = fields.Truth(exactly["adminAccess"]);
  const std::string_view mode = fields.Text(exactly["allocationMode"]);
  if (!mode.empty() && mode != "ExactCount") return read;
  const Value count = exactly["count"];
  read.count = count.absent() ? 1 : fields.Integer(count, 1, std::numeric_limits<int64_t>::max());
  return read;
}

// Returns, as text, an attribute of a device, whose name may include its domain.
std::string_view ReadAttribute(FieldReader& fields, Value attributes, std::string_view name,
                               std::string_view driver) {
  Value found = attributes[name];
  if (found.absent()) found = attributes[std::string(driver) + "/" + std::string(name)];
  return fields.Text(fields.Object(found)["string"]);
}

SliceDevice ReadSliceDevice(FieldReader& fields, Value device, const std::string& driver,
                            const std::string& node) {
  SliceDevice read;
  read.name = ReadText(fields, device["name"]);
  read.node = device["nodeName"].absent() ? node : ReadText(fields, device["nodeName"]);
  const Value attributes = fields.Object(device["attributes"]);
  read.product = ToLabelValue(ReadAttribute(fields, attributes, "productName", driver));
  const std::string_view type = ReadAttribute(fields, attributes, "type", driver);
  read.part = driver == kNvidiaDriver && !type.empty() && type != "gpu";
  ForFirst(fields, device["taints"], kMostOfSlice, [&](Value taint) {
    const std::string_view effect = fields.Text(taint["effect"]);
    read.tainted |= effect == "NoSchedule" || effect == "NoExecute";
  });
  return read;
}

std::vector<DeviceRequest> ReadDeviceRequests(FieldReader& fields, Value spec) {
  std::vector<DeviceRequest> requests;
  ForFirst(fields, fields.Object(spec["devices"])["requests"], kMostOfClaim,
           [&](Value request) { requests.push_back(ReadDeviceRequest(fields, request)); });
  return requests;
}

}  // namespace

std::shared_ptr<const PodDevices> ReadPodDevices(FieldReader& fields, Value spec, Value status) {
  if (spec["resourceClaims"].absent()) return nullptr;
  // The names of claims made from templates; empty: no claim is needed.
  std::map<std::string_view, std::string_view> made;
  ForFirst(fields, status["resourceClaimStatuses"], kMostClaimsOfPod, [&](Value claim) {
    made[fields.Text(claim["name"])] = fields.Text(claim["resourceClaimName"]);
  });
  auto devices = std::make_shared<PodDevices>();
  ForFirst(fields, spec["resourceClaims"], kMostClaimsOfPod, [&](Value claim) {
    if (!claim["resourceClaimName"].absent()) {
      devices->claims.push_back(ReadText(fields, claim["resourceClaimName"]));
      return;
    }
    const auto name = made.find(fields.Text(claim["name"]));
    if (name == made.end()) {
      devices->claims.emplace_back();
    } else if (!name->second.empty()) {
      devices->claims.emplace_back(name->second);
    }
  });
  if (devices->claims.empty()) return nullptr;
  return devices;
}

template <>
struct Kind<ResourceClaim> {
  static constexpr std::string_view kName = "resource claim";
  static ResourceClaim Read(FieldReader& fields, Value object, const PodRules&) {
    const Value metadata = fields.Object(object["metadata"]);
    const Value spec = fields.Object(object["spec"]);
    const Value allocation = fields.Object(fields.Object(object["status"])["allocation"]);
    ResourceClaim claim;
    claim.uid = ReadText(fields, metadata["uid"]);
    claim.pod_namespace = ReadText(fields, metadata["namespace"]);
    claim.name = ReadText(fields, metadata["name"]);
    claim.requests = ReadDeviceRequests(fields, spec);
    claim.allocated = !allocation.missing();
    ForFirst(fields, fields.Object(allocation["devices"])["results"], kMostOfClaim,
             [&](Value result) {
               claim.devices.push_back(
                   {ReadText(fields, result["driver"]), ReadText(fields, result["pool"]),
                    ReadText(fields, result["device"]), fields.Truth(result["adminAccess"])});
             });
    return claim;
  }
};

template struct KindReader<ResourceClaim>;

template <>
struct Kind<ResourceClaimTemplate> {
  static constexpr std::string_view kName = "resource claim template";
  static ResourceClaimTemplate Read(FieldReader& fields, Value object, const PodRules&) {
    const Value metadata = fields.Object(object["metadata"]);
    const Value spec = fields.Object(fields.Object(object["spec"])["spec"]);
    return {ReadText(fields, metadata["namespace"]), ReadText(fields, metadata["name"]),
            ReadDeviceRequests(fields, spec)};
  }
};

template struct KindReader<ResourceClaimTemplate>;

template <>
struct Kind<ResourceSlice> {
  static constexpr std::string_view kName = "resource slice";
  static ResourceSlice Read(FieldReader& fields, Value object, const PodRules&) {
    const Value spec = fields.Object(object["spec"]);
    const Value pool = fields.Object(spec["pool"]);
    ResourceSlice slice;
    slice.name = ReadText(fields, fields.Object(object["metadata"])["name"]);
    slice.driver = ReadText(fields, spec["driver"]);
    slice.pool = ReadText(fields, pool["name"]);
    slice.generation = fields.Integer(pool["generation"], 0, std::numeric_limits<int64_t>::max());
    const std::string node = ReadText(fields, spec["nodeName"]);
    ForFirst(fields, spec["devices"], kMostOfSlice, [&](Value device) {
      slice.devices.push_back(ReadSliceDevice(fields, device, slice.driver, node));
    });
    return slice;
  }
};

template struct KindReader<ResourceSlice>;

template <>
struct Kind<DeviceClass> {
  static constexpr std::string_view kName = "device class";
  static DeviceClass Read(FieldReader& fields, Value object, const PodRules&) {
    return {ReadText(fields, fields.Object(object["metadata"])["name"]),
            ReadText(fields, fields.Object(object["spec"])["extendedResourceName"])};
  }
};

template struct KindReader<DeviceClass>;

}  // namespace synergy::wire
