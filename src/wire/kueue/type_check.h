#pragma once

// The admission check by which a job waits for its GPU type, and is given it: what is written into
// a Workload's status.admissionChecks and into the AdmissionCheck itself
// (kueue.x-k8s.io/v1beta2; docs/gavel.md).
//
//   Pending   it waits for its turn on a type
//   Ready     it starts, on the type that a node selector names, or on any
//   Retry     it is evicted, and comes back as Pending after a second
//
// Threading: pure.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/clock.h"
#include "wire/kueue/kueue.h"

namespace synergy::wire {

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

// Body of PATCH workloads/{name}/status as application/json-patch+json. `check`: the place of ours
// in Workload::checks. Refused (409) when the Workload has changed in any way since it was read:
// Kueue writes there too, and an answer to what is no longer so would keep a job out for good.
std::string WriteCheckAnswer(const Workload& workload, size_t check, const CheckAnswer& answer);

// Body of PATCH admissionchecks/{name}/status as application/merge-patch+json: that somebody
// answers it. Without that Kueue admits nothing.
std::string WriteCheckActive(const QueuePart& check, WallTime at);

}  // namespace synergy::wire
