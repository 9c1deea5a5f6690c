#include "controller/admission/deferred_sizing.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "admission/pod_to_admit.h"
#include "core/text/quantity_text.h"

namespace synergy::controller {
namespace {

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
  return pod.waiting->scheduler == scheduler && !fungible.change &&
         (fungible.placeholder || fungible.profile.empty());
}

}  // namespace

DeferredSizing::DeferredSizing(AdmissionSettings settings, Duration patience,
                               const AdmissionSurroundings& surroundings, ClusterState& state,
                               kube::PodApi& pods, kube::EventRecorder& events, const Clock& clock,
                               Logger& log)
    : settings_(WithAnyScope(std::move(settings))),
      patience_(patience),
      surroundings_(surroundings),
      state_(state),
      pods_(pods),
      events_(events),
      clock_(clock),
      log_(log) {}

void DeferredSizing::SizeAll(uint64_t profiles_version) {
  const uint64_t version = state_.version();
  if (seen_ == version && profiles_seen_ == profiles_version && clock_.WallNow() < due_) return;
  due_ = WallTime::max();
  bool all_done = true;
  std::map<std::string, ResourceVector> replaced;
  replaced.swap(replaced_);
  std::vector<std::shared_ptr<const Pod>> waiting = state_.WaitingPods();
  const auto sharers = state_.WaitingSharers();
  waiting.insert(waiting.end(), sharers.begin(), sharers.end());
  for (const auto& pod : waiting) {
    if (auto known = replaced.extract(pod->uid)) replaced_.insert(std::move(known));
    if (MayBeSized(*pod, settings_.scheduler_name)) all_done &= SizeOne(*pod);
  }
  if (all_done) {
    seen_ = version;
    profiles_seen_ = profiles_version;
  } else {
    seen_.reset();
  }
}

bool DeferredSizing::SizeOne(const Pod& pod) {
  PodToAdmit created = AsCreated(pod, settings_.scheduler_name);
  created.long_unplaced = IsLongUnplaced(pod);
  const AdmissionDecision decision = Admit(created, surroundings_, settings_);
  if (!decision.figures) return true;
  const AdmissionFigures& figures = *decision.figures;
  if (!figures.placeholder.empty()) return Replace(pod, figures);
  // A pod without placeholders may already be on its way to a node where more might not fit.
  if (!pod.fungible->placeholder &&
      (figures.profile.empty() || !figures.floor.FitsWithin(pod.fungible->requested))) {
    return true;
  }
  return Write(pod, figures);
}

bool DeferredSizing::IsLongUnplaced(const Pod& pod) {
  if (!pod.fungible->placeholder || !pod.waiting->unschedulable) return false;
  const WallTime at = pod.waiting->since + patience_;
  if (at <= clock_.WallNow()) return true;
  due_ = std::min(due_, at);
  return false;
}

bool DeferredSizing::Replace(const Pod& pod, const AdmissionFigures& figures) {
  if (!pod.fungible->placeholder || figures.floor == pod.fungible->requested) return true;
  const auto last = replaced_.find(pod.uid);
  if (last != replaced_.end() && last->second == figures.floor) return true;
  if (!Write(pod, figures)) return false;
  replaced_[pod.uid] = figures.floor;
  return true;
}

Result<Pod> DeferredSizing::Resize(const Pod& pod, const ResourceVector& floor) {
  using kube::Resized;
  for (const Resized dimensions : {Resized::kBoth, Resized::kCpu, Resized::kMemory}) {
    Result<Pod> resized = pods_.Resize(pod, floor, kube::Precondition::kUnchanged, dimensions);
    if (resized || !IsRefusal(resized.error())) return resized;
    if (dimensions != Resized::kBoth) continue;
    const std::string& why = resized.error().message;
    log_.Warn("cannot give a pod its floor", {{"pod", pod.Key()}, {"error", why}});
    events_.Record({pod.pod_namespace, pod.name, pod.uid, "Warning", "SynergyNotSized",
                    fmt::format("cannot be given {}: {}", DescribeCpuAndMemory(floor), why)});
  }
  return pod;
}

bool DeferredSizing::Write(const Pod& pod, AdmissionFigures figures) {
  const auto failed = [&](const Error& error) {
    // The pod has changed meanwhile; the next call examines it again.
    if (error.code == ErrorCode::kConflict) return false;
    log_.Warn("cannot set a pod's size", {{"pod", pod.Key()}, {"error", error.message}});
    return error.code == ErrorCode::kNotFound;
  };
  const Result<Pod> resized = Resize(pod, figures.floor);
  if (!resized) return failed(resized.error());
  if (!resized->fungible) return false;
  figures.floor = resized->fungible->requested;
  figures.demand = LargerOf(figures.demand, figures.floor);
  // Write the mark last, because the extender does not bind the pod without it.
  const Result<Pod> sized =
      pods_.Annotate(*resized, wire::FiguresOf(figures), kube::Precondition::kUnchanged);
  if (!sized) return failed(sized.error());
  state_.RefreshPod(*sized);
  const std::string floor = DescribeCpuAndMemory(figures.floor);
  log_.Info("pod sized",
            {{"pod", pod.Key()}, {"floor", floor}, {"placeholder", figures.placeholder}});
  const std::string by =
      figures.profile.empty() ? "its fair share" : "by profile " + figures.profile;
  events_.Record({pod.pod_namespace, pod.name, pod.uid, "Normal", "SynergySized",
                  figures.placeholder.empty()
                      ? fmt::format("{} from now on: {}", floor, by)
                      : fmt::format("{} until it can be sized: {}", floor, figures.placeholder)});
  return true;
}

}  // namespace synergy::controller
