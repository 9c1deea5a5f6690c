#include "controller/cluster/pod_gauges.h"

#include "allocation/surplus.h"
#include "cluster/devices/device_safety.h"
#include "cluster/managed_container.h"

namespace synergy::controller {

std::vector<metrics::PodGauge> ReadPodGauges(const ClusterSnapshot& snapshot,
                                             const std::string& gpu_resource,
                                             const ProfileCatalog& profiles, double max_speed_up) {
  const std::string turns = TurnsResource(gpu_resource);
  std::vector<metrics::PodGauge> gauges;
  for (NodeIndex index = 0; index < snapshot.size(); ++index) {
    const NodeState& node = snapshot.node(index);
    if (!node.exists) continue;
    for (const auto& pod : node.detail->pods) {
      if (!pod->fungible || pod->terminal) continue;
      const ManagedContainer& fungible = *pod->fungible;
      metrics::PodGauge& gauge = gauges.emplace_back();
      gauge.pod_namespace = pod->pod_namespace;
      gauge.pod = pod->name;
      gauge.node = node.detail->name;
      gauge.allocated = fungible.requested;
      gauge.demand = fungible.demand;
      gauge.fair_share = fungible.fair_share;
      gauge.slices = pod->slices;
      gauge.in_turns = pod->requests.other.Get(turns) > 0;
      const TunedProfile known =
          profiles.Find(pod->pod_namespace, fungible.profile, fungible.requested.gpus);
      if (!known.profile || fungible.requested.gpus <= Gpus(0)) continue;
      PodShare share;
      share.profile = known.profile.get();
      share.current = fungible.requested;
      share.fair = fungible.fair_share;
      share.max_speed_up = max_speed_up;
      gauge.speed_up = NormalizedThroughput(share, share.current) /
                       static_cast<double>(share.current.gpus.count());
    }
  }
  return gauges;
}

std::map<std::pair<std::string, std::string>, uint64_t> ReadDeviceGauges(
    const ClusterSnapshot& snapshot) {
  std::map<std::pair<std::string, std::string>, uint64_t> gauges;
  for (NodeIndex index = 0; index < snapshot.size(); ++index) {
    const NodeState& node = snapshot.node(index);
    if (!node.exists) continue;
    for (const auto& pod : node.detail->pods) {
      if (!pod->fungible || !pod->fungible->reported || pod->terminal) continue;
      const DeviceSafety safety = DeviceSafetyOf(*pod, node);
      ++gauges[{node.detail->name, std::string(ToString(safety))}];
    }
  }
  return gauges;
}

std::map<std::string, Gpus> ReadIdleGpus(const ClusterSnapshot& snapshot,
                                         const ClusterProgress& progress) {
  std::map<std::string, Duration> idle;
  for (const KnownProgress& known : progress.pods) {
    if (known.pod.idle) idle[known.pod.uid] = known.pod.idle->idle;
  }
  std::map<std::string, Gpus> gauges;
  for (NodeIndex index = 0; index < snapshot.size() && !idle.empty(); ++index) {
    const NodeState& node = snapshot.node(index);
    if (!node.exists) continue;
    for (const auto& pod : node.detail->pods) {
      const auto found = idle.find(pod->uid);
      if (!pod->fungible || pod->terminal || found == idle.end()) continue;
      Gpus& of_namespace = gauges[pod->pod_namespace];
      if (found->second >= kIdleToShow) of_namespace += pod->fungible->requested.gpus;
    }
  }
  return gauges;
}

std::string_view WaitingReason(const Pod& pod, const std::string& gpu_resource) {
  if (!pod.waiting || !pod.waiting->unschedulable) return "not_tried";
  const auto lacks = [&pod](const std::string& resource) {
    return pod.waiting->message.find("Insufficient " + resource) != std::string::npos;
  };
  if (lacks(gpu_resource)) return "gpus";
  if (lacks("cpu")) return "cpu";
  if (lacks("memory")) return "memory";
  return "other";
}

}  // namespace synergy::controller
