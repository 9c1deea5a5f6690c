#pragma once

// Keeps the results of packs in the workloads' measured profiles (engine/sharing/pack_records.h),
// so that the next leader continues with them. A workload without a profile gets one.
//
// PackResultKeeper writes a profile, with all of its records at once, when the verdict on one of
// its workload's pairs changes. A profile that has changed since the watch reported it is not
// overwritten.
//
// Threading: one owner. Failures: counted and logged. A failed write is repeated later. If the API
// server refuses its content, it is repeated only after the next verdict.

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <stop_token>
#include <vector>

#include "controller/cluster/profile_store.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/result.h"
#include "engine/sharing/pack_records.h"
#include "kube/apis/profile_api.h"
#include "metrics/turn_metrics.h"

namespace synergy::controller {

class PackResultKeeper {
 public:
  // Limits the profiles written in one call; the others follow.
  static constexpr size_t kMostWrites = 5;
  static constexpr Duration kRetry = std::chrono::seconds(10);

  // All references must outlive this object. `may_act` is checked before each write.
  PackResultKeeper(const ProfileStore& profiles, kube::ProfileApi& api,
                   std::function<bool()> may_act, const Clock& clock, Logger& log,
                   metrics::TurnMetrics& metrics);

  // Forgets unwritten results, and returns the results that the profiles contain.
  PackResults Load();
  // Writes the results that have changed since the last call. Call it often.
  void Keep(const PackResults& results, const std::stop_token& stop);

 private:
  Result<> Write(const PackedWorkload& workload, const std::vector<PackRecord>& records,
                 const std::stop_token& stop);

  const ProfileStore& profiles_;
  kube::ProfileApi& api_;
  const std::function<bool()> may_act_;
  const Clock& clock_;
  Logger& log_;
  metrics::TurnMetrics& metrics_;
  PackVerdicts verdicts_;
  std::set<PackedWorkload> due_;
  std::optional<PackedWorkload> last_;  // the workload tried last
  Instant next_{};
};

}  // namespace synergy::controller
