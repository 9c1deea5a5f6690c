#include "queues/type_check.h"

namespace synergy {

bool IsHeldBy(const Workload& workload, const CheckState& check) {
  return workload.has_quota && !workload.evicted && check.state != ToString(CheckWord::kReady);
}

std::string_view ToString(CheckWord word) {
  switch (word) {
    case CheckWord::kPending:
      return "Pending";
    case CheckWord::kReady:
      return "Ready";
    case CheckWord::kRetry:
      return "Retry";
  }
  return "?";
}

}  // namespace synergy
