#include "nodeagent/health.h"

#include <fmt/format.h>

namespace synergy::nodeagent {

std::string NotReadyReason(const kube::ReflectorStatus& pods, const Clock& clock,
                           std::chrono::milliseconds staleness_limit) {
  if (!pods.synced) return "pods have not been listed yet";
  const auto age =
      std::chrono::duration_cast<std::chrono::seconds>(clock.Now() - pods.last_contact);
  if (age > staleness_limit) return fmt::format("nothing heard of pods for {} s", age.count());
  return {};
}

}  // namespace synergy::nodeagent
