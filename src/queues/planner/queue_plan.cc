#include "queues/planner/queue_plan.h"

#include <map>
#include <string_view>

namespace synergy {
namespace {

constexpr size_t kMostFailedWrites = 3;

}  // namespace

std::set<std::string> PendingQueues(const QueuePlan& plan,
                                    const std::vector<WriteOutcome>& writes) {
  std::set<std::string> pending;
  for (size_t index = 0; index < plan.writes.size(); ++index) {
    const WorkloadWrite& write = plan.writes[index];
    const WriteOutcome outcome = writes[index];
    const bool is_done = outcome == WriteOutcome::kWritten || outcome == WriteOutcome::kUnseen ||
                         outcome == WriteOutcome::kRefused;
    if (write.kind != WorkloadWrite::Kind::kNote && !is_done) pending.insert(write.queue);
  }
  return pending;
}

std::vector<WriteOutcome> WriteInOrder(const QueuePlan& plan, WorkloadWriter& writer) {
  const std::vector<WorkloadWrite>& writes = plan.writes;
  std::vector<WriteOutcome> outcomes(writes.size(), WriteOutcome::kNotTried);
  std::set<std::string_view> stuck;  // queues in which a running workload keeps its turn for now
  std::map<std::string_view, size_t> failed;  // by queue
  for (size_t index = 0; index < writes.size(); ++index) {
    const WorkloadWrite& write = writes[index];
    if (writer.IsUnseen(write)) {
      outcomes[index] = WriteOutcome::kUnseen;
      continue;
    }
    if (write.kind == WorkloadWrite::Kind::kRaise && stuck.contains(write.queue)) continue;
    size_t& failures = failed[write.queue];
    WriteOutcome& outcome = outcomes[index];
    if (failures < kMostFailedWrites && writer.MayWrite()) outcome = writer.Write(write);
    if (outcome == WriteOutcome::kFailed) ++failures;
    if (outcome != WriteOutcome::kWritten && write.kind == WorkloadWrite::Kind::kLower)
      stuck.insert(write.queue);
  }
  return outcomes;
}

}  // namespace synergy
