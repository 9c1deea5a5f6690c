#include "engine/tuner/node_shares.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "allocation/storage/storage_left.h"
#include "cluster/annotations.h"
#include "cluster/devices/device_safety.h"
#include "core/text/quantity_text.h"
#include "engine/tuner/gang_shares.h"

namespace synergy {
namespace {

// How long after a bind the node agent may take to report the pod's devices.
constexpr Duration kTimeToLook = std::chrono::minutes(2);

// Returns how long until the pod may have its next change of a round; nullopt if it may change now.
std::optional<Duration> RestOfRound(const Pod& pod, const ShareRules& rules) {
  const std::optional<ChangeRecord>& change = pod.fungible->change;
  if (!change || change->kind == ChangeKind::kAllocated) return std::nullopt;
  const Duration rest = change->at + rules.round - rules.at.wall;
  if (rest <= Duration::zero()) return std::nullopt;
  return std::min(rest, rules.round);
}

// Returns how long growth stays blocked because a growth failed in this round; nullopt if it is not
// blocked.
std::optional<Duration> Rest(const Pod& pod, const ShareRules& rules) {
  const auto resting = rules.memory.resting.find(pod.uid);
  if (resting == rules.memory.resting.end() || resting->second <= rules.at.now) return std::nullopt;
  return resting->second - rules.at.now;
}

// Returns whether the pod may be changed now. Excludes a pod that is being probed: a resize may
// remove the probe's quota and would spoil the measurement.
bool MayChange(const Pod& pod, const NodeState& node, const ShareRules& rules) {
  return pod.fungible && MayResize(pod, node) && !pod.waiting && !pod.deleting &&
         !pod.fungible->ChangedByHand() && !pod.fungible->leaves && IsSettled(pod) &&
         pod.fungible->Lends() == MilliCpu(0) && !pod.fungible->ProbedAt(rules.at.wall) &&
         !rules.memory.changes.contains(pod.uid) && !rules.memory.asked.contains(pod.uid);
}

// Returns the kubelet's report that it can never make this change to such a pod; null if the change
// may be tried.
const Infeasible* FindInfeasible(const Pod& pod, const NodeState& node, Dimension dimension,
                                 const ShareRules& rules) {
  const auto& known = rules.memory.infeasible;
  if (known.empty()) return nullptr;
  const auto found = known.find({node.detail->name, pod.fungible->enforcement, dimension});
  if (found == known.end() || found->second.until <= rules.at.now) return nullptr;
  return found->second.node == NodeMark::Of(node) ? &found->second : nullptr;
}

// Returns the growth that the tuner is giving to the namespace's pods and that the API server may
// not have recorded yet.
ResourceVector BeingGiven(const std::string& pod_namespace, const TunerMemory& memory) {
  ResourceVector given;
  for (const auto& [uid, change] : memory.changes) {
    if (change.pod->pod_namespace != pod_namespace || !change.pod->fungible) continue;
    const ResourceVector to = LargerOf(change.record.to, change.then.value_or(change.record.to));
    given += LargerOf(to - change.pod->fungible->requested, {});
  }
  return given;
}

PodShare ShareOf(const Pod& pod, const NodeState& node, const JobProfile* profile,
                 const DataReads* reads, const ShareRules& rules) {
  const ManagedContainer& fungible = *pod.fungible;
  PodShare share;
  share.profile = profile;
  share.current = fungible.requested;
  share.fair = fungible.fair_share;
  share.least = fungible.requested - SurplusOn(node, pod, rules.at.wall);
  share.most = share.current;
  share.whole_cpus = fungible.WholeCpus();
  share.max_speed_up = rules.max_speed_up;
  if (profile == nullptr) return share;
  const ResourceVector demand =
      profile->Demand(0, CredibleThroughput(*profile, share.fair, rules.max_speed_up));
  share.most.cpu = demand.cpu;
  // Without the process memory it is unknown which part of the memory is cache.
  if (profile->process_memory() && !fungible.memory_let_be) {
    share.most.memory = demand.memory;
    // The demand assumes that the pod has the storage to itself.
    if (reads != nullptr) share.most.memory = std::max(share.most.memory, reads->Enough());
  }
  share.most = fungible.WithinBounds(share.most);
  return share;
}

// The known facts about a node's storage and about the reads of its pods.
struct NodeReads {
  double bandwidth = 0;                     // 0: unknown
  std::map<std::string, PodReads> of_pods;  // by uid

