#include "controller/tuner/turns/turns_driver.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cluster/annotations.h"
#include "cluster/labels.h"
#include "cluster/state/cluster_snapshot.h"
#include "core/gpu_amount.h"

namespace synergy::controller {
namespace {

// Limits the failed writes of a step: if the API server is down, or a webhook hangs, each takes
// seconds to fail.
constexpr size_t kMostFailures = 3;
// How long a pod whose write fails is left alone at first.
constexpr Duration kLeftAlone = std::chrono::minutes(5);
// GPU feature discovery's label for the memory of a GPU, in MiB, and its largest plausible value.
constexpr std::string_view kGpuMemoryLabel = "nvidia.com/gpu.memory";
constexpr int64_t kMostGpuMemoryMib = int64_t{1} << 30;

// Returns whether the failure concerns only this pod: its write was refused, or the pod has changed
// or is gone.
bool IsOfThisPodAlone(const Error& error) {
  return error.code == ErrorCode::kNotFound || error.code == ErrorCode::kConflict ||
         error.code == ErrorCode::kDenied || error.code == ErrorCode::kInvalid;
}

// Returns the memory of each of the node's GPUs, by feature discovery's label; nullopt if unknown.
std::optional<Bytes> GpuMemoryOf(const NodeDetail& node) {
  const std::string_view text = FindLabel(node.labels, kGpuMemoryLabel).value_or("");
  int64_t mib = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mib);
  const bool is_read = error == std::errc() && end == text.data() + text.size();
  if (!is_read || mib <= 0 || mib > kMostGpuMemoryMib) return std::nullopt;
  return MiB(mib);
}

// Counts the members of the pods' gangs that are on nodes, and request no GPUs in turns, such as a
// launcher.
void AddOtherMembers(const ClusterSnapshot& cluster, const std::string& turns,
                     TurnPlanner::PodsByNode& pods) {
  std::map<std::string, size_t> others;  // by gang
  for (auto& [node, here] : pods) {
    for (TurnPod& pod : here) {
      if (!pod.pod->IsOfGang()) continue;
      const auto [count, is_new] = others.try_emplace(pod.pod->gang->name);
      if (is_new) {
        const auto members = cluster.MembersOnNodes(pod.pod->gang->name);
        count->second = static_cast<size_t>(
            std::count_if(members.begin(), members.end(), [&](const auto& member) {
              return !member->terminal && !member->deleting &&
                     member->requests.other.Get(turns) <= 0;
            }));
      }
      pod.other_members = count->second;
    }
  }
}

// Returns how a pod takes turns, for an event.
std::string TextOf(const TurnChange& change) {
  const GpuTurn& turn = *change.turn;
  Duration runs{};
  for (const GpuTurn::Part& part : turn.runs) runs += part.end - part.begin;
  const auto seconds = [](Duration time) {
    return std::chrono::round<std::chrono::seconds>(time).count();
  };
  if (turn.with.empty()) {
    return "is not suspended: no other pod of its GPU trains; the other members of its gang take "
           "turns on their GPUs";
  }
  std::string text = fmt::format(
      "takes turns on its GPU with {}: {} for {} s, and is suspended for {} s",
      fmt::join(change.with, ", "),
      change.beside.empty() ? "it runs" : fmt::format("it runs beside {}", change.beside),
      seconds(runs), seconds(turn.cycle - runs));
  if (turn.runs.size() > 1) text += fmt::format(" of each {} s", seconds(turn.cycle));
  if (change.pod->IsOfGang()) text += "; all members of its gang have the same turns";
  return text;
}

std::string OfAlone(const PackNews& news, size_t pod) {
  return fmt::format("{:.2f} of its speed alone ({} at {:.2f})", news.speeds[pod],
                     news.pods[1 - pod]->Key(), news.speeds[1 - pod]);
}

// Returns an event's text for one of the two pods.
std::string TextOf(const PackNews& news, size_t pod) {
  const std::string other = news.pods[1 - pod]->Key();
  const auto minutes = std::chrono::ceil<std::chrono::minutes>(news.rest).count();
  switch (news.outcome) {
    case PackOutcome::kTried:
      return fmt::format(
          "runs at the same time as {} on its GPU, on trial: alone it does {:.3g} "
          "iterations a second",
          other, news.alone[pod]);
    case PackOutcome::kReused:
      return fmt::format(
          "runs at the same time as {} on its GPU, because similar pods reached {:.2f}"
          " and {:.2f} of their speeds alone",
          other, news.speeds[pod], news.speeds[1 - pod]);
    case PackOutcome::kKept:
      return fmt::format("keeps running at the same time as {} on its GPU: it has {}", other,
                         OfAlone(news, pod));
    case PackOutcome::kRefused:
    case PackOutcome::kUndone:
      return fmt::format(
          "takes turns again, not at the same time as {}: together it had {}; they "
          "may be tried again in {} min",
          other, OfAlone(news, pod), minutes);
    case PackOutcome::kGivenUp:
      break;
  }
  return fmt::format(
      "no longer runs at the same time as {} on its GPU: one of the two has ended, idles, has "
      "restarted, or was not reported in time, or their GPU has other pods{}",
      other,
      minutes > 0 ? fmt::format("; they may be tried again in {} min", minutes) : std::string());
}

}  // namespace

