#include "controller/profiles/profile_collector.h"

#include <algorithm>
#include <chrono>
#include <memory>

#include "cluster/state/cluster_snapshot.h"
#include "core/wall_time.h"

namespace synergy::controller {
namespace {

constexpr Duration kCheckInterval = std::chrono::minutes(1);
// An adopted curve can be found again through the looser identity, so it is kept for a shorter
// time.
constexpr Duration kKeepTaken = std::chrono::hours(1);

// Returns when the profile last got a measurement; 1970 if it has none, for example because a write
// failed.
WallTime ChangedAt(const ProfileObject& object) {
  WallTime at = object.measured ? object.measured->at : WallTime();
  for (const PackRecord& record : object.packing) at = std::max(at, record.at);
  return at;
}

}  // namespace

void ProfileCollector::DeleteOneIfDue(const std::stop_token& stop) {
  if (clock_.Now() < next_) return;
  next_ = clock_.Now() + kCheckInterval;
  const std::shared_ptr<const KnownProfile> next = Next(clock_.WallNow());
  if (next == nullptr || stop.stop_requested() || !may_act_()) return;
  const ProfileObject& object = next->object;
  if (!tried_.insert(object.uid).second) tried_ = {object.uid};
  const Result<> deleted = api_.Delete(object, stop);
  if (deleted) {
    log_.Info("measured profile deleted: no pod of its workload has run recently",
              {{"profile", object.Key()}, {"measured", ToTimeText(ChangedAt(object))}});
  } else {
    log_.Warn("cannot delete a measured profile",
              {{"profile", object.Key()}, {"error", deleted.error().message}});
  }
}

std::shared_ptr<const KnownProfile> ProfileCollector::Next(WallTime now) const {
  std::shared_ptr<const KnownProfile> tried;
  for (const auto& known : profiles_.All()) {
    const ProfileObject& object = known->object;
    // A user's copy of a measured profile, with the user's own points, has the label, too.
    if (!object.kept_by_us || (object.profile && !object.measured)) continue;
    const bool is_taken = object.measured && object.measured->taken;
    const Duration keep = is_taken ? std::min(keep_, kKeepTaken) : keep_;
    if (now - ChangedAt(object) <= keep || InUse(object)) continue;
    if (!tried_.contains(object.uid)) return known;
    if (tried == nullptr) tried = known;
  }
  return tried;
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
