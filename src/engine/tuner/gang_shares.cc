#include "engine/tuner/gang_shares.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace synergy {
namespace {

// Returns the throughput per GPU of a member on another node whose amounts do not change here.
double SpeedOf(const Pod& pod, const ResourceVector& needs, const ShareRules& rules) {
  const ManagedContainer& fungible = *pod.fungible;
  const TunedProfile known =
      rules.profiles.Find(pod.pod_namespace, fungible.profile, fungible.requested.gpus);
  PodShare share;
  share.profile = known.profile.get();
  share.current = fungible.requested;
  share.fair = fungible.fair_share;
  share.max_speed_up = rules.max_speed_up;
  share.gang = InGang{.needs = needs};
  return NormalizedThroughput(share, share.current) /
         static_cast<double>(share.current.gpus.count());
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

void JoinGangs(const ShareRules& rules, NodeShares& node_shares) {
  if (rules.cluster == nullptr) return;
  std::map<std::string, std::vector<size_t>> here;
  for (size_t i = 0; i < node_shares.pods.size(); ++i) {
    const Pod& pod = *node_shares.pods[i];
    if (pod.gang && pod.fungible->requested.gpus > Gpus(0)) here[pod.gang->name].push_back(i);
  }
  for (const auto& [name, shares] : here) {
    const auto members = RunningMembers(*rules.cluster, name);
    InGang gang{.number = shares.front(), .gpus = GpusOfGang(members), .needs = {}};
    for (const auto& member : members) {
      const bool is_here = std::any_of(shares.begin(), shares.end(), [&](size_t i) {
        return node_shares.pods[i]->uid == member->uid;
      });
      if (is_here) continue;
      gang.elsewhere =
          std::min(gang.elsewhere, SpeedOf(*member, LeastOfGang(members, *member), rules));
    }
    for (const size_t i : shares) {
      gang.needs = LeastOfGang(members, *node_shares.pods[i]);
      node_shares.shares[i].gang = gang;
    }
  }
}

}  // namespace synergy
