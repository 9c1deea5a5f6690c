#include "queues/elastic_rounds.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

namespace synergy {
namespace {

constexpr std::string_view kNewAndRuns = "it arrived after the round began, and there is room";
constexpr std::string_view kNewAndWaits = "workers are divided at the beginning of the next round";

// Returns the GPUs of one worker, as ElasticWorkload counts workers.
Gpus WorkerOf(const RoundWorkload& workload, const ElasticWorkload& elastic) {
  return Gpus(workload.gpus.count() / std::max(elastic.workers, 1));
}

bool IsElastic(const ElasticWorkload& elastic) { return elastic.least < elastic.most; }

}  // namespace

void ElasticRounds::See(const std::string& job, int workers, const ElasticSight& sight) {
  Known& known = known_[job];
  if (sight.rate) known.record.SeeSpeed(workers, *sight.rate);
  if (sight.iteration) known.done = *sight.iteration;
  if (sight.total) known.total = sight.total;
  if (sight.iteration && sight.loss) known.record.SeeLoss(*sight.iteration, *sight.loss);
}

ElasticTask ElasticRounds::ToTask(const RoundSettings& settings, const RoundWorkload& workload,
                                  const ElasticWorkload& elastic, WallTime now) const {
  ElasticTask task;
  task.name = workload.name;
  task.worker = WorkerOf(workload, elastic);
  task.least = elastic.least;
  task.most = elastic.most;
  task.asks = elastic.workers;
  task.capped = elastic.capped;
  task.priority = workload.own_priority;
  task.created = workload.created;
  if (workload.state == RoundState::kRuns) {
    const auto& remaining = workload.service.remaining;
    const bool nearly_done = remaining && *remaining <= Seconds(settings.restart_cost);
    const bool is_new = workload.started + settings.least_run > now;
    task.now = elastic.workers;
    task.to_its_end = !workload.may_lose_turn;
    task.stays = elastic.stays || nearly_done || is_new;
  }
  const auto known = known_.find(elastic.job);
  if (known == known_.end() || !IsElastic(elastic)) return task;
  const Known& learnt = known->second;
  task.speed = learnt.record.Speed();
  task.work = learnt.record.WorkLeft(learnt.done, learnt.total, elastic.target_loss);
  return task;
}

RoundDecision ElasticRounds::Decide(const RoundSettings& settings, Gpus quota,
                                    std::span<const RoundWorkload> workloads,
                                    std::span<const ElasticWorkload> elastic, bool begins,
                                    WallTime now) {
  Gpus left = quota;
  std::vector<size_t> own;  // workloads that are not left alone and do not rest
  std::vector<size_t> resting;
  RoundDecision decision;
  decision.verdicts.resize(workloads.size());
  for (size_t index = 0; index < workloads.size(); ++index) {
    const RoundWorkload& workload = workloads[index];
    if (!workload.left_alone) {
      if (workload.Rests()) decision.verdicts[index] = {Band::kWaits, kRests};
      (workload.Rests() ? resting : own).push_back(index);
      continue;
    }
    decision.verdicts[index] = {workload.band, kLeftAlone};
    if (workload.state == RoundState::kRuns) left -= workload.gpus;
  }
  if (begins) {
    std::vector<ElasticTask> tasks;
    tasks.reserve(own.size());
    for (const size_t index : own)
      tasks.push_back(ToTask(settings, workloads[index], elastic[index], now));
    const auto divided = DivideWorkers(tasks, left, Seconds(settings.restart_cost));
    for (size_t place = 0; place < own.size(); ++place) {
      const ElasticWorkload& one = elastic[own[place]];
      known_[one.job].decided =
          Decided{one.workers, divided[place].workers, divided[place].why, now, false};
    }
  }

  const auto decided = [&](size_t index) -> const Decided* {
    const auto known = known_.find(elastic[index].job);
    if (known == known_.end() || !known->second.decided) return nullptr;
    return &*known->second.decided;
  };
  const auto rank = [&](size_t index) {
    const RoundWorkload& workload = workloads[index];
    const Decided* const its = decided(index);
    return std::tuple(its == nullptr || its->to == 0, -workload.own_priority,
                      workload.state != RoundState::kRuns, workload.created,
                      std::string_view(workload.name));
  };
  std::sort(own.begin(), own.end(), [&](size_t a, size_t b) { return rank(a) < rank(b); });
  for (const size_t index : own) {
    const RoundWorkload& workload = workloads[index];
    const Decided* const its = decided(index);
    const bool runs = workload.state == RoundState::kRuns;
    RoundVerdict& verdict = decision.verdicts[index];
    if (its != nullptr && its->to > 0) {
      left -= WorkerOf(workload, elastic[index]) * its->to;
      verdict = {Band::kRuns, its->why};
    } else if (its != nullptr && (!runs || workload.may_lose_turn)) {
      verdict = {runs ? Band::kNext : Band::kWaits, its->why};
    } else if (runs && (workload.gpus <= left || !workload.may_lose_turn)) {
      left -= workload.gpus;
      verdict = {Band::kRuns, kNewAndRuns};
    } else {
      verdict = {runs ? Band::kNext : Band::kWaits, kNewAndWaits};
    }
  }
  decision.order = std::move(own);
  decision.order.insert(decision.order.end(), resting.begin(), resting.end());
  return decision;
}

std::optional<WorkerChange> ElasticRounds::ChangeOf(const std::string& job, int workers,
                                                    WallTime now) const {
  const auto known = known_.find(job);
  if (known == known_.end() || !known->second.decided) return std::nullopt;
  const Decided& decided = *known->second.decided;
  const bool is_due = decided.to > 0 && !decided.changed && now - decided.at <= kLongest;
  if (!is_due || decided.from != workers || decided.to == workers) return std::nullopt;
  return WorkerChange{decided.from, decided.to, decided.why};
}

void ElasticRounds::Changed(const std::string& job) {
  const auto known = known_.find(job);
  if (known != known_.end() && known->second.decided) known->second.decided->changed = true;
}

void ElasticRounds::Forget(const std::set<std::string>& but) {
  std::erase_if(known_, [&](const auto& entry) { return !but.contains(entry.first); });
}

}  // namespace synergy
