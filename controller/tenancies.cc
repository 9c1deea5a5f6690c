#include "controller/tenancies.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "allocation/best_fit.h"
#include "core/quantity_text.h"

namespace synergy::controller {

Tenancies::Tenancies(FindProfile find_profile, const PodChanges& changes,
                     kube::EventRecorder& events, const Clock& clock, Logger& log,
                     metrics::TunerMetrics& metrics, Duration round)
    : find_profile_(std::move(find_profile)),
      changes_(changes),
      events_(events),
      clock_(clock),
      log_(log),
      metrics_(metrics),
      round_(round) {}

Tenancy Tenancies::Of(const NodeState& node, TenancyUse use) {
  Tenancy tenancy;
  std::vector<std::shared_ptr<const Pod>> pods = node.detail->pods;
  // The order in which the watch reported them must not matter.
  std::sort(pods.begin(), pods.end(), [](const auto& a, const auto& b) { return a->uid < b->uid; });
  for (const auto& pod : pods) {
    if (!pod->fungible || pod->waiting || pod->deleting || changes_.UnderWay(pod->uid)) continue;
    if (!MayChange(*pod)) continue;
    const Fungible& fungible = *pod->fungible;
    TunedProfile known =
        find_profile_(pod->pod_namespace, fungible.profile, fungible.requested.gpus);
    TellOfProfile(*pod, known);
    Tenant tenant = TenantOf(*pod, node, known.profile.get());
    if (use == TenancyUse::kDivide) {
      if (Rests(*pod)) tenant.profile = nullptr;
      if (fungible.change && fungible.change->kind != ChangeKind::kAllocated) {
        const Duration rest_of_round = fungible.change->at + round_ - clock_.WallNow();
        if (rest_of_round > Duration::zero()) {
          tenant.profile = nullptr;
          const Instant again = clock_.Now() + std::min(rest_of_round, round_);
          tenancy.next_change = std::min(tenancy.next_change.value_or(again), again);
        }
      }
    }
    tenancy.tenants.push_back(tenant);
    tenancy.profiles.push_back(std::move(known.profile));
    tenancy.pods.push_back(pod);
  }
  return tenancy;
}

void Tenancies::LetRest(const std::string& uid) { resting_[uid] = clock_.Now() + round_; }

bool Tenancies::Rests(const Pod& pod) const {
  const auto rest = resting_.find(pod.uid);
  return rest != resting_.end() && rest->second > clock_.Now();
}

Tenant Tenancies::TenantOf(const Pod& pod, const NodeState& node, const JobProfile* profile) const {
  const Fungible& fungible = *pod.fungible;
  Tenant tenant;
  tenant.profile = profile;
  tenant.current = fungible.requested;
  tenant.fair = FairShare(node, fungible.requested.gpus);
  tenant.floor = LesserOf(fungible.floor, tenant.fair);
  tenant.most = profile != nullptr ? profile->Demand(0) : tenant.current;
  // A request that reached a limit set by the user would make the pod Guaranteed, which a resize
  // may not.
  if (fungible.enforcement == Enforcement::kShared && fungible.cpu_limit) {
    tenant.most.cpu = std::min(tenant.most.cpu, *fungible.cpu_limit - MilliCpu(1));
  }
  // Before the kubelet has said what it gives a pod, nobody can count it: it may start with what
  // it was bound with after a cut, when the room has gone to another pod already.
  tenant.shrinkable =
      fungible.reported && !Rests(pod) &&
      (!fungible.unshrinkable_until || *fungible.unshrinkable_until < clock_.WallNow());
  return tenant;
}

bool Tenancies::MayChange(const Pod& pod) {
  const Fungible& fungible = *pod.fungible;
  if (!fungible.ChangedByHand()) return fungible.Settled() && !fungible.Unrecorded();
  Respect(pod, "by_hand",
          fmt::format("asks for {} since somebody changed it: left alone from now on",
                      DescribeCpuAndMemory(fungible.requested)));
  return false;
}

void Tenancies::TellOfProfile(const Pod& pod, const TunedProfile& known) {
  const Fungible& fungible = *pod.fungible;
  if (known.profile && known.generation != fungible.profile_generation) {
    Respect(pod, "profile_changed",
            fmt::format("profile {} is at generation {} now; its figures are used from now on",
                        fungible.profile, known.generation));
  }
  if (!known.profile && !fungible.profile.empty()) {
    Respect(
        pod, "profile_gone",
        fmt::format("profile {} is gone or invalid: the pod keeps what it has", fungible.profile));
  }
}

void Tenancies::Respect(const Pod& pod, std::string_view reason, std::string message) {
  if (!respected_.insert(fmt::format("{} {} {}", pod.uid, reason, message)).second) return;
  metrics_.CountRespected(reason);
  log_.Info("pod respected", {{"pod", pod.Key()}, {"reason", reason}, {"message", message}});
  events_.Record(
      {pod.pod_namespace, pod.name, pod.uid, "Normal", "SynergyRespected", std::move(message)});
}

}  // namespace synergy::controller
