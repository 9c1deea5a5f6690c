#pragma once

// The admission check by which a job waits for its GPU type, and is given it (docs/gavel.md):
//
//   Pending   it waits for its turn on a type
//   Ready     it starts, on the type that a node selector names, or on any
//   Retry     it is evicted, and comes back as Pending after a second
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

// How the chart names it.
inline constexpr std::string_view kTypeCheckName = "synergy-rounds";

// It has its quota, and waits for this one of its checks.
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
