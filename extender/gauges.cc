#include "extender/gauges.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace synergy::extender {

void PlaceAges::Look(const std::vector<HeldPlace>& held, Instant now) {
  const std::lock_guard lock(mutex_);
  auto before = std::exchange(since_, {});
  for (const HeldPlace& place : held) {
    const std::pair key(place.uid, place.kind);
    const auto known = before.find(key);
    since_.emplace(key, known == before.end() ? now : known->second);
  }
}

PlaceAges::Held PlaceAges::Of(HeldPlace::Kind kind, Instant now) const {
  const std::lock_guard lock(mutex_);
  Held held;
  for (const auto& [key, since] : since_) {
    if (key.second != kind) continue;
    ++held.places;
    held.oldest = std::max(held.oldest, now - since);
  }
  return held;
}

metrics::ClusterGauges ReadGauges(const ClusterState& state, const PlaceAges& ages,
                                  const ReserveRule& reserve,
                                  const std::vector<kube::WatchedResource>& resources,
                                  const kube::Health& health, const Clock& clock) {
  metrics::ClusterGauges gauges;
  const auto snapshot = state.Snapshot();
  const ResourceVector per_gpu = ReservePerGpu(*snapshot, reserve);
  uint64_t nodes = 0;
  for (NodeIndex index = 0; index < snapshot->size(); ++index) {
    const NodeState& node = snapshot->node(index);
    if (!node.exists) continue;
    ++nodes;
    if (node.allocatable.gpus <= Gpus(0)) continue;
    gauges.nodes.push_back(
        {node.detail->name, node.allocatable, node.requested, StrandedGpus(node, per_gpu)});
  }
  const std::map<std::string, uint64_t> objects = {
      {"nodes", nodes},
      {"pods", state.known_pods()},
      {"poddisruptionbudgets", snapshot->disruption_budgets().size()},
      {"resourcequotas", snapshot->limits().quotas()}};
  for (const kube::WatchedResource& resource : resources) {
    const kube::ReflectorStatus status = resource.status();
    metrics::CacheGauge& cache = gauges.caches.emplace_back();
    cache.resource = resource.name;
    cache.synced = status.synced;
    cache.staleness = status.synced ? clock.Now() - status.last_contact : Duration::zero();
    cache.objects = objects.at(resource.name);
    cache.lists = status.lists;
    cache.watch_restarts = status.watch_restarts;
    cache.errors = status.errors;
    cache.events = status.events;
    cache.problems = status.problems;
    cache.unread = status.unread;
  }
  gauges.assumed_pods = state.assumed_pods();
  gauges.oldest_assumed = ages.Of(HeldPlace::Kind::kAssumed, clock.Now()).oldest;
  const PlaceAges::Held kept = ages.Of(HeldPlace::Kind::kKept, clock.Now());
  gauges.kept_places = kept.places;
  gauges.oldest_kept = kept.oldest;
  gauges.waiting_gpu_pods = snapshot->waiting_gpu_pods();
  gauges.ready = health.NotReadyReason().empty();
  return gauges;
}

}  // namespace synergy::extender
