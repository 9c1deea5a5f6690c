#include "engine/tuner/gang_tenancy.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace synergy {
namespace {

// Returns the throughput per GPU of a member on another node, whose amounts are not changed here.
double SpeedOf(const Pod& pod, const ResourceVector& needs, const TenancyRules& rules) {
  const Fungible& fungible = *pod.fungible;
  const TunedProfile known =
      rules.profiles.Find(pod.pod_namespace, fungible.profile, fungible.requested.gpus);
  Tenant tenant;
  tenant.profile = known.profile.get();
  tenant.current = fungible.requested;
  tenant.fair = fungible.fair_share;
  tenant.max_speed_up = rules.max_speed_up;
  tenant.gang = InGang{.needs = needs};
  return NormalizedThroughput(tenant, tenant.current) /
         static_cast<double>(tenant.current.gpus.count());
}

}  // namespace

std::vector<std::shared_ptr<const Pod>> RunningMembers(const ClusterSnapshot& cluster,
                                                       const std::string& gang) {
  std::vector<std::shared_ptr<const Pod>> members = cluster.MembersOnNodes(gang);
  std::erase_if(members, [](const auto& member) {
    return member->waiting || !member->fungible || member->fungible->requested.gpus <= Gpus(0);
  });
  return members;
}

ResourceVector LeastOfGang(std::span<const std::shared_ptr<const Pod>> members, const Pod& pod) {
  ResourceVector least = pod.fungible->requested;
  for (const auto& member : members) {
    const ResourceVector& has = member->fungible->requested;
    least = LesserOf(least, PartOf(has, least.gpus, has.gpus));
  }
  return least;
}

double GpusOfGang(std::span<const std::shared_ptr<const Pod>> members) {
  double gpus = 0;
  for (const auto& member : members) {
    gpus += static_cast<double>(member->fungible->requested.gpus.count());
  }
  return gpus;
}

void JoinGangs(const TenancyRules& rules, Tenancy& tenancy) {
  if (rules.cluster == nullptr) return;
  std::map<std::string, std::vector<size_t>> here;
  for (size_t i = 0; i < tenancy.pods.size(); ++i) {
    const Pod& pod = *tenancy.pods[i];
    if (pod.gang && pod.fungible->requested.gpus > Gpus(0)) here[pod.gang->name].push_back(i);
  }
  for (const auto& [name, tenants] : here) {
    const auto members = RunningMembers(*rules.cluster, name);
    InGang gang{.number = tenants.front(), .gpus = GpusOfGang(members), .needs = {}};
    for (const auto& member : members) {
      const bool is_here = std::any_of(tenants.begin(), tenants.end(), [&](size_t i) {
        return tenancy.pods[i]->uid == member->uid;
      });
      if (is_here) continue;
      gang.elsewhere =
          std::min(gang.elsewhere, SpeedOf(*member, LeastOfGang(members, *member), rules));
    }
    for (const size_t i : tenants) {
      gang.needs = LeastOfGang(members, *tenancy.pods[i]);
      tenancy.tenants[i].gang = gang;
    }
  }
}

}  // namespace synergy
