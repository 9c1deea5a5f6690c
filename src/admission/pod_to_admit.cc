#include "admission/pod_to_admit.h"

#include <algorithm>
#include <utility>

#include "cluster/annotations.h"

namespace synergy {

bool PodToAdmit::SharesGpus() const {
  return !gpu_containers.empty() &&
         std::all_of(gpu_containers.begin(), gpu_containers.end(),
                     [](const GpuContainer& one) { return one.gpus.gpus <= Gpus(0); });
}

PodToAdmit WithClaimedGpus(PodToAdmit pod, const GpusOfTemplate& gpus_of_template) {
  for (ClaimingContainer& claiming : std::exchange(pod.claiming_containers, {})) {
    std::optional<Gpus> gpus = Gpus(0);
    for (const std::string& name : claiming.templates) {
      const std::optional<Gpus> more = gpus_of_template(pod.pod_namespace, name);
      gpus = gpus && more ? std::optional(*gpus + *more) : std::nullopt;
    }
    if (!gpus || *gpus <= Gpus(0)) continue;
    claiming.container.gpus = *gpus;
    if (pod.gpu_containers.empty()) {
      pod.beside = claiming.beside;
      pod.beside_limits = claiming.beside_limits;
      pod.guaranteed_beside = claiming.guaranteed_beside;
    }
    pod.gpu_containers.push_back(std::move(claiming.container));
  }
  return pod;
}

PodToAdmit AsCreated(const Pod& pod, const std::string& scheduler) {
  const ManagedContainer& fungible = *pod.fungible;
  PodToAdmit created;
  created.pod_namespace = pod.pod_namespace;
  created.scheduler = scheduler;
  created.labels = pod.labels;
  created.gang_size = GangSizeOf(pod);
  // Limits can be neither added nor removed after creation.
  std::erase_if(created.labels,
                [](const auto& label) { return label.first == annotations::kEnforcement; });
  created.labels.emplace_back(annotations::kEnforcement, ToString(fungible.enforcement));
  std::sort(created.labels.begin(), created.labels.end());
  created.exists = true;
  created.workload = fungible.workload;
  created.alike = fungible.alike;
  created.may_pack = fungible.may_pack;
  const ResourceVector& has = fungible.requested;
  created.gpu_containers.push_back(
      {0,
       fungible.container,
       {has.gpus, pod.slices},
       fungible.written,
       {has.cpu, fungible.cpu_limit, has.memory, fungible.memory_limit}});
  created.beside = fungible.beside;
  created.guaranteed_beside = fungible.enforcement == Enforcement::kStrict;
  if (pod.waiting && pod.waiting->selection) created.selection = *pod.waiting->selection;
  return created;
}

}  // namespace synergy
