#pragma once

// What a namespace's LimitRanges and ResourceQuotas say about the CPU and memory of its pods, and
// what that leaves to Synergy: the API server refuses whatever goes beyond, at creation as at a
// resize.
//
// A quota with scopes counts for every pod here: growth that is left out does no harm.
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

// More than anything that is read, and so little that sums stay in range.
inline constexpr int64_t kNoLimit = int64_t{1} << 60;
inline constexpr ResourceVector kUnlimited{Gpus(kNoLimit), MilliCpu(kNoLimit), Bytes(kNoLimit)};

// Within what a request has to stay.
struct AmountBounds {
  ResourceVector least;
  ResourceVector most = kUnlimited;

  bool operator==(const AmountBounds&) const = default;
  // `amounts` as far as they may be had; the least goes first.
  ResourceVector Clamp(const ResourceVector& amounts) const {
    return LargerOf(LesserOf(amounts, most), least);
  }
};

struct LimitRange {
  std::string uid;
  std::string pod_namespace;
  std::string name;
  AmountBounds container;
  AmountBounds pod;  // of the sum of its containers
  // There is a maxLimitRequestRatio, of containers or pods.
  bool cpu_ratio = false;
  bool memory_ratio = false;

  bool operator==(const LimitRange&) const = default;
};

// What there is of one of a quota's two sums, of requests or of limits; kNoLimit where it does not
// say.
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
  // Of the request of a container whose pod has `beside` besides it. `asks` is what the API server
  // has taken, or is about to take: a ratio lets nothing be asked for below it.
  AmountBounds Bounds(const std::string& pod_namespace, const ResourceVector& beside,
                      const ResourceVector& asks) const;
  // Whether a quota counts requests or limits of that dimension: of &ResourceVector::cpu, say.
  template <class Amount>
  bool HasQuota(const std::string& pod_namespace, Amount ResourceVector::* dimension) const {
    const auto found = quotas_.find(pod_namespace);
    return found != quotas_.end() &&
           std::any_of(found->second.begin(), found->second.end(), [&](const ResourceQuota& quota) {
             return quota.requests.Counts(dimension) || quota.limits.Counts(dimension);
           });
  }
  // Whether a quota counts BestEffort pods apart from others.
  bool HasQuotaByQos(const std::string& pod_namespace) const;
  // The most that the pod's fungible container, which it must have, may be given by itself: within
  // the limit ranges, and beside what growth leaves of each quota for pods to come, which is what
  // another pod like it takes at its floor, and a quarter of the quota at least; up to its fair
  // share it leaves nothing. Not less than it requests. `under_way` is what the namespace's pods
  // are being given and the quota may not know.
  ResourceVector MostFor(const Pod& pod, const ResourceVector& under_way) const;
  // What of `wanted` each of `count` pods like this one may be given, all of them the same.
  ResourceVector MostForEach(const Pod& pod, const ResourceVector& wanted, size_t count,
                             const ResourceVector& under_way) const;

  // Whether anything has changed by it.
  bool Put(LimitRange range);
  bool Put(ResourceQuota quota);
  bool RemoveRange(const std::string& uid);
  bool RemoveQuota(const std::string& uid);
  void ClearRanges() { ranges_.clear(); }
  void ClearQuotas() { quotas_.clear(); }

  bool empty() const { return ranges_.empty() && quotas_.empty(); }
  // Those that say something of CPU or memory, or of QoS classes.
  size_t ranges() const;
  size_t quotas() const;

 private:
  std::map<std::string, std::vector<LimitRange>> ranges_;  // by namespace
  std::map<std::string, std::vector<ResourceQuota>> quotas_;
};

}  // namespace synergy
