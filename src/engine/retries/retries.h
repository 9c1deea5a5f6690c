#pragma once

// Decides what follows from the failures of a job: nothing, or one of the actions that its owner
// opted into (docs/internals/simulated-failures.md).
//
//   stop-futile  suspends a job that failed alike as often as its category says
//                (StopsAfter), each time soon after its start
//   elsewhere    the next attempt prefers other nodes than those of infrastructure failures
//   larger       the next attempt gets more memory, if Synergy chose the amount that was too small
//
// Philly's lessons (Jeon et al., ATC 2019): retries of deterministic failures are wasted, and those
// of transient ones are not.
//
// Threading: DecideRetry() is pure; a SuspensionLimit has one owner.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "core/units.h"
#include "failure/category.h"

namespace synergy {

// A failure counts for stop-futile only if it follows the attempt's start within this time.
inline constexpr Duration kSoonAfterStart = std::chrono::minutes(10);
// StopsAfter::kThreeApart: failures nearer to each other count as one.
inline constexpr Duration kFailuresApart = std::chrono::minutes(5);
// A preference for other nodes lapses after this time.
inline constexpr Duration kElsewhereLasts = std::chrono::hours(1);
// A job prefers other nodes than those of at most this many failures, the last ones.
inline constexpr size_t kMostAvoidedFailures = 4;
// How often the memory of a job is raised by half.
inline constexpr int32_t kMostEnlargements = 2;

struct RetryActions {
  bool stop_futile = false;
  bool elsewhere = false;
  bool larger = false;

  bool operator==(const RetryActions&) const = default;
};

// Parses "stop-futile,elsewhere,larger" or some of these; empty: none of them. kInvalid names the
// unknown word.
Result<RetryActions> ParseRetryActions(std::string_view text);

// A failed attempt of a job: all pods of one run of it.
struct FailedAttempt {
  Category category = Category::kUnknown;
  Outcome outcome;  // as classified: the situation may change that of the category
  WallTime started{};
  WallTime failed{};
  std::string template_hash;          // of the pods' template; empty: unknown
  std::string image_id;               // which the failed container ran; empty: unknown
  std::vector<std::string> nodes;     // of the pods that failed
  std::optional<int64_t> iterations;  // that the training made; none: unknown
  bool shared_gpu = false;            // another pod was on the GPU
  // The memory request or limit, if Synergy chose it; none: the author wrote it.
  std::optional<Bytes> chosen_memory;
};

struct FailingJob {
  std::string job_namespace;
  std::vector<FailedAttempt> attempts;   // by time; no attempt between them succeeded
  bool independent_completions = false;  // an array: other completions may succeed
  // When its owner resumed it after a suspension: earlier attempts no longer count.
  std::optional<WallTime> resumed;
  int32_t enlarged = 0;              // how often its memory was raised
  std::optional<Bytes> memory_room;  // what the quota still allows in addition; none: no quota
};

struct RetryDecision {
  enum class Kind : uint8_t {
    kNothing,           // `reason`, if set, says why an action that was opted into is not taken
    kSuspend,           // suspends the job; deletes nothing
    kPreferOtherNodes,  // than `nodes`, until `until`; a preference, never a requirement
    kEnlargeMemory,     // to `memory`
  };

  Kind kind = Kind::kNothing;
  std::string reason;  // for the job's owner
  std::vector<std::string> nodes;
  WallTime until{};
  Bytes memory;
};

// Limits how many jobs are suspended, so that a wrong rule cannot stop a whole cluster.
class SuspensionLimit {
 public:
  struct Rates {
    size_t in_namespace = 10;
    size_t in_all = 30;
    Duration within = std::chrono::hours(1);
  };
  SuspensionLimit() = default;
  explicit SuspensionLimit(Rates rates) : rates_(rates) {}

  bool Allows(std::string_view of_namespace, WallTime now) const;
  // Records a suspension.
  void Note(std::string_view of_namespace, WallTime now);

 private:
  Rates rates_;
  std::vector<std::pair<std::string, WallTime>> suspended_;  // in which namespace, and when
};

// Decides after the last of the job's attempts. Only failures that a user's template causes
// (Cause::kUser, Behaviour::kDeterministic) suspend a job: never those of `synergy`, `engine`,
// `infrastructure` or unknown cause, never a job with independent completions, and never if the
// image or the template is unknown or differs between the attempts.
RetryDecision DecideRetry(const FailingJob& job, const RetryActions& actions,
                          const SuspensionLimit& limit, WallTime now);

}  // namespace synergy