  const PodReads* Find(const std::string& uid) const {
    const auto found = of_pods.find(uid);
    return found == of_pods.end() ? nullptr : &found->second;
  }
};

NodeReads ReadsOn(const NodeState& node, const ShareRules& rules) {
  NodeReads reads;
  if (rules.storage == nullptr) return reads;
  reads.bandwidth = rules.storage->BandwidthOf(node.detail->name);
  if (reads.bandwidth <= 0) return reads;
  for (const auto& pod : node.detail->pods) {
    if (!pod->fungible) continue;
    if (auto of_pod = rules.storage->ReadsOf(*pod)) reads.of_pods.emplace(pod->uid, *of_pod);
  }
  return reads;
}

// Divides the storage among the shares, after the needs of the node's other pods.
void JoinStorage(const NodeState& node, const NodeReads& reads, NodeShares& node_shares) {
  if (reads.of_pods.empty()) return;
  std::vector<double> needs;
  std::vector<bool> is_shared;
  for (const auto& pod : node.detail->pods) {
    const auto of_pod = reads.of_pods.find(pod->uid);
    if (of_pod == reads.of_pods.end()) continue;
    needs.push_back(of_pod->second.reads.NeedOf(*of_pod->second.profile, pod->fungible->requested));
    is_shared.push_back(std::find(node_shares.pods.begin(), node_shares.pods.end(), pod) !=
                        node_shares.pods.end());
  }
  const std::vector<double> parts = StorageParts(needs, reads.bandwidth);
  double bandwidth = reads.bandwidth;
  double equal_parts = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (is_shared[i]) {
      equal_parts += reads.bandwidth / static_cast<double>(parts.size());
    } else {
      bandwidth -= parts[i];
    }
  }
  bandwidth = std::max(bandwidth, equal_parts);
  for (size_t i = 0; i < node_shares.shares.size(); ++i) {
    const PodReads* const of_pod = reads.Find(node_shares.pods[i]->uid);
    PodShare& share = node_shares.shares[i];
    if (of_pod != nullptr && share.profile != nullptr)
      share.storage = OnStorage{.reads = of_pod->reads, .bandwidth = bandwidth};
  }
  node_shares.shares = WithStorageLeft(node_shares.shares, CurrentOf(node_shares.shares));
}

// Returns the amounts that Kueue counted against the pod's quota at admission; it counts no resize.
ResourceVector MostCounted(const Pod& pod, const ShareRules& rules) {
  if (!rules.within_counted || !FindLabel(pod.labels, annotations::kKueuePodSet)) return kUnlimited;
  return pod.fungible->floor;
}

// Returns whether the node agent has reported the pod's devices, or its time to do so is over.
bool IsReported(const ManagedContainer& fungible, WallTime now) {
  return fungible.devices || (fungible.change && now - fungible.change->at > kTimeToLook);
}

// Limits the share to `allowed`. Returns whether that is less than the share could use.
bool KeepWithin(const ResourceVector& allowed, PodShare& share) {
  const ResourceVector most = LesserOf(share.most, LargerOf(allowed, share.current));
  const bool held = most != share.most;
  share.most = {most.gpus, share.Step(most.cpu), most.memory};
  return held;
}

}  // namespace

ResourceVector MostAllowed(const Pod& pod, const ShareRules& rules) {
  const ResourceVector counted = MostCounted(pod, rules);
  if (rules.limits == nullptr || rules.limits->empty()) return counted;
  return LesserOf(rules.limits->MostFor(pod, BeingGiven(pod.pod_namespace, rules.memory)), counted);
}

ResourceVector MostAllowedForEach(const Pod& pod, const ResourceVector& wanted, size_t count,
                                  const ShareRules& rules) {
  const ResourceVector counted = LesserOf(wanted, MostCounted(pod, rules));
  if (rules.limits == nullptr || rules.limits->empty()) return counted;
  return rules.limits->MostForEach(pod, counted, count,
                                   BeingGiven(pod.pod_namespace, rules.memory));
}

