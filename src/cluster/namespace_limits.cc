#include "cluster/namespace_limits.h"

#include <functional>
#include <utility>

namespace synergy {
namespace {

// The part of a quota that is always left to pods to come.
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

bool Says(const LimitRange& range) {
  return range.container != AmountBounds{} || range.pod != AmountBounds{} || range.cpu_ratio ||
         range.memory_ratio;
}

bool Says(const ResourceQuota& quota) {
  bool says = quota.by_qos;
  ResourceVector::ForEachDivided([&](auto dimension) {
    says |= quota.requests.Counts(dimension) || quota.limits.Counts(dimension);
  });
  return says;
}

void Narrow(AmountBounds& bounds, const AmountBounds& by) {
  bounds.least = LargerOf(bounds.least, by.least);
  bounds.most = LesserOf(bounds.most, by.most);
}

// What growth may still take of a sum; `like_it` is what another pod like the one that grows takes.
ResourceVector RoomIn(const QuotaSum& sum, const ResourceVector& like_it) {
  return ResourceVector::Make(Gpus(0), [&](auto dimension) {
    const auto hard = sum.hard.*dimension;
    using Amount = decltype(hard);
    if (!sum.Counts(dimension)) return hard;
    const auto reserve = std::max<Amount>(std::remove_const_t<Amount>(hard.count() / kReservedPart),
                                          like_it.*dimension);
    return hard - sum.used.*dimension - reserve;
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
  const Fungible& fungible = *pod.fungible;
  const ResourceVector beside = LargerOf(pod.requests.main - fungible.requested, {});
  ResourceVector most = Bounds(pod.pod_namespace, beside, {}).most;
  const ResourceVector like_it = fungible.floor + beside;
  for (const ResourceQuota& quota : In(quotas_, pod.pod_namespace)) {
    ResourceVector room = RoomIn(quota.requests, like_it);
    if (fungible.enforcement == Enforcement::kStrict)
      room = LesserOf(room, RoomIn(quota.limits, like_it));
    most = LesserOf(most, fungible.requested + room - under_way);
  }
  most = LargerOf(most, fungible.requested);
  most.gpus = fungible.requested.gpus;
  return most;
}

bool NamespaceLimits::Put(LimitRange range) {
  return Says(range) ? synergy::Put(ranges_, std::move(range)) : RemoveRange(range.uid);
}

bool NamespaceLimits::Put(ResourceQuota quota) {
  return Says(quota) ? synergy::Put(quotas_, std::move(quota)) : RemoveQuota(quota.uid);
}

bool NamespaceLimits::RemoveRange(const std::string& uid) { return Remove(ranges_, uid); }
bool NamespaceLimits::RemoveQuota(const std::string& uid) { return Remove(quotas_, uid); }
size_t NamespaceLimits::ranges() const { return Count(ranges_); }
size_t NamespaceLimits::quotas() const { return Count(quotas_); }

}  // namespace synergy
