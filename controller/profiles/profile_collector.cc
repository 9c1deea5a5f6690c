#include "controller/profiles/profile_collector.h"

#include <algorithm>
#include <chrono>
#include <memory>

#include "cluster/state/cluster_snapshot.h"
#include "core/wall_time.h"

namespace synergy::controller {
namespace {

constexpr Duration kCheckInterval = std::chrono::minutes(1);
// An adopted curve can be found again through the looser identity, so it is kept for less long.
constexpr Duration kKeepTaken = std::chrono::hours(1);

}  // namespace

void ProfileCollector::DeleteOneIfDue(const std::stop_token& stop) {
  if (clock_.Now() < next_) return;
  next_ = clock_.Now() + kCheckInterval;
  const WallTime now = clock_.WallNow();
  for (const auto& known : profiles_.All()) {
    const ProfileObject& object = known->object;
    if (!object.kept_by_us || !object.measured) continue;
    const Duration keep = object.measured->taken ? std::min(keep_, kKeepTaken) : keep_;
    if (now - object.measured->at <= keep || InUse(object)) continue;
    const Result<> deleted = api_.Delete(object, stop);
    if (deleted) {
      log_.Info("measured profile deleted: no pod of its workload has run recently",
                {{"profile", object.Key()}, {"measured", ToTimeText(object.measured->at)}});
    } else {
      log_.Warn("cannot delete a measured profile",
                {{"profile", object.Key()}, {"error", deleted.error().message}});
    }
    return;
  }
}

bool ProfileCollector::InUse(const ProfileObject& object) const {
  const auto all = profiles_.All();
  const bool is_source = std::any_of(all.begin(), all.end(), [&object](const auto& known) {
    const ProfileObject& other = known->object;
    return other.profile_namespace == object.profile_namespace && other.measured &&
           other.measured->taken && other.measured->taken->profile == object.name;
  });
  if (is_source) return true;
  const auto uses = [&object](const std::shared_ptr<const Pod>& pod) {
    return pod->pod_namespace == object.profile_namespace && pod->fungible &&
           (pod->fungible->workload == object.workload || pod->fungible->profile == object.name);
  };
  const auto cluster = state_.Snapshot();
  for (NodeIndex index = 0; index < cluster->size(); ++index) {
    const auto& pods = cluster->node(index).detail->pods;
    if (std::any_of(pods.begin(), pods.end(), uses)) return true;
  }
  const auto waiting = state_.WaitingPods();
  return std::any_of(waiting.begin(), waiting.end(), uses);
}

}  // namespace synergy::controller