NodeShares SharesOn(const NodeState& node, SharePurpose use, const ShareRules& rules) {
  NodeShares node_shares;
  std::vector<const std::shared_ptr<const Pod>*> pods;
  for (const auto& pod : node.detail->pods) {
    if (MayChange(*pod, node, rules)) pods.push_back(&pod);
  }
  // Sorted, so that neither the order of the watch nor a random UID matters: among equals, a
  // simulation must always choose the same pod.
  std::sort(pods.begin(), pods.end(), [](const auto* a, const auto* b) {
    return std::tie((*a)->pod_namespace, (*a)->name, (*a)->uid) <
           std::tie((*b)->pod_namespace, (*b)->name, (*b)->uid);
  });
  const NodeReads reads = ReadsOn(node, rules);
  for (const auto* entry : pods) {
    const Pod& pod = **entry;
    TunedProfile known =
        rules.profiles.Find(pod.pod_namespace, pod.fungible->profile, pod.fungible->requested.gpus);
    const PodReads* const of_pod = reads.Find(pod.uid);
    if (of_pod != nullptr) known.profile = of_pod->profile;
    PodShare share = ShareOf(pod, node, known.profile.get(),
                             of_pod == nullptr ? nullptr : &of_pod->reads, rules);
    const bool keeps = use == SharePurpose::kDivide &&
                       (known.profile == nullptr || Rest(pod, rules) || RestOfRound(pod, rules));
    if (keeps) {
      share.least = share.most = share.current;
    } else if (use == SharePurpose::kDivide) {
      node_shares.held_by_limits |= KeepWithin(MostAllowed(pod, rules), share);
    }
    if (FindInfeasible(pod, node, Dimension::kCpu, rules) != nullptr) {
      share.least.cpu = share.most.cpu = share.current.cpu;
    }
    if (FindInfeasible(pod, node, Dimension::kMemory, rules) != nullptr) {
      share.least.memory = share.most.memory = share.current.memory;
    }
    node_shares.keeps.push_back(keeps);
    node_shares.shares.push_back(share);
    node_shares.profiles.push_back(std::move(known.profile));
    node_shares.pods.push_back(*entry);
  }
  JoinStorage(node, reads, node_shares);
  if (use == SharePurpose::kReclaim) JoinGangs(rules, node_shares);
  return node_shares;
}

std::optional<Instant> NextChange(const NodeState& node, const ShareRules& rules) {
  std::optional<Instant> next;
  const auto consider = [&](const std::optional<Duration>& left) {
    if (!left) return;
    const Instant then = rules.at.now + *left;
    next = std::min(next.value_or(then), then);
  };
  for (const auto& pod : node.detail->pods) {
    if (!pod->fungible || pod->waiting || pod->deleting) continue;
    consider(RestOfRound(*pod, rules));
    if (pod->fungible->ProbedAt(rules.at.wall)) {
      consider(pod->fungible->probe->until - rules.at.wall + std::chrono::milliseconds(1));
    }
    consider(Rest(*pod, rules));
    for (const Dimension dimension : {Dimension::kCpu, Dimension::kMemory}) {
      const Infeasible* const never = FindInfeasible(*pod, node, dimension, rules);
      if (never != nullptr) consider(never->until - rules.at.now);
    }
    const auto& unshrinkable = pod->fungible->unshrinkable_until;
    if (unshrinkable && *unshrinkable >= rules.at.wall) {
      consider(*unshrinkable - rules.at.wall + std::chrono::milliseconds(1));
    }
  }
  return next;
}

std::optional<tuner_action::Notify> NoticeFor(const Pod& pod, const NodeState& node,
                                              const ProfileCatalog& profiles, WallTime now) {
  using tuner_action::Notify;
  if (!pod.fungible || pod.waiting || pod.deleting) return std::nullopt;
  const ManagedContainer& fungible = *pod.fungible;
  if (fungible.ChangedByHand()) {
    return Notify{
        Respected::kByHand,
        fmt::format(
            "another client has changed its requests to {}: Synergy no longer changes the pod",
            DescribeCpuAndMemory(fungible.requested))};
  }
  if (HasLostDevices(pod, node)) {
    return Notify{Respected::kDevicesLost,
                  fmt::format("a resize has taken its GPUs, so no running pod on its node is "
                              "resized any more: {}",
                              DevicesOf(pod, node).why)};
  }
  if (!MayResize(pod, node) && IsReported(fungible, now)) {
    return Notify{
        Respected::kDevices,
        fmt::format("its CPU and memory are not changed, because a resize may cost it its GPUs: {}",
                    DevicesOf(pod, node).why)};
  }
  if (fungible.profile.empty()) return std::nullopt;
  const TunedProfile known =
      profiles.Find(pod.pod_namespace, fungible.profile, fungible.requested.gpus);
  if (!known.profile) {
    return Notify{Respected::kProfileGone,
                  fmt::format("profile {} is missing or invalid: the pod keeps its amounts, unless "
                              "another pod needs its surplus",
                              fungible.profile)};
  }
  if (known.measured || known.generation == fungible.profile_generation) return std::nullopt;
  return Notify{
      Respected::kProfileChanged,
      fmt::format("profile {} is now at generation {}; its new values are used from now on",
                  fungible.profile, known.generation)};
}

}  // namespace synergy
