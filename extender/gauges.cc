#include "extender/gauges.h"

#include <algorithm>
#include <map>
#include <string>

namespace synergy::extender {

void PlaceAges::Look(const std::set<std::string>& uids, Instant now) {
  const std::lock_guard lock(mutex_);
  std::erase_if(since_, [&](const auto& entry) { return !uids.contains(entry.first); });
  for (const std::string& uid : uids) since_.try_emplace(uid, now);
}

PlaceAges::Summary PlaceAges::Of(Instant now) const {
  const std::lock_guard lock(mutex_);
  Summary summary{.places = since_.size()};
  for (const auto& [uid, since] : since_) summary.oldest = std::max(summary.oldest, now - since);
  return summary;
}

void AgesOfPlaces::Look(const ClusterState& state, Instant now) {
  std::set<std::string> uids;
  for (const AssumedPod& each : state.Expired(Instant::max())) uids.insert(each.pod->uid);
  assumed.Look(uids, now);
  uids.clear();
  for (const Reservation& each : state.Reservations(ReservationKind::kTuner))
    uids.insert(each.pod->uid);
  kept.Look(uids, now);
}

metrics::ClusterGauges ReadGauges(const ClusterState& state, const std::string& gpu_resource,
                                  const AgesOfPlaces& ages, const ReserveRule& reserve,
                                  const std::vector<kube::WatchedResource>& resources,
                                  const kube::Health& health, const Clock& clock) {
  metrics::ClusterGauges gauges;
  const auto snapshot = state.Snapshot();
  const ResourceVector per_gpu = ReservePerGpu(*snapshot, reserve);
  const std::string turns = TurnsResource(gpu_resource);
  uint64_t nodes = 0;
  for (NodeIndex index = 0; index < snapshot->size(); ++index) {
    const NodeState& node = snapshot->node(index);
    if (!node.exists) continue;
    ++nodes;
    const Slices slices = node.detail->gpu_kinds.slices;
    if (node.allocatable.gpus <= Gpus(0) && slices <= Slices(0)) continue;
    gauges.nodes.push_back({node.detail->name, node.allocatable, node.requested,
                            StrandedGpus(node, per_gpu), slices,
                            slices > Slices(0) ? SlicesTaken(node) : Slices(0),
                            node.detail->allocatable.Get(turns) > 0});
  }
  const DeviceCatalog::Counts devices = state.known_devices();
  const std::map<std::string, uint64_t> objects = {
      {"nodes", nodes},
      {"pods", state.known_pods()},
      {"resourceclaims", devices.claims},
      {"resourceslices", devices.slices},
      {"deviceclasses", devices.classes},
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
  gauges.oldest_assumed = ages.assumed.Of(clock.Now()).oldest;
  const PlaceAges::Summary kept = ages.kept.Of(clock.Now());
  gauges.kept_places = kept.places;
  gauges.oldest_kept = kept.oldest;
  gauges.waiting_gpu_pods = snapshot->waiting_gpu_pods();
  gauges.ready = health.NotReadyReason().empty();
  return gauges;
}

}  // namespace synergy::extender
