#pragma once

// The admission check with which a job waits for its GPU type, and gets it (docs/gavel.md):
//
//   Pending   the job waits for its turn on a type
//   Ready     the job starts, on the type in the check's node selector, or on any if it has none
//   Retry     Kueue evicts the job, which comes back as Pending after a second
//
// Threading: pure.

#include <cstdint>
#include <string>
#include <string_view>

#include "core/clock.h"
#include "queues/kueue.h"

namespace synergy {

// spec.controllerName of AdmissionChecks that are ours.
inline constexpr std::string_view kTypeCheckController = "synergy.io/rounds";

// The name of the check in the chart.
inline constexpr std::string_view kTypeCheckName = "synergy-rounds";

// Returns whether the workload has its quota and waits for this check.
bool IsHeldBy(const Workload& workload, const CheckState& check);

enum class CheckWord : uint8_t { kPending, kReady, kRetry };
std::string_view ToString(CheckWord word);  // as Kueue spells it

struct CheckAnswer {
  CheckWord word = CheckWord::kReady;
  std::string product;  // of kReady: the node label nvidia.com/gpu.product; empty: any type
  std::string message;  // for people
  WallTime at{};

  bool operator==(const CheckAnswer&) const = default;
};

}  // namespace synergy
