#include "engine/sharing/moves.h"

#include <algorithm>
#include <string_view>
#include <tuple>

namespace synergy {
namespace {

double GpuSeconds(Duration time, Gpus gpus) {
  return Seconds(time).count() * static_cast<double>(gpus.count());
}

double CostOf(const MovableJob& job) { return GpuSeconds(*job.restart, job.gpus); }

}  // namespace

bool GpuMoves::MayMove(const MovableJob& job) const {
  return job.checkpoints && job.restart && !moved_.contains(job.name);
}

bool GpuMoves::IsWorth(const MovableJob& job, const MoveWaiter& waiter) {
  return waiter.waits && GpuSeconds(*waiter.waits, waiter.gpus) > kLeastGain * CostOf(job);
}

std::optional<GpuMove> GpuMoves::Plan(std::span<const MovableJob> jobs,
                                      std::span<const MoveWaiter> waiters, const Arrange& arrange) {
  if (moving_) return std::nullopt;
  std::vector<const MovableJob*> cheapest_first;
  for (const MovableJob& job : jobs) {
    if (MayMove(job)) cheapest_first.push_back(&job);
  }
  std::sort(cheapest_first.begin(), cheapest_first.end(),
            [](const MovableJob* a, const MovableJob* b) {
              return std::tuple(CostOf(*a), std::string_view(a->name)) <
                     std::tuple(CostOf(*b), std::string_view(b->name));
            });
  for (const MoveWaiter& waiter : waiters) {
    size_t asked = 0;
    for (const MovableJob* const job : cheapest_first) {
      if (!IsWorth(*job, waiter) || asked++ == kMostAsked) break;
      std::optional<std::vector<std::string>> to = arrange(*job, waiter);
      if (!to) continue;
      moving_ = job->name;
      return GpuMove{job->name, *std::move(to), waiter.name};
    }
  }
  return std::nullopt;
}

void GpuMoves::StartOver(std::set<std::string> moved,
                         std::set<std::pair<std::string, std::string>> worse) {
  moving_.reset();
  moved_ = std::move(moved);
  worse_ = std::move(worse);
}

void GpuMoves::OnResult(const std::string& job, bool moved) {
  if (moving_ != job) return;
  moving_.reset();
  if (!moved) return;
  moved_.insert(job);
  ++moves_;
}

void GpuMoves::OnCompared(const std::string& workload, const std::string& kind, double rate) {
  if (rate < kWorse) worse_.emplace(workload, kind);
}

}  // namespace synergy
