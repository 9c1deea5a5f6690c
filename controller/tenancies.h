#pragma once

// Which pods of a node may have their CPU and memory changed, and within what bounds: the node as
// the algorithms of allocation/surplus.h see it. Who is left alone, because a user has changed the
// pod or its profile is another one now, is told so once.
//
// Threading: one owner.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "allocation/surplus.h"
#include "cluster/cluster_snapshot.h"
#include "cluster/pod.h"
#include "controller/pod_changes.h"
#include "core/clock.h"
#include "core/log.h"
#include "kube/events.h"
#include "metrics/tuner_metrics.h"
#include "profile/job_profile.h"

namespace synergy::controller {

// The profile of a pod of that many GPUs, and which generation of it; null: there is none, or it
// makes no sense.
struct TunedProfile {
  std::shared_ptr<const JobProfile> profile;
  int64_t generation = 0;
};
using FindProfile =
    std::function<TunedProfile(const std::string& pod_namespace, const std::string& name, Gpus)>;

// One node's tenants; the profiles that they point to are kept alive here.
struct Tenancy {
  std::vector<std::shared_ptr<const Pod>> pods;
  std::vector<std::shared_ptr<const JobProfile>> profiles;
  std::vector<Tenant> tenants;
  // When the first of those that have had their change of this round may be changed again.
  std::optional<Instant> next_change;
};

// Why tenants are asked for.
enum class TenancyUse {
  kReclaim,  // a pod waits
  kDivide,   // at most one change a pod and round
};

class Tenancies {
 public:
  // All references outlive this. A pod whose change is under way in `changes` is no tenant.
  Tenancies(FindProfile find_profile, const PodChanges& changes, kube::EventRecorder& events,
            const Clock& clock, Logger& log, metrics::TunerMetrics& metrics, Duration round);

  Tenancy Of(const NodeState& node, TenancyUse use);

  // A change of the pod has failed: it is not cut, nor given more, for a round.
  void LetRest(const std::string& uid);

  // Forgets who rests.
  void StartOver() { resting_.clear(); }

 private:
  bool MayChange(const Pod& pod);
  Tenant TenantOf(const Pod& pod, const NodeState& node, const JobProfile* profile) const;
  bool Rests(const Pod& pod) const;
  void TellOfProfile(const Pod& pod, const TunedProfile& known);
  void Respect(const Pod& pod, std::string_view reason, std::string message);

  const FindProfile find_profile_;
  const PodChanges& changes_;
  kube::EventRecorder& events_;
  const Clock& clock_;
  Logger& log_;
  metrics::TunerMetrics& metrics_;
  const Duration round_;
  std::map<std::string, Instant> resting_;  // by uid: until when
  std::set<std::string> respected_;         // what has been told already
};

}  // namespace synergy::controller
