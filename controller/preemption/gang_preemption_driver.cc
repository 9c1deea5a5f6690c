#include "controller/preemption/gang_preemption_driver.h"

#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "cluster/annotations.h"
#include "controller/preemption/lost_answer.h"
#include "wire/pods/pod_writes.h"

namespace synergy::controller {
namespace {

// Returns whether the call failed because the pod no longer exists, so that there is nothing to
// evict.
bool IsOfGonePod(const Error& error) {
  return error.code == ErrorCode::kNotFound || error.code == ErrorCode::kConflict;
}

}  // namespace

GangPreemptionDriver::GangPreemptionDriver(GangPreemptionSettings settings, ClusterState& state,
                                           kube::PodApi& pods, kube::EvictionApi& evictions,
                                           kube::EventRecorder& events, PodActs& acts,
                                           std::function<bool()> may_act, const Clock& clock,
                                           Logger& log, metrics::ControllerMetrics& metrics)
    : preemption_(std::move(settings)),
      state_(state),
      pods_(pods),
      evictions_(evictions),
      events_(events),
      acts_(acts),
      may_act_(std::move(may_act)),
      clock_(clock),
      log_(log),
      metrics_(metrics) {}

void GangPreemptionDriver::Step(const std::stop_token& stop) {
  const Moment at{clock_.Now(), clock_.WallNow()};
  while (true) {
    const std::vector<PreemptionAction> actions = preemption_.Plan(state_, at);
    if (actions.empty()) return;
    for (const PreemptionAction& action : actions) {
      const PreemptionResult result =
          std::visit([&](const auto& what) { return Do(*action.gang, what, stop); }, action.what);
      preemption_.OnResult(action, result);
    }
  }
}

PreemptionResult GangPreemptionDriver::Do(const Gang&, const preemption_action::KeepPlaces& action,
                                          const std::stop_token& stop) {
  for (const auto& [pod, node] : action.places) {
    if (!MayGoOn(stop)) return {.done = false};
    const Result<Pod> kept =
        pods_.Annotate(*pod, {{annotations::kKeptPlace, wire::WriteKeptPlace(node, action.until)}},
                       kube::Precondition::kSamePod, stop);
    if (!kept) {
      log_.Warn("cannot reserve a place for a gang's member",
                {{"pod", pod->Key()}, {"error", kept.error().message}});
      if (!MayHaveBeenDone(kept.error())) return {.done = false};
      // If the place was written after all, it must be known, so that it ends with the attempt.
      const Result<Pod> now = pods_.Get(pod->pod_namespace, pod->name, stop);
      if (now && now->uid == pod->uid) state_.RefreshPod(*now);
      return {.done = false};
    }
    state_.RefreshPod(*kept);
  }
  return {};
}

PreemptionResult GangPreemptionDriver::Do(const Gang&, const preemption_action::EndPlaces& action,
                                          const std::stop_token& stop) {
  for (const auto& pod : action.pods) {
    if (!MayGoOn(stop)) return {.done = false};
    const Result<Pod> ended = pods_.Annotate(*pod, {{annotations::kKeptPlace, std::nullopt}},
                                             kube::Precondition::kSamePod, stop);
    if (ended) state_.RefreshPod(*ended);
  }
  return {};
}

PreemptionResult GangPreemptionDriver::Do(const Gang&,
                                          const preemption_action::TryEvictions& action,
                                          const std::stop_token& stop) {
  for (const auto& pod : action.pods) {
    if (!MayGoOn(stop)) return {.done = false, .why = "another replica acts now"};
    const Result<> tried = evictions_.TryEvict(kube::IdentityOf(*pod), stop);
    if (!tried && !IsOfGonePod(tried.error())) return {.done = false, .why = tried.error().message};
  }
  return {};
}

PreemptionResult GangPreemptionDriver::Do(const Gang& gang, const preemption_action::Evict& action,
                                          const std::stop_token& stop) {
  PreemptionResult result;
  for (const auto& pod : action.pods) {
    if (!MayGoOn(stop)) {
      result.refused.push_back(pod);
      continue;
    }
    const WallTime asked = clock_.WallNow();
    const Result<> evicted = evictions_.Evict(kube::IdentityOf(*pod), stop);
    // If the answer was lost, the pod may be gone before the next try.
    if (evicted || MayHaveBeenDone(evicted.error())) acts_.Note(pod->uid, "preemption", asked);
    if (evicted) {
      metrics_.CountEvictedForGang();
      Record(*pod, "Warning", "SynergyPreempted",
             fmt::format("evicted for gang {} with priority {}; this pod has priority {}",
                         gang.name, gang.priority, pod->priority));
    } else if (!IsOfGonePod(evicted.error())) {
      log_.Warn("cannot evict", {{"pod", pod->Key()}, {"error", evicted.error().message}});
      result.refused.push_back(pod);
    }
  }
  return result;
}

PreemptionResult GangPreemptionDriver::Do(const Gang& gang, const preemption_action::Begin& action,
                                          const std::stop_token&) {
  log_.Info("evicting for a gang", {{"gang", gang.name},
                                    {"priority", gang.priority},
                                    {"members", gang.members.size()},
                                    {"victims", action.victims}});
  for (const auto& pod : gang.members) {
    Record(*pod, "Normal", "SynergyPreempting",
           fmt::format("gang {}: evicting {} pods of lower priority for it", gang.name,
                       action.victims));
  }
  return {};
}

PreemptionResult GangPreemptionDriver::Do(const Gang& gang, const preemption_action::End& action,
                                          const std::stop_token&) {
  metrics_.CountGangPreemption(ToString(action.end));
  log_.Info("eviction for a gang ended", {{"gang", gang.name},
                                          {"outcome", ToString(action.end)},
                                          {"why", action.why},
                                          {"victims", action.victims}});
  if (action.end == PreemptionEnd::kBound || action.end == PreemptionEnd::kGangGone) return {};
  for (const auto& pod : gang.members) {
    Record(*pod, "Warning", "SynergyPreemptionEnded",
           fmt::format("gang {}: {}", gang.name, action.why));
  }
  return {};
}

void GangPreemptionDriver::Record(const Pod& pod, std::string type, std::string reason,
                                  std::string message) {
  events_.Record(kube::AboutPod(pod, std::move(type), std::move(reason), std::move(message)));
}

}  // namespace synergy::controller
