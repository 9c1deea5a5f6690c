#pragma once

// Writes the product's evaluation of each TrainingProfile into its status, if the status differs.
// Only the leader writes.
//
// Threading: one owner at a time. Failures: a failed write is counted and logged, and retried at
// the next call.

#include <functional>
#include <optional>
#include <stop_token>

#include "cluster/state/cluster_state.h"
#include "controller/cluster/profile_store.h"
#include "controller/profiles/profile_mismatch.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/resources.h"
#include "kube/apis/profile_api.h"
#include "metrics/controller_metrics.h"

namespace synergy::controller {

class StatusWriter {
 public:
  // `may_act` is checked before each write. `mismatch`: how pods' speeds compare with their
  // profiles; null: unknown. All arguments must outlive this object.
  StatusWriter(kube::ProfileApi& api, const ProfileStore& profiles, const ClusterState& cluster,
               const Clock& clock, Logger& log, metrics::ControllerMetrics& metrics,
               std::function<bool()> may_act, ResourceVector headroom = {},
               double max_speed_up = kDefaultMaxSpeedUp, const ProfileMismatch* mismatch = nullptr);

  // Call it often. It checks the profiles when one or its verdict has changed, and when a status is
  // still unwritten. It also checks them once a minute, because speed-ups are relative to the fair
  // share, which follows the cluster.
  void WriteIfDue(const std::stop_token& stop);
  // Returns false if a status could not be written.
  bool WriteAll(const std::stop_token& stop);

 private:
  // Sets the condition Contradicted in `status`.
  void DescribeContradiction(const ProfileObject& object, ProfileStatus& status) const;
  // Returns the status to write. Does not change times.
  ProfileStatus Describe(const KnownProfile& profile) const;

  kube::ProfileApi& api_;
  const ProfileStore& profiles_;
  const ClusterState& cluster_;
  const Clock& clock_;
  Logger& log_;
  metrics::ControllerMetrics& metrics_;
  const ResourceVector headroom_;
  const double max_speed_up_;
  const std::function<bool()> may_act_;
  const ProfileMismatch* const mismatch_;
  std::optional<uint64_t> version_;  // the profiles' version when all were written
  uint64_t verdicts_ = 0;            // version of the verdicts then
  Instant next_{};
};

}  // namespace synergy::controller
