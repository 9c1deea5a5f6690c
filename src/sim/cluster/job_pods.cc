#include "sim/cluster/job_pods.h"

#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "allocation/surplus.h"
#include "cluster/annotations.h"
#include "cluster/gang.h"
#include "profile/measured/measured_profile.h"
#include "queues/kueue.h"

namespace synergy {
namespace {

// Returns a reading that never becomes stale. A job's process memory is within its floor.
MemoryReading NothingBeyondTheFloor() { return {.in_use = Bytes(0), .at = WallTime::max()}; }

Pod AdmittedPod(const AdmissionFigures& figures, const std::string& workload,
                const std::string& pod_namespace, const std::string& scheduler,
                const NodeSelection& selection, WallTime now) {
  ManagedContainer fungible;
  fungible.container = figures.container_name;
  fungible.profile = figures.profile;
  fungible.profile_generation = figures.profile_generation;
  fungible.workload = workload;
  fungible.enforcement = figures.enforcement;
  fungible.floor = figures.floor;
  fungible.demand = figures.demand;
  fungible.fair_share = figures.fair_share;
  for (ResourceVector* amounts : {&fungible.floor, &fungible.demand, &fungible.fair_share}) {
    amounts->gpus = figures.demand.gpus;
  }
  fungible.requested = fungible.in_force = fungible.set_aside = fungible.floor;
  Pod pod;
  pod.pod_namespace = pod_namespace;
  fungible.memory_reading = NothingBeyondTheFloor();
  fungible.devices = DeviceReading{.safety = DeviceSafety::kSafe, .why = {}};
  pod.requests.main = fungible.requested;
  pod.demand = LargerOf(fungible.demand, fungible.requested);
  pod.gpu_product = figures.gpu_product;
  pod.fungible = std::make_shared<const ManagedContainer>(std::move(fungible));
  auto waiting = std::make_shared<Waiting>();
  waiting->scheduler = scheduler;
  waiting->since = now;
  waiting->selection = std::make_shared<const NodeSelection>(selection);
  pod.waiting = std::move(waiting);
  return pod;
}

}  // namespace

int64_t PodCount(Gpus gpus, Gpus most_gpus) {
  const int64_t most = most_gpus.count();
  return most > 0 ? (gpus.count() + most - 1) / most : 1;
}

Result<std::vector<Pod>> PodsOf(const JobOfPods& job, Gpus most_gpus,
                                const AdmissionSurroundings& surroundings,
                                const AdmissionSettings& settings, WallTime now) {
  const int64_t count = PodCount(job.gpus, most_gpus);
  if (count > kMostGangMembers) {
    return Fail(ErrorCode::kInvalid, fmt::format("{} needs {} pods, and a gang has {} at most",
                                                 job.name, count, kMostGangMembers));
  }
  std::vector<Pod> pods;
  for (int64_t ordinal = 0; ordinal < count; ++ordinal) {
    const bool larger = ordinal < job.gpus.count() % count;
    const Gpus gpus(job.gpus.count() / count + (larger ? 1 : 0));
    PodToAdmit facts;
    facts.pod_namespace = job.pod_namespace;
    if (!job.gpu_product.empty())
      facts.selection.node_selector = {{std::string(kGpuProductLabel), job.gpu_product}};
    if (!job.measured) {
      facts.labels = {{std::string(annotations::kProfile), job.model}};
    } else {
      const std::string name = MeasuredName(job.model, gpus, {}, static_cast<int32_t>(count));
      // Labels are sorted by key.
      if (surroundings.FindProfile(job.pod_namespace, name))
        facts.labels.emplace_back(std::string(annotations::kProfile), name);
      facts.labels.emplace_back(std::string(annotations::kWorkload), job.model);
    }
    facts.gpu_containers = {{.index = 0, .name = "train", .gpus = gpus, .written = {}}};
    facts.gang_size = static_cast<int32_t>(count);
    const AdmissionDecision decision = Admit(facts, surroundings, settings);
    const bool no_node = decision.figures && !decision.figures->placeholder.empty();
    if (no_node || !decision.figures || (decision.figures->profile.empty() && !job.measured)) {
      return Fail(no_node ? ErrorCode::kUnavailable : ErrorCode::kInvalid,
                  fmt::format("{}: {}", job.name,
                              decision.warnings.empty() ? ToString(decision.outcome)
                                                        : decision.warnings.front()));
    }
    Pod pod = AdmittedPod(*decision.figures, job.measured ? job.model : std::string(),
                          job.pod_namespace, settings.scheduler_name, facts.selection, now);
    pod.name = pod.uid = fmt::format("{}-{}", job.name, ordinal);
    if (job.run > 1) pod.uid += fmt::format("-run-{}", job.run);
    if (count > 1) {
      pod.gang = std::make_shared<const Gang>(Gang{.name = job.pod_namespace + '/' + job.name,
                                                   .size = static_cast<int32_t>(count),
                                                   .problem = {},
                                                   .spread = decision.figures->spread});
    }
    pods.push_back(std::move(pod));
  }
  return pods;
}

void GiveFairShare(Pod& pod) {
  ManagedContainer fungible = *pod.fungible;
  fungible.floor = fungible.demand = fungible.fair_share;
  fungible.requested = fungible.in_force = fungible.set_aside = fungible.fair_share;
  pod.requests.main = fungible.fair_share;
  pod.demand = fungible.fair_share;
  pod.fungible = std::make_shared<const ManagedContainer>(std::move(fungible));
}

void Adopt(ManagedContainer& fungible, const std::string& name, int64_t generation,
           const JobProfile& profile, const ProfileTrust& trust) {
  fungible.profile = name;
  fungible.profile_generation = generation;
  const SizingCase sizing{.enforcement = fungible.enforcement, .gpus = fungible.requested.gpus};
  const Sizes sizes = Size(sizing, fungible.fair_share, &profile, trust);
  fungible.demand = sizes.demand;
  fungible.floor = sizes.floor;
}

Pod GoingOn(Pod pod, WallTime at) {
  if (!pod.fungible) return pod;
  ManagedContainer fungible = *pod.fungible;
  std::optional<MemoryReading>& reading = fungible.memory_reading;
  if (pod.node.empty()) {
    reading = NothingBeyondTheFloor();
  } else if (reading && at - reading->at <= kReadingIsFresh) {
    reading->at = WallTime::max();
  }
  pod.fungible = std::make_shared<const ManagedContainer>(std::move(fungible));
  return pod;
}

}  // namespace synergy
