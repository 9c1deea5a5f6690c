#include "queues/planner/queue_plan.h"

#include <set>

namespace synergy {
namespace {

constexpr size_t kMostFailedWrites = 3;

}  // namespace

bool AllBandsWritten(const QueuePlan& plan, const std::vector<WriteOutcome>& writes) {
  for (size_t index = 0; index < plan.writes.size(); ++index) {
    if (plan.writes[index].kind == WorkloadWrite::Kind::kNote) continue;
    if (writes[index] != WriteOutcome::kWritten && writes[index] != WriteOutcome::kUnseen)
      return false;
  }
  return true;
}

std::vector<WriteOutcome> WriteInOrder(const QueuePlan& plan, WorkloadWriter& writer) {
  const std::vector<WorkloadWrite>& writes = plan.writes;
  std::vector<WriteOutcome> outcomes(writes.size(), WriteOutcome::kNotTried);
  std::set<std::string_view> stuck;  // queues in which a running workload keeps its turn for now
  size_t failed = 0;
  for (size_t index = 0; index < writes.size(); ++index) {
    const WorkloadWrite& write = writes[index];
    if (writer.IsUnseen(write)) {
      outcomes[index] = WriteOutcome::kUnseen;
      continue;
    }
    if (write.kind == WorkloadWrite::Kind::kRaise && stuck.contains(write.queue)) continue;
    if (failed == kMostFailedWrites || !writer.MayWrite()) continue;
    const WriteOutcome outcome = outcomes[index] = writer.Write(write);
    if (outcome == WriteOutcome::kWritten) continue;
    if (write.kind == WorkloadWrite::Kind::kLower) stuck.insert(write.queue);
    // The watch delivers an outdated workload again.
    if (outcome != WriteOutcome::kOutdated) ++failed;
  }
  return outcomes;
}

}  // namespace synergy