TurnsDriver::TurnsDriver(Settings settings, ClusterState& state, const ProgressStore& progress,
                         kube::PodApi& pods, PackResultKeeper& results, kube::EventRecorder& events,
                         TurnRenewal& renewal, std::function<bool()> may_act, const Clock& clock,
                         Logger& log, metrics::TurnMetrics& metrics)
    : settings_(std::move(settings)),
      state_(state),
      progress_(progress),
      pods_(pods),
      results_(results),
      events_(events),
      renewal_(renewal),
      may_act_(std::move(may_act)),
      clock_(clock),
      log_(log),
      metrics_(metrics),
      planner_(settings_.quantum, settings_.packing) {}

void TurnsDriver::StartOver() {
  planner_ = TurnPlanner(settings_.quantum, settings_.packing);
  has_results_ = false;
  refusals_.clear();
}

void TurnsDriver::Rest() {
  renewal_.End();
  metrics_.SetPods(0, 0, 0);
}

TurnPlanner::PodsByNode TurnsDriver::PodsByNode(Instant now) const {
  const std::string turns = TurnsResource(settings_.gpu_resource);
  const auto cluster = state_.Snapshot();
  TurnPlanner::PodsByNode by_node;
  for (NodeIndex index = 0; index < cluster->size(); ++index) {
    const NodeState& node = cluster->node(index);
    if (!node.exists || node.detail->allocatable.Get(turns) <= 0) continue;
    for (const auto& pod : node.detail->pods) {
      if (pod->requests.other.Get(turns) <= 0) continue;
      by_node[node.detail->name].push_back(
          {pod, progress_.Of(pod->uid, now), node.detail->gpu_kinds.OnlyProduct(),
           GpuMemoryOf(*node.detail), !failing_.Has(pod->uid, now)});
    }
  }
  AddOtherMembers(*cluster, turns, by_node);
  return by_node;
}

void TurnsDriver::Step(const std::stop_token& stop) {
  const Moment at = clock_.Present();
  const auto pods = PodsByNode(at.now);
  ReportRefusals(pods);
  if (settings_.packing && !std::exchange(has_results_, true))
    planner_.SetPackResults(results_.Load());
  const TurnPlan plan = planner_.Plan(pods, at);
  ReportPacks(plan.news);
  failing_.Forget(at.now);
  size_t tried = 0;
  size_t failed = 0;
  size_t settled = 0;  // written, or left alone
  for (const TurnChange& change : plan.changes) {
    if (failing_.Has(change.pod->uid, at.now)) {
      ++settled;
      continue;
    }
    if (tried == kMostWrites || failed == kMostFailures) break;
    const Written written = Write(change, stop);
    if (written == Written::kDone) failing_.Succeeded(change.pod->uid);
    if (written == Written::kRefused) failing_.Failed(change.pod->uid, at.now, kLeftAlone);
    ++tried;
    if (written != Written::kDone) ++failed;
    if (written != Written::kUnreachable) ++settled;
  }
  size_t suspended = 0;
  for (const auto& [node, here] : pods) {
    for (const TurnPod& pod : here)
      suspended += pod.report && pod.report->pod.turn && pod.report->pod.turn->suspended ? 1 : 0;
  }
  metrics_.SetPods(plan.in_turns, suspended, plan.packed);
  const bool all = settled == plan.changes.size();
  metrics_.CountPass(all ? "complete" : "incomplete");
  if (all && !stop.stop_requested() && may_act_()) renewal_.Renew(clock_.Now());
  if (settings_.packing) results_.Keep(planner_.pack_results(), stop);
}

