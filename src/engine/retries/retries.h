#pragma once

// Decides how to react to a job's failures: not at all, or with one of the actions that its owner
// opted into (docs/internals/simulated-failures.md).
//
//   stop-futile  suspends a job that failed alike as often as its category requires
//                (StopsAfter), each time soon after its start
//   elsewhere    the next attempt prefers nodes other than those of infrastructure failures
//   larger       after a kill for lack of memory, the next attempt gets 1.5 times the memory, if
//                Synergy chose the amount that was too small; at most two raises. The new amount
//                depends on that amount, not on the present profile, so a failure that is read
//                twice causes only one raise
//
// Retries are wasted after deterministic failures, but not after transient ones (Philly; Jeon et
// al., ATC 2019).
//
// Threading: DecideRetry() is pure; a SuspensionLimit has one owner.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "core/units.h"
#include "failure/category.h"
#include "profile/measured/memory_raise.h"

namespace synergy {

// A failure counts for stop-futile only if it happens within this time after the attempt's start.
inline constexpr Duration kSoonAfterStart = std::chrono::minutes(10);
// StopsAfter::kThreeApart: failures closer together than this count as one.
inline constexpr Duration kFailuresApart = std::chrono::minutes(5);
// A preference for other nodes expires after this time.
inline constexpr Duration kElsewhereLasts = std::chrono::hours(1);
// A job avoids the nodes of at most this many of its latest failures.
inline constexpr size_t kMostAvoidedFailures = 4;

struct RetryActions {
  bool stop_futile = false;
  bool elsewhere = false;
  bool larger = false;

  bool operator==(const RetryActions&) const = default;
};

// Parses "stop-futile,elsewhere,larger" or a subset; an empty text means no action. For any other
// text, returns kInvalid with the unknown word in the message.
Result<RetryActions> ParseRetryActions(std::string_view text);

// A failed attempt of a job: all pods of one of its runs.
struct FailedAttempt {
  Category category = Category::kUnknown;
  Outcome outcome;  // from Classify; it may differ from the category's usual outcome
  WallTime started{};
  WallTime failed{};
  std::string template_hash;          // of the pods' template; empty: unknown
  std::string image_id;               // of the failed container; empty: unknown
  std::vector<std::string> nodes;     // of the pods that failed
  std::optional<int64_t> iterations;  // the training's iterations; absent: unknown
  bool shared_gpu = false;            // another pod was on the GPU
  bool oom_killed = false;            // as the kubelet reports; a log alone does not count
  // The memory limit or request if Synergy chose it; absent if the author wrote it.
  std::optional<Bytes> chosen_memory;
  // The fair share; set if the memory is only a request. The request is not raised beyond the fair
  // share, because other pods may have filled the node.
  std::optional<Bytes> fair_memory;
};

// The known facts about the memory of a workload.
struct WorkloadMemory {
  bool given = false;                // a user wrote its profile
  Bytes process;                     // the counted need of its processes
  std::optional<MemoryRaise> raise;  // the last one
  // The most memory that one of its pods may get by quotas, limit ranges and the largest node.
  Bytes most{std::numeric_limits<int64_t>::max()};
};

struct FailingJob {
  std::string job_namespace;
  std::vector<FailedAttempt> attempts;   // by time; no attempt between them succeeded
  bool independent_completions = false;  // an array: other completions may succeed
  // When its owner resumed it after a suspension; earlier attempts no longer count.
  std::optional<WallTime> resumed;
  std::optional<WorkloadMemory> memory;  // absent: its memory has no profile
};

// The outcome for a job that was killed for lack of memory.
enum class MemoryOutcome : uint8_t {
  kRaised,
  kLarger,      // the next attempt already gets more: it was raised or measured meanwhile
  kWritten,     // its author wrote the amount
  kGiven,       // a user wrote the profile
  kUnmeasured,  // its need is not known
  kSpent,       // raised as often as allowed
  kBounded,     // a quota, a limit range, the fair share or the nodes allow no more
};
inline constexpr std::array<std::string_view, 7> kMemoryOutcomes = {
    "raised", "larger", "written", "given", "unmeasured", "spent", "bounded"};
inline std::string_view ToString(MemoryOutcome outcome) {
  return kMemoryOutcomes.at(static_cast<size_t>(outcome));
}

struct RetryDecision {
  enum class Kind : uint8_t {
    kNothing,           // `reason`, if set, explains why a chosen action is not taken
    kSuspend,           // suspends the job; deletes nothing
    kPreferOtherNodes,  // avoids `nodes` until `until`; only a preference
    kEnlargeMemory,     // by `raise`
  };

  Kind kind = Kind::kNothing;
  std::string reason;  // for the job's owner
  std::vector<std::string> nodes;
  WallTime until{};
  std::optional<MemoryOutcome> memory_outcome;  // set if memory was the cause and `larger` is on
  MemoryRaise raise;
  Bytes next_memory;  // the memory of the next attempt; 0: unknown
};

// Limits how many jobs are suspended within a time, so that a wrong rule cannot stop a whole
// cluster.
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
  std::vector<std::pair<std::string, WallTime>> suspended_;  // namespace and time
};

// Decides how to react after the last of the job's attempts. Suspends a job only for failures that
// a user's template causes (Cause::kUser, Behaviour::kDeterministic). Never suspends a job for
// failures with the cause `synergy`, `engine`, `infrastructure` or unknown, or a job with
// independent completions. Nor does it if the image or the template is unknown or differs between
// the attempts.
RetryDecision DecideRetry(const FailingJob& job, const RetryActions& actions,
                          const SuspensionLimit& limit, WallTime now);

}  // namespace synergy
