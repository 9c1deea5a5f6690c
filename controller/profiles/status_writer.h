#pragma once

// Writes into each TrainingProfile's status what we make of it. Only where it says something else
// so far, so that several of us agree after one write.
//
// Threading: one owner at a time. Failures: a status that cannot be written is counted and logged,
// and tried again with the next call.

#include <optional>
#include <stop_token>

#include "cluster/state/cluster_state.h"
#include "controller/cluster/profile_store.h"
#include "controller/profiles/contradiction_watch.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/resources.h"
#include "kube/apis/profile_api.h"
#include "metrics/controller_metrics.h"

namespace synergy::controller {

class StatusWriter {
 public:
  // `contradictions`: what is seen of pods that have profiles; null: nothing. All outlive this.
  StatusWriter(kube::ProfileApi& api, const ProfileStore& profiles, const ClusterState& cluster,
               const Clock& clock, Logger& log, metrics::ControllerMetrics& metrics,
               ResourceVector headroom = {}, double max_speed_up = kDefaultMaxSpeedUp,
               const ContradictionWatch* contradictions = nullptr);

  // Often: looks at the profiles when one has changed, or a verdict about one, when something is
  // still to be written, and once a minute, because the fair share that a speed-up is told against
  // follows the cluster.
  void WriteIfDue(const std::stop_token& stop);
  // False when one could not be written.
  bool WriteAll(const std::stop_token& stop);

 private:
  // What the condition Contradicted should be.
  void DescribeContradiction(const ProfileObject& object, ProfileStatus& status) const;
  // What the status should be. Times are left as they are.
  ProfileStatus Describe(const KnownProfile& profile) const;

  kube::ProfileApi& api_;
  const ProfileStore& profiles_;
  const ClusterState& cluster_;
  const Clock& clock_;
  Logger& log_;
  metrics::ControllerMetrics& metrics_;
  const ResourceVector headroom_;
  const double max_speed_up_;
  const ContradictionWatch* const contradictions_;
  std::optional<uint64_t> version_;  // of the profiles, when all were last written
  uint64_t verdicts_ = 0;            // likewise
  Instant next_{};
};

}  // namespace synergy::controller
