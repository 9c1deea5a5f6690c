#pragma once

// Answers the admission check by which workloads wait for their GPU type (wire/kueue/type_check.h,
// docs/gavel.md). It fails closed: what nobody answers does not start. So
//   * every replica says of the check that it is answered
//   * every replica lets a workload start that is in no queue of a policy that chooses types, and,
//     without a type, one of which nobody has decided for `patience`
//   * every replica takes its answer back where a workload has lost its quota
//   * whoever leads, and has just decided, says on which type a workload starts, once there is room
//     on it, and whose place is needed elsewhere or by another one (Retry, at which Kueue evicts);
//     of the latter an event on the job tells
//
// Threading: one owner.
// Failures: what cannot be written is tried again with the next step, as it is by then. A Workload
// that has changed since it was read refuses, so that a Retry never meets an eviction by Kueue.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "controller/cluster/patch_rate.h"
#include "controller/queues/round_queues.h"
#include "controller/queues/type_turns.h"
#include "core/clock.h"
#include "core/log.h"
#include "kube/apis/events.h"
#include "kube/apis/round_api.h"
#include "metrics/round_metrics.h"
#include "queues/type_check.h"

namespace synergy::controller {

// The place of ours among the workload's checks; none: it has none.
std::optional<size_t> OurCheck(const RoundObjects& objects, const Workload& workload);
// It has its quota and waits for its type.
bool IsHeld(const RoundObjects& objects, const Workload& workload);

class TypeChecks {
 public:
  static constexpr Duration kPatience = std::chrono::seconds(30);
  // After which Kueue has taken an answer back itself, if it does.
  static constexpr Duration kAfterEviction = std::chrono::seconds(3);
  static constexpr int64_t kWritesPerSecond = 20;

  // All references outlive this.
  TypeChecks(const RoundObjects& objects, kube::RoundApi& api, kube::EventRecorder& events,
             Duration patience, const Clock& clock, Logger& log, metrics::RoundMetrics& metrics)
      : objects_(objects),
        api_(api),
        events_(events),
        patience_(patience),
        clock_(clock),
        log_(log),
        metrics_(metrics) {}

  // To be called every second while all objects are known. `turns`: what has just been decided;
  // null: we do not lead, or nothing could be decided. `decided`: when somebody was last known to.
  void Step(const TypeTurns* turns, Instant decided, const std::stop_token& stop);

 private:
  struct Waiting {
    std::shared_ptr<const Workload> workload;
    size_t check = 0;
    const TypeTurn* turn = nullptr;
  };

  void Activate(const std::stop_token& stop);
  // GPUs of workloads that may start on each product and whose pods have no node yet.
  std::map<std::string, int64_t> OnTheirWay() const;
  // Whether that is written.
  bool Answer(const Waiting& waiting, CheckWord word, const std::string& product,
              std::string message, const std::stop_token& stop);
  // Has it evicted.
  void TakeType(const Waiting& running, const std::stop_token& stop);
  void GiveTypes(const TypeTurns& turns, std::vector<Waiting> held, std::vector<Waiting> started,
                 const std::stop_token& stop);

  const RoundObjects& objects_;
  kube::RoundApi& api_;
  kube::EventRecorder& events_;
  const Duration patience_;
  const Clock& clock_;
  Logger& log_;
  metrics::RoundMetrics& metrics_;
  PatchRate rate_{kWritesPerSecond, kWritesPerSecond};
  std::optional<Instant> began_;
  std::unordered_map<std::string, std::string> written_;  // by UID: over which resource version
};

}  // namespace synergy::controller
