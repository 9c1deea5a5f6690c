#include "cluster/namespace_limits.h"

#include <functional>
#include <utility>

namespace synergy {
namespace {

// The fraction of a quota that is always kept for future pods, as a divisor.
constexpr int64_t kReservedPart = 4;

template <class T>
using ByNamespace = std::map<std::string, std::vector<T>>;

template <class T>
bool Remove(ByNamespace<T>& all, const std::string& uid) {
  for (auto entry = all.begin(); entry != all.end(); ++entry) {
    if (std::erase_if(entry->second, [&](const T& one) { return one.uid == uid; }) == 0) continue;
    if (entry->second.empty()) all.erase(entry);
    return true;
  }
  return false;
}

template <class T>
bool Put(ByNamespace<T>& all, T object) {
  std::vector<T>& there = all[object.pod_namespace];
  const auto known =
      std::find_if(there.begin(), there.end(), [&](const T& one) { return one.uid == object.uid; });
  if (known == there.end()) {
    there.push_back(std::move(object));
  } else if (*known == object) {
    return false;
  } else {
    *known = std::move(object);
  }
  return true;
}

template <class T>
size_t Count(const ByNamespace<T>& all) {
  size_t count = 0;
  for (const auto& [name, objects] : all) count += objects.size();
  return count;
}

template <class T>
const std::vector<T>& In(const ByNamespace<T>& all, const std::string& pod_namespace) {
  static const std::vector<T> none;
  const auto found = all.find(pod_namespace);
  return found == all.end() ? none : found->second;
}

bool HasLimits(const LimitRange& range) {
  return range.container != AmountBounds{} || range.pod != AmountBounds{} || range.cpu_ratio ||
         range.memory_ratio;
}

bool HasLimits(const ResourceQuota& quota) {
  bool has_limits = quota.by_qos;
  ResourceVector::ForEachDivided([&](auto dimension) {
    has_limits |= quota.requests.Counts(dimension) || quota.limits.Counts(dimension);
  });
  return has_limits;
}

void Narrow(AmountBounds& bounds, const AmountBounds& by) {
  bounds.least = LargerOf(bounds.least, by.least);
  bounds.most = LesserOf(bounds.most, by.most);
}

// Returns the unused part of a sum.
ResourceVector LeftOf(const QuotaSum& sum) {
  return ResourceVector::Make(Gpus(0), [&](auto dimension) {
    const auto hard = sum.hard.*dimension;
    return sum.Counts(dimension) ? hard - sum.used.*dimension : hard;
  });
}

// Returns the part of a sum that growth must leave. `like_it`: the amounts of another pod like the
// growing one.
ResourceVector ReservedIn(const QuotaSum& sum, const ResourceVector& like_it) {
  return ResourceVector::Make(Gpus(0), [&](auto dimension) {
    using Amount = std::remove_cvref_t<decltype(like_it.*dimension)>;
    if (!sum.Counts(dimension)) return Amount(0);
    return std::max(Amount((sum.hard.*dimension).count() / kReservedPart), like_it.*dimension);
  });
}

}  // namespace

AmountBounds NamespaceLimits::Bounds(const std::string& pod_namespace, const ResourceVector& beside,
                                     const ResourceVector& asks) const {
  AmountBounds bounds;
  for (const LimitRange& range : In(ranges_, pod_namespace)) {
    Narrow(bounds, range.container);
    Narrow(bounds, {range.pod.least - beside, range.pod.most - beside});
    if (range.cpu_ratio) bounds.least.cpu = std::max(bounds.least.cpu, asks.cpu);
    if (range.memory_ratio) bounds.least.memory = std::max(bounds.least.memory, asks.memory);
  }
  return bounds;
}

bool NamespaceLimits::HasQuotaByQos(const std::string& pod_namespace) const {
  const std::vector<ResourceQuota>& quotas = In(quotas_, pod_namespace);
  return std::any_of(quotas.begin(), quotas.end(), std::mem_fn(&ResourceQuota::by_qos));
}

ResourceVector NamespaceLimits::MostFor(const Pod& pod, const ResourceVector& under_way) const {
  const ManagedContainer& fungible = *pod.fungible;
  const ResourceVector counted = fungible.Counted(fungible.requested);
  const ResourceVector beside = LargerOf(pod.requests.main - counted, {});
  ResourceVector most = Bounds(pod.pod_namespace, beside, {}).most;
  const ResourceVector like_it = fungible.Counted(fungible.floor) + beside;
  const ResourceVector share = LesserOf(fungible.fair_share, fungible.demand);
  const ResourceVector has = counted - under_way;
  const auto keep_within = [&](const QuotaSum& sum) {
    const ResourceVector all = has + LeftOf(sum);
    most = LesserOf(most, LargerOf(all - ReservedIn(sum, like_it), LesserOf(share, all)));
  };
  for (const ResourceQuota& quota : In(quotas_, pod.pod_namespace)) {
    keep_within(quota.requests);
    if (fungible.enforcement == Enforcement::kStrict) keep_within(quota.limits);
  }
  most = LargerOf(most, fungible.requested);
  most.gpus = fungible.requested.gpus;
  return most;
}

Bytes NamespaceLimits::MostMemory(const std::string& pod_namespace) const {
  Bytes most = Bounds(pod_namespace, {}, {}).most.memory;
  for (const ResourceQuota& quota : In(quotas_, pod_namespace))
    most = std::min({most, quota.requests.hard.memory, quota.limits.hard.memory});
  return most;
}

ResourceVector NamespaceLimits::MostForEach(const Pod& pod, const ResourceVector& wanted,
                                            size_t count, const ResourceVector& under_way) const {
  const ResourceVector& has = pod.fungible->requested;
  const ResourceVector alone = LesserOf(LargerOf(wanted, has), MostFor(pod, under_way));
  const auto all = Gpus(static_cast<int64_t>(count));
  ResourceVector others = PartOf(alone - has, all - Gpus(1), Gpus(1));
  others.gpus = Gpus(0);
  const bool for_all = LesserOf(alone, MostFor(pod, under_way + others)) == alone;
  if (for_all) return alone;
  ResourceVector each = has + PartOf(alone - has, Gpus(1), all);
  each.gpus = has.gpus;
  return each;
}

bool NamespaceLimits::Put(LimitRange range) {
  return HasLimits(range) ? synergy::Put(ranges_, std::move(range)) : RemoveRange(range.uid);
}

bool NamespaceLimits::Put(ResourceQuota quota) {
  return HasLimits(quota) ? synergy::Put(quotas_, std::move(quota)) : RemoveQuota(quota.uid);
}

bool NamespaceLimits::RemoveRange(const std::string& uid) { return Remove(ranges_, uid); }
bool NamespaceLimits::RemoveQuota(const std::string& uid) { return Remove(quotas_, uid); }
size_t NamespaceLimits::ranges() const { return Count(ranges_); }
size_t NamespaceLimits::quotas() const { return Count(quotas_); }

}  // namespace synergy
