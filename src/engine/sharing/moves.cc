#include "engine/sharing/moves.h"

#include <algorithm>
#include <string_view>
#include <tuple>

namespace synergy {
namespace {

double GpuSeconds(Duration time, Gpus pod_gpus, size_t pods) {
  return Seconds(time).count() * static_cast<double>(pod_gpus.count()) * static_cast<double>(pods);
}

double CostOf(const MovableJob& job) {
  return GpuSeconds(*job.restart, job.pod_gpus, job.nodes.size());
}

// Takes GPUs for that many pods, from the fullest nodes first, so that large free blocks stay
// whole. Returns the node of each pod; returns none and takes nothing if there is no room.
std::vector<std::string> Fill(std::map<std::string, int64_t>& free, int64_t pod_gpus, size_t pods) {
  std::vector<std::pair<int64_t, std::string>> order;
  for (const auto& [node, gpus] : free) {
    if (gpus >= pod_gpus) order.emplace_back(gpus, node);
  }
  std::sort(order.begin(), order.end());
  std::map<std::string, int64_t> left = free;
  std::vector<std::string> nodes;
  for (const auto& [gpus, node] : order) {
    int64_t& rest = left.at(node);
    while (nodes.size() < pods && rest >= pod_gpus) {
      rest -= pod_gpus;
      nodes.push_back(node);
    }
  }
  if (nodes.size() < pods) return {};
  free = std::move(left);
  return nodes;
}

}  // namespace

bool GpuMoves::MayMove(const MovableJob& job) const {
  return job.checkpoints && job.restart && !moved_.contains(job.name) && !job.nodes.empty();
}

bool GpuMoves::IsWorth(const MovableJob& job, const MoveWaiter& waiter) {
  return waiter.waits &&
         GpuSeconds(*waiter.waits, waiter.pod_gpus, waiter.pods) > kLeastGain * CostOf(job);
}

std::optional<GpuMove> GpuMoves::ForWaiter(std::span<const MoveNode> nodes,
                                           std::span<const MovableJob> jobs,
                                           const MoveWaiter& waiter) const {
  if (!waiter.waits) return std::nullopt;
  Free free;
  int64_t all = 0;
  for (const MoveNode& node : nodes) {
    free[node.name] = node.free.count();
    all += node.free.count();
  }
  const int64_t wanted = waiter.pod_gpus.count() * static_cast<int64_t>(waiter.pods);
  Free as_is = free;
  if (all < wanted || !Fill(as_is, waiter.pod_gpus.count(), waiter.pods).empty())
    return std::nullopt;  // it fits, or no move helps
  std::optional<GpuMove> best;
  std::tuple<double, std::string> best_cost;
  for (const MovableJob& job : jobs) {
    if (!MayMove(job)) continue;
    if (!IsWorth(job, waiter)) continue;
    const double cost = CostOf(job);
    if (best && best_cost <= std::tuple(cost, job.name)) continue;
    // The waiter gets the room that the job leaves, and the job uses the rest.
    Free rest = free;
    for (const std::string& node : job.nodes) rest[node] += job.pod_gpus.count();
    if (Fill(rest, waiter.pod_gpus.count(), waiter.pods).empty()) continue;
    for (const MoveNode& node : nodes) {
      if (worse_.contains({job.workload, node.kind})) rest.erase(node.name);
    }
    std::vector<std::string> to = Fill(rest, job.pod_gpus.count(), job.nodes.size());
    if (to.empty()) continue;
    best = GpuMove{job.name, std::move(to), waiter.name};
    best_cost = {cost, job.name};
  }
  return best;
}

std::optional<GpuMove> GpuMoves::Together(std::span<const MoveNode> nodes,
                                          std::span<const MovableJob> jobs) const {
  std::optional<GpuMove> best;
  double best_gain = 0;
  for (const MovableJob& job : jobs) {
    if (!MayMove(job) || !job.remaining || job.faster_together <= 1) continue;
    if (std::all_of(job.nodes.begin(), job.nodes.end(),
                    [&](const std::string& node) { return node == job.nodes.front(); })) {
      continue;
    }
    const double cost = CostOf(job);
    const double gain =
        GpuSeconds(*job.remaining, job.pod_gpus, job.nodes.size()) * (1 - 1 / job.faster_together) -
        kLeastGain * cost;
    if (gain <= best_gain) continue;
    const int64_t wanted = job.pod_gpus.count() * static_cast<int64_t>(job.nodes.size());
    const MoveNode* target = nullptr;  // the fullest node that has room
    int64_t least = 0;
    for (const MoveNode& node : nodes) {
      if (worse_.contains({job.workload, node.kind})) continue;
      const auto own = std::count(job.nodes.begin(), job.nodes.end(), node.name);
      const int64_t room = node.free.count() + own * job.pod_gpus.count();
      if (room < wanted ||
          (target != nullptr && std::tuple(least, target->name) <= std::tuple(room, node.name))) {
        continue;
      }
      target = &node;
      least = room;
    }
    if (target == nullptr) continue;
    best = GpuMove{job.name, std::vector<std::string>(job.nodes.size(), target->name), {}};
    best_gain = gain;
  }
  return best;
}

std::optional<GpuMove> GpuMoves::Plan(std::span<const MoveNode> nodes,
                                      std::span<const MovableJob> jobs,
                                      std::span<const MoveWaiter> waiters) {
  if (moving_) return std::nullopt;
  std::optional<GpuMove> move;
  for (const MoveWaiter& waiter : waiters) {
    move = ForWaiter(nodes, jobs, waiter);
    if (move) break;
  }
  if (!move) move = Together(nodes, jobs);
  if (move) moving_ = move->job;
  return move;
}

std::optional<GpuMove> GpuMoves::PlanFor(std::span<const MovableJob> jobs,
                                         std::span<const MoveWaiter> waiters,
                                         const Arrange& arrange) {
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