void TurnsDriver::ReportRefusals(const TurnPlanner::PodsByNode& pods) {
  std::map<std::string, std::string> reported;
  for (const auto& [node, here] : pods) {
    for (const TurnPod& pod : here) {
      if (!pod.report || !pod.report->pod.turn || pod.report->pod.turn->refusal.empty()) continue;
      const std::string& why = pod.report->pod.turn->refusal;
      const auto before = refusals_.find(pod.pod->uid);
      if (before == refusals_.end() || before->second != why) {
        events_.Record(
            kube::AboutPod(*pod.pod, "Warning", "SynergyTurnsRefused",
                           "is never suspended, so other pods on its GPU get less time: " + why));
      }
      reported[pod.pod->uid] = why;
    }
  }
  refusals_ = std::move(reported);
}

TurnsDriver::Written TurnsDriver::Write(const TurnChange& change, const std::stop_token& stop) {
  if (stop.stop_requested() || !may_act_()) return Written::kUnreachable;
  std::optional<std::string> text;
  if (change.turn) text = wire::WriteTurn(*change.turn);
  const Result<Pod> answer = pods_.Annotate(*change.pod, {{annotations::kTurn, std::move(text)}},
                                            kube::Precondition::kSamePod, stop);
  metrics_.CountWrite(answer ? "written" : "failed");
  if (answer) {
    state_.RefreshPod(*answer);
    Report(change);
    return Written::kDone;
  }
  log_.Warn("cannot write a pod's turns on its GPU",
            {{"pod", change.pod->Key()}, {"error", answer.error().message}});
  // A webhook of the pod's namespace can fail with the same error as the API server. An API server
  // that carries out no writes at all also ends this replica's leadership.
  const bool is_alone = IsOfThisPodAlone(answer.error()) ||
                        pods_.Get(change.pod->pod_namespace, change.pod->name, stop).has_value();
  return is_alone ? Written::kRefused : Written::kUnreachable;
}

void TurnsDriver::Report(const TurnChange& change) {
  if (change.turn && !change.turn->beside.empty() && change.with.empty()) {
    log_.Info("turns written", {{"pod", change.pod->Key()}, {"beside", change.beside}});
    return;  // SynergyPacked reports it
  }
  std::string message = "no longer takes turns: no other pod of its GPU trains";
  if (change.turn) {
    message = TextOf(change);
  } else if (change.pod->IsOfGang()) {
    message =
        "no longer takes turns: nothing else that trains has a GPU of its gang, or a member of the "
        "gang is missing, has just started, or cannot be suspended";
  }
  log_.Info("turns written", {{"pod", change.pod->Key()}, {"turns", message}});
  events_.Record(kube::AboutPod(*change.pod, "Normal", "SynergyTurns", std::move(message)));
}

void TurnsDriver::ReportPacks(const std::vector<PackNews>& news) {
  for (const PackNews& one : news) {
    metrics_.CountPack(ToString(one.outcome));
    log_.Info("pods on a GPU at the same time", {{"pod", one.pods[0]->Key()},
                                                 {"other", one.pods[1]->Key()},
                                                 {"outcome", std::string(ToString(one.outcome))},
                                                 {"speed", one.speeds[0]},
                                                 {"other_speed", one.speeds[1]}});
    for (size_t pod = 0; pod < 2; ++pod) {
      events_.Record(kube::AboutPod(*one.pods[pod], "Normal", "SynergyPacked", TextOf(one, pod)));
    }
  }
}

}  // namespace synergy::controller
