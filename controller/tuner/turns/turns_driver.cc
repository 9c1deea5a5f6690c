#include "controller/tuner/turns/turns_driver.h"

#include <chrono>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/annotations.h"
#include "core/gpu_amount.h"

namespace synergy::controller {
namespace {

// With the API server down, each write takes seconds to fail.
constexpr size_t kMostFailures = 5;

// Returns whether the API server refused, or did not need, only this write.
bool IsOfThisPodAlone(const Error& error) {
  return error.code == ErrorCode::kNotFound || error.code == ErrorCode::kConflict ||
         error.code == ErrorCode::kDenied || error.code == ErrorCode::kInvalid;
}

}  // namespace

TurnsDriver::TurnsDriver(Settings settings, ClusterState& state, const ProgressStore& progress,
                         kube::PodApi& pods, kube::EventRecorder& events, TurnRenewal& renewal,
                         std::function<bool()> may_act, const Clock& clock, Logger& log,
                         metrics::TurnMetrics& metrics)
    : settings_(std::move(settings)),
      state_(state),
      progress_(progress),
      pods_(pods),
      events_(events),
      renewal_(renewal),
      may_act_(std::move(may_act)),
      clock_(clock),
      log_(log),
      metrics_(metrics),
      planner_(settings_.quantum) {}

void TurnsDriver::StartOver() {
  planner_ = TurnPlanner(settings_.quantum);
  refusals_.clear();
}

void TurnsDriver::Rest() {
  renewal_.End();
  metrics_.SetPods(0, 0);
}

std::map<std::string, std::vector<TurnPod>> TurnsDriver::PodsByNode(Instant now) const {
  const std::string turns = TurnsResource(settings_.gpu_resource);
  const auto cluster = state_.Snapshot();
  std::map<std::string, std::vector<TurnPod>> by_node;
  for (NodeIndex index = 0; index < cluster->size(); ++index) {
    const NodeState& node = cluster->node(index);
    if (!node.exists || node.detail->allocatable.Get(turns) <= 0) continue;
    for (const auto& pod : node.detail->pods) {
      if (pod->requests.other.Get(turns) <= 0) continue;
      by_node[node.detail->name].push_back({pod, progress_.Of(pod->uid, now)});
    }
  }
  return by_node;
}

void TurnsDriver::Step(const std::stop_token& stop) {
  const Moment at = clock_.Present();
  const auto pods = PodsByNode(at.now);
  ReportRefusals(pods);
  const TurnPlan plan = planner_.Plan(pods, at);
  size_t written = 0;
  size_t failed = 0;
  for (const TurnChange& change : plan.changes) {
    if (written + failed == kMostWrites || failed == kMostFailures) break;
    ++(Write(change, stop) ? written : failed);
  }
  size_t suspended = 0;
  for (const auto& [node, here] : pods) {
    for (const TurnPod& pod : here)
      suspended += pod.report && pod.report->pod.turn && pod.report->pod.turn->suspended ? 1 : 0;
  }
  metrics_.SetPods(plan.in_turns, suspended);
  const bool all = written == plan.changes.size();
  metrics_.CountPass(all ? "complete" : "incomplete");
  if (all && !stop.stop_requested() && may_act_()) renewal_.Renew(clock_.Now());
}

void TurnsDriver::ReportRefusals(const std::map<std::string, std::vector<TurnPod>>& pods) {
  std::map<std::string, std::string> reported;
  for (const auto& [node, here] : pods) {
    for (const TurnPod& pod : here) {
      if (!pod.report || !pod.report->pod.turn || pod.report->pod.turn->refusal.empty()) continue;
      const std::string& why = pod.report->pod.turn->refusal;
      const auto before = refusals_.find(pod.pod->uid);
      if (before == refusals_.end() || before->second != why) {
        events_.Record(
            {pod.pod->pod_namespace, pod.pod->name, pod.pod->uid, "Warning", "SynergyTurnsRefused",
             "is never suspended, so that other pods of its GPU have less of it: " + why});
      }
      reported[pod.pod->uid] = why;
    }
  }
  refusals_ = std::move(reported);
}

bool TurnsDriver::Write(const TurnChange& change, const std::stop_token& stop) {
  if (stop.stop_requested() || !may_act_()) return false;
  std::optional<std::string> text;
  if (change.turn) text = wire::WriteTurn(*change.turn);
  const Result<Pod> answer = pods_.Annotate(*change.pod, {{annotations::kTurn, std::move(text)}},
                                            kube::Precondition::kSamePod, stop);
  metrics_.CountWrite(answer ? "written" : "failed");
  if (answer) {
    state_.RefreshPod(*answer);
    Report(change);
    return true;
  }
  log_.Warn("cannot write a pod's turns on its GPU",
            {{"pod", change.pod->Key()}, {"error", answer.error().message}});
  return IsOfThisPodAlone(answer.error());
}

void TurnsDriver::Report(const TurnChange& change) {
  std::string message = "no longer takes turns: no other pod of its GPU trains";
  if (change.turn) {
    const GpuTurn& turn = *change.turn;
    const auto seconds = [](Duration time) {
      return std::chrono::round<std::chrono::seconds>(time).count();
    };
    message = fmt::format(
        "takes turns on its GPU with {}: it runs for {} s, and is suspended for {} s",
        fmt::join(change.with, ", "), seconds(turn.runs.front().end - turn.runs.front().begin),
        seconds(turn.cycle - (turn.runs.front().end - turn.runs.front().begin)));
  }
  log_.Info("turns written", {{"pod", change.pod->Key()}, {"turns", message}});
  events_.Record({change.pod->pod_namespace, change.pod->name, change.pod->uid, "Normal",
                  "SynergyTurns", std::move(message)});
}

}  // namespace synergy::controller
