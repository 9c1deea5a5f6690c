#include "controller/admission/deferred_sizing.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "admission/pod_to_admit.h"
#include "cluster/annotations.h"
#include "core/text/quantity_text.h"

namespace synergy::controller {
namespace {

// After a failure, a namespace pauses for kPause times as long as its calls took, within these
// bounds. So a slow namespace takes only a small part of the time.
constexpr int kPause = 10;
constexpr Duration kShortestPause = std::chrono::seconds(1);
constexpr Duration kLongestPause = std::chrono::minutes(1);

// A pod that was in scope at its creation stays in scope.
AdmissionSettings WithAnyScope(AdmissionSettings settings) {
  settings.scope = Scope::kAll;
  return settings;
}

bool IsRefusal(const Error& error) {
  return error.code == ErrorCode::kDenied || error.code == ErrorCode::kInvalid;
}

bool MayBeSized(const Pod& pod, const std::string& scheduler) {
  if (!pod.fungible || !pod.waiting || !pod.node.empty() || pod.deleting || pod.terminal)
    return false;
  const ManagedContainer& fungible = *pod.fungible;
  return pod.waiting->scheduler == scheduler &&
         (fungible.placeholder || (!fungible.change && fungible.profile.empty()));
}

}  // namespace

DeferredSizing::DeferredSizing(AdmissionSettings settings, Duration patience,
                               const AdmissionSurroundings& surroundings, ClusterState& state,
                               kube::PodApi& pods, kube::EventRecorder& events,
                               std::function<bool()> may_act, const Clock& clock, Logger& log)
    : settings_(WithAnyScope(std::move(settings))),
      patience_(patience),
      surroundings_(surroundings),
      state_(state),
      pods_(pods),
      events_(events),
      may_act_(std::move(may_act)),
      clock_(clock),
      log_(log) {}

void DeferredSizing::SizeAll(uint64_t profiles_version, const std::stop_token& stop) {
  const uint64_t version = state_.version();
  if (seen_ == version && profiles_seen_ == profiles_version && clock_.WallNow() < due_) return;
  due_ = WallTime::max();
  std::erase_if(paused_until_,
                [now = clock_.Now()](const auto& each) { return each.second <= now; });
  bool all_done = true;
  std::map<std::string, ResourceVector> replaced;
  replaced.swap(replaced_);
  std::vector<std::shared_ptr<const Pod>> waiting = state_.WaitingPods();
  const auto sharers = state_.WaitingSharers();
  waiting.insert(waiting.end(), sharers.begin(), sharers.end());
  SortByFailures(waiting);
  for (const auto& pod : waiting) {
    if (auto known = replaced.extract(pod->uid)) replaced_.insert(std::move(known));
    if (!MayBeSized(*pod, settings_.scheduler_name)) continue;
    const bool is_paused = paused_until_.contains(pod->pod_namespace);
    all_done &= !is_paused && MayGoOn(stop) && SizeOne(*pod, stop);
  }
  if (all_done) {
    seen_ = version;
    profiles_seen_ = profiles_version;
  } else {
    seen_.reset();
  }
}

void DeferredSizing::SortByFailures(std::vector<std::shared_ptr<const Pod>>& pods) {
  std::map<std::string, Instant> failed;
  for (const auto& pod : pods) {
    if (auto known = failed_.extract(pod->uid)) failed.insert(std::move(known));
  }
  failed_ = std::move(failed);
  if (failed_.empty()) return;
  std::ranges::stable_sort(pods, {}, [this](const auto& pod) {
    const auto last = failed_.find(pod->uid);
    return last == failed_.end() ? Instant::min() : last->second;
  });
}

bool DeferredSizing::SizeOne(const Pod& pod, const std::stop_token& stop) {
  PodToAdmit created = AsCreated(pod, settings_.scheduler_name);
  created.long_unplaced = IsLongUnplaced(pod);
  const AdmissionDecision decision = Admit(created, surroundings_, settings_);
  if (!decision.figures) return true;
  const AdmissionFigures& figures = *decision.figures;
  if (!figures.placeholder.empty()) return Replace(pod, figures, stop);
  // A pod without placeholders may already be on its way to a node where more might not fit.
  if (!pod.fungible->placeholder &&
      (figures.profile.empty() || !figures.floor.FitsWithin(pod.fungible->requested))) {
    return true;
  }
  return Write(pod, figures, stop);
}

bool DeferredSizing::IsLongUnplaced(const Pod& pod) {
  if (!pod.fungible->placeholder || !pod.waiting->unschedulable) return false;
  const WallTime at = pod.waiting->since + patience_;
  if (at <= clock_.WallNow()) return true;
  due_ = std::min(due_, at);
  return false;
}

bool DeferredSizing::Replace(const Pod& pod, const AdmissionFigures& figures,
                             const std::stop_token& stop) {
  if (!pod.fungible->placeholder || figures.floor == pod.fungible->requested) return true;
  const auto last = replaced_.find(pod.uid);
  if (last != replaced_.end() && last->second == figures.floor) return true;
  if (!Write(pod, figures, stop)) return false;
  replaced_[pod.uid] = figures.floor;
  return true;
}

Result<Pod> DeferredSizing::Resize(const Pod& pod, const ResourceVector& floor,
                                   const std::stop_token& stop) {
  using kube::Resized;
  for (const Resized dimensions : {Resized::kBoth, Resized::kCpu, Resized::kMemory}) {
    if (!MayGoOn(stop)) return Fail(ErrorCode::kCancelled, "this replica no longer leads");
    Result<Pod> resized =
        pods_.Resize(pod, floor, kube::Precondition::kUnchanged, dimensions, stop);
    if (resized || !IsRefusal(resized.error())) return resized;
    if (dimensions != Resized::kBoth) continue;
    const std::string& why = resized.error().message;
    log_.Warn("cannot give a pod its floor", {{"pod", pod.Key()}, {"error", why}});
    events_.Record(
        kube::AboutPod(pod, "Warning", "SynergyNotSized",
                       fmt::format("cannot be given {}: {}", DescribeCpuAndMemory(floor), why)));
  }
  return pod;
}

bool DeferredSizing::Write(const Pod& pod, AdmissionFigures figures, const std::stop_token& stop) {
  const auto failed = [&, begin = clock_.Now()](const Error& error) {
    // The pod has changed meanwhile; the next call examines it again.
    if (error.code == ErrorCode::kConflict || error.code == ErrorCode::kCancelled) return false;
    log_.Warn("cannot set a pod's size", {{"pod", pod.Key()}, {"error", error.message}});
    if (error.code == ErrorCode::kNotFound) return true;
    const Instant now = clock_.Now();
    failed_[pod.uid] = now;
    paused_until_[pod.pod_namespace] =
        now + std::clamp<Duration>((now - begin) * kPause, kShortestPause, kLongestPause);
    return false;
  };
  const ResourceVector floor = pod.fungible->WithinQosClass(figures.floor);
  const Result<Pod> resized = Resize(pod, floor, stop);
  if (!resized) return failed(resized.error());
  if (!resized->fungible) return false;
  figures.floor = resized->fungible->requested;
  figures.demand = LargerOf(figures.demand, figures.floor);
  if (!MayGoOn(stop)) return false;
  // Write the mark last, because the extender does not bind the pod without it.
  auto written = wire::FiguresOf(figures);
  if (pod.fungible->change) written.emplace_back(annotations::kChange, std::nullopt);
  const Result<Pod> sized = pods_.Annotate(*resized, written, kube::Precondition::kUnchanged, stop);
  if (!sized) return failed(sized.error());
  failed_.erase(pod.uid);
  state_.RefreshPod(*sized);
  const std::string amounts = DescribeCpuAndMemory(figures.floor);
  log_.Info("pod sized",
            {{"pod", pod.Key()}, {"floor", amounts}, {"placeholder", figures.placeholder}});
  const std::string by =
      figures.profile.empty() ? "its fair share" : "by profile " + figures.profile;
  events_.Record(kube::AboutPod(
      pod, "Normal", "SynergySized",
      figures.placeholder.empty()
          ? fmt::format("{} from now on: {}", amounts, by)
          : fmt::format("{} until it can be sized: {}", amounts, figures.placeholder)));
  return true;
}

}  // namespace synergy::controller
