#pragma once

// The LimitRanges and ResourceQuotas that a namespace sets for the CPU and memory of its pods, and
// the amounts that they leave to Synergy. The API server rejects a pod's creation or resize that
// exceeds them.
//
// Here, a quota with scopes counts for every pod. At worst, a pod does not grow, which is harmless.
//
// Threading: values; a NamespaceLimits is immutable once shared.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cluster/pod.h"
#include "core/resources.h"

namespace synergy {

// Larger than any value read, and small enough that sums do not overflow.
inline constexpr int64_t kNoLimit = int64_t{1} << 60;
inline constexpr ResourceVector kUnlimited{Gpus(kNoLimit), MilliCpu(kNoLimit), Bytes(kNoLimit)};

// The bounds of a request.
struct AmountBounds {
  ResourceVector least;
  ResourceVector most = kUnlimited;

  bool operator==(const AmountBounds&) const = default;
  // Clamps `amounts` to the bounds. If `least` exceeds `most`, `least` applies.
  ResourceVector Clamp(const ResourceVector& amounts) const {
    return LargerOf(LesserOf(amounts, most), least);
  }
};

struct LimitRange {
  std::string uid;
  std::string pod_namespace;
  std::string name;
  AmountBounds container;
  AmountBounds pod;  // for the sum of a pod's containers
  // True if there is a maxLimitRequestRatio for containers or pods.
  bool cpu_ratio = false;
  bool memory_ratio = false;

  bool operator==(const LimitRange&) const = default;
};

// One of a quota's two sums, of requests or of limits; kNoLimit in dimensions that the quota does
// not limit.
struct QuotaSum {
  ResourceVector hard = kUnlimited;
  ResourceVector used;

  template <class Amount>
  bool Counts(Amount ResourceVector::* dimension) const {
    return (hard.*dimension).count() != kNoLimit;
  }
  bool operator==(const QuotaSum&) const = default;
};

struct ResourceQuota {
  std::string uid;
  std::string pod_namespace;
  std::string name;
  QuotaSum requests;
  QuotaSum limits;
  bool by_qos = false;  // it has a scope BestEffort or NotBestEffort

  bool operator==(const ResourceQuota&) const = default;
};

class NamespaceLimits {
 public:
  // Returns the bounds of a container's request if the pod's other requests are `beside`. `asks`:
  // the container's request that the API server has accepted or is about to accept. If there is a
  // ratio, `asks` is the lower bound.
  AmountBounds Bounds(const std::string& pod_namespace, const ResourceVector& beside,
                      const ResourceVector& asks) const;
  // Returns whether a quota counts requests or limits of that dimension, such as
  // &ResourceVector::cpu.
  template <class Amount>
  bool HasQuota(const std::string& pod_namespace, Amount ResourceVector::* dimension) const {
    const auto found = quotas_.find(pod_namespace);
    return found != quotas_.end() &&
           std::any_of(found->second.begin(), found->second.end(), [&](const ResourceQuota& quota) {
             return quota.requests.Counts(dimension) || quota.limits.Counts(dimension);
           });
  }
  // Returns whether a quota counts BestEffort pods separately.
  bool HasQuotaByQos(const std::string& pod_namespace) const;
  // Returns the most that the pod's fungible container may get by itself, within the limit ranges
  // and quotas. A part of each quota is reserved for future pods. That part is the amount of
  // another such pod at its floor, but at least a quarter of the quota. Growth up to the fair share
  // may use the reserved part. Returns at least the container's requests. `under_way`: amounts that
  // the namespace's pods are about to get and the quotas may not count yet. REQUIRES: the pod has a
  // fungible container.
  ResourceVector MostFor(const Pod& pod, const ResourceVector& under_way) const;
  // Returns the most memory that the limit ranges and quotas allow any container of the namespace.
  // Ignores the use of the quotas.
  Bytes MostMemory(const std::string& pod_namespace) const;
  // Returns the part of `wanted` that each of `count` pods like this one may get, the same for all.
  ResourceVector MostForEach(const Pod& pod, const ResourceVector& wanted, size_t count,
                             const ResourceVector& under_way) const;

  // Return whether anything changed.
  bool Put(LimitRange range);
  bool Put(ResourceQuota quota);
  bool RemoveRange(const std::string& uid);
  bool RemoveQuota(const std::string& uid);
  void ClearRanges() { ranges_.clear(); }
  void ClearQuotas() { quotas_.clear(); }

  bool empty() const { return ranges_.empty() && quotas_.empty(); }
  // The number of ranges and quotas that concern CPU, memory or QoS classes.
  size_t ranges() const;
  size_t quotas() const;

 private:
  std::map<std::string, std::vector<LimitRange>> ranges_;  // by namespace
  std::map<std::string, std::vector<ResourceQuota>> quotas_;
};

}  // namespace synergy
