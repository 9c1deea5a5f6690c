#include "controller/progress/failures/memory_raiser.h"

#include "engine/retries/memory_bounds.h"

namespace synergy::controller {

std::optional<WorkloadMemory> MemoryRaiser::MemoryBy(const Profile& profile,
                                                     const FailureRecord& failure) const {
  if (profile == nullptr) return std::nullopt;
  const ProfileObject& object = profile->object;
  if (!object.measured) {
    if (!object.training.process_memory) return std::nullopt;
    return WorkloadMemory{.given = true};
  }
  const MeasuredProfile& measured = *object.measured;
  const std::optional<Bytes> process = ProcessMemoryOf(measured);
  // A hint for the pod is the profile of another workload.
  if (!process || measured.workload != failure.workload) return std::nullopt;
  return WorkloadMemory{
      .process = *process,
      .raise = measured.raise,
      .most = MostMemoryFor(*state_.Snapshot(), object.profile_namespace, measured)};
}

}  // namespace synergy::controller
