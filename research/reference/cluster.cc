#include "research/reference/cluster.h"

#include <fmt/format.h>

namespace synergy::reference {
namespace {

// The network is checked, but never used up.
constexpr size_t kCounted[] = {kGpu, kCpu, kMemory, kStorage};

}  // namespace

Cluster::Cluster(uint32_t servers, const Amounts& server)
    : server_(server),
      free_gpus_(static_cast<int>(servers) * static_cast<int>(server[kGpu])),
      used_(servers, Amounts{}),
      free_(servers, server),
      jobs_(servers) {
  for (size_t i = 0; i < fair_.size(); ++i) fair_[i] = server[i] / server[kGpu];
}

Result<> Cluster::Take(Job& job, const std::vector<Part>& parts) {
  job.parts = parts;
  job.held = {};
  for (const Part& part : parts) {
    const Amounts& free = Free(part.server);
    for (const size_t resource : {kGpu, kCpu, kMemory}) {
      if (part.amounts[resource] <= free[resource]) continue;
      return Fail(ErrorCode::kInvalid,
                  fmt::format("job {} gets more than server {} has left; the authors' program ends "
                              "here: these servers and jobs are incompatible",
                              job.id, part.server));
    }
    Move(part, Direction::kTake);
    for (const size_t resource : kCounted) job.held[resource] += part.amounts[resource];
  }
  free_gpus_ -= job.gpus;
  return {};
}

void Cluster::Release(Job& job) {
  if (job.parts.empty()) return;
  for (const Part& part : job.parts) Move(part, Direction::kGiveBack);
  job.parts.clear();
  free_gpus_ += job.gpus;
}

void Cluster::Move(const Part& part, Direction direction) {
  Amounts& used = used_[part.server];
  Amounts& free = free_[part.server];
  for (const size_t resource : kCounted) {
    const double amount = part.amounts[resource];
    used[resource] += direction == Direction::kTake ? amount : -amount;
    free[resource] = server_[resource] - used[resource];
  }
}

void Cluster::BeginRound() {
  for (std::vector<Job*>& jobs : jobs_) jobs.clear();
}

}  // namespace synergy::reference
