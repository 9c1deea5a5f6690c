#include "research/baseline/round.h"

#include <algorithm>
#include <optional>

namespace synergy {
namespace {

bool SameServers(const std::vector<Share>& a, const std::vector<Share>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Share& x, const Share& y) {
    return x.server == y.server && x.amount.gpus == y.amount.gpus;
  });
}

// Returns whether no share of `after` exceeds that of `before`.
bool OnlyGives(const std::vector<Share>& before, const std::vector<Share>& after) {
  return std::equal(before.begin(), before.end(), after.begin(), after.end(),
                    [](const Share& x, const Share& y) { return y.amount.FitsWithin(x.amount); });
}

std::optional<ActionKind> Change(const std::vector<Share>& before,
                                 const std::vector<Share>& after) {
  if (before == after) return std::nullopt;
  if (after.empty()) return ActionKind::kStop;
  if (before.empty()) return ActionKind::kStart;
  return SameServers(before, after) ? ActionKind::kResize : ActionKind::kMove;
}

}  // namespace

Plan RunRound(std::span<const Server> servers, std::span<const Job> jobs, const Policy& policy,
              Allocator& allocator, Seconds now) {
  return allocator.Allocate(servers, jobs, Order(jobs, policy, now));
}

std::vector<Action> Difference(std::span<const Job> jobs, const Plan& plan) {
  struct Step {
    Action action;
    int turn;
  };
  std::vector<Step> steps;
  for (JobIndex job = 0; job < jobs.size(); ++job) {
    const std::vector<Share>& before = jobs[job].holds;
    const std::vector<Share>& after = plan.shares[job];
    const std::optional<ActionKind> kind = Change(before, after);
    if (!kind) continue;
    const int turn = *kind == ActionKind::kStop    ? 0
                     : *kind == ActionKind::kMove  ? 2
                     : *kind == ActionKind::kStart ? 4
                     : OnlyGives(before, after)    ? 1
                                                   : 3;
    steps.push_back({{*kind, job}, turn});
  }
  std::stable_sort(steps.begin(), steps.end(),
                   [](const Step& a, const Step& b) { return a.turn < b.turn; });
  std::vector<Action> actions;
  actions.reserve(steps.size());
  for (const Step& step : steps) actions.push_back(step.action);
  return actions;
}

}  // namespace synergy
