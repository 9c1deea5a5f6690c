#include "controller/profiles/profile_rollout.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "admission/pod_to_admit.h"
#include "cluster/annotations.h"
#include "cluster/state/cluster_snapshot.h"
#include "core/text/quantity_text.h"
#include "wire/pods/pod_writes.h"

namespace synergy::controller {
namespace {

// The cluster in the form that admission needs. Two facts are certain for a running pod, and come
// from the pod: its GPUs, and the share that it was admitted with.
class AroundRunningPod final : public AdmissionSurroundings {
 public:
  AroundRunningPod(const AdmissionSurroundings& cluster, const ManagedContainer& fungible,
                   MeasuredFound measured)
      : cluster_(cluster), managed_(fungible), measured_(std::move(measured)) {}

  bool Complete() const override { return cluster_.Complete(); }
  std::string NamespaceLabel(const std::string& name, std::string_view key) const override {
    return cluster_.NamespaceLabel(name, key);
  }
  std::shared_ptr<const KnownProfile> FindProfile(const std::string& profile_namespace,
                                                  const std::string& name) const override {
    return cluster_.FindProfile(profile_namespace, name);
  }
  MeasuredFound FindMeasured(const std::string&, const WorkloadSought&, Gpus, int32_t,
                             const std::string&, const NodeSelection&) const override {
    return measured_;
  }
  std::shared_ptr<const NamespaceLimits> Limits() const override { return cluster_.Limits(); }
  std::optional<ResourceVector> FairShare(const NodeSelection&, const GpuAmount&,
                                          const std::string&) const override {
    return managed_.fair_share;
  }

 private:
  const AdmissionSurroundings& cluster_;
  const ManagedContainer& managed_;
  const MeasuredFound measured_;
};

AdmissionSettings OfAnyScope(AdmissionSettings settings) {
  settings.scope = Scope::kAll;
  return settings;
}

// Returns whether the pod has changed meanwhile or is gone, which the watch will report.
bool HasChanged(const Error& error) {
  return error.code == ErrorCode::kConflict || error.code == ErrorCode::kNotFound;
}

bool MayGetProfile(const Pod& pod) {
  return pod.fungible && !pod.fungible->workload.empty() && !pod.fungible->placeholder &&
         !pod.waiting && !pod.deleting && !pod.terminal;
}

std::shared_ptr<const KnownProfile> OfProduct(
    const std::vector<std::shared_ptr<const KnownProfile>>& measured, const std::string& product) {
  for (const auto& known : measured) {
    if (known->object.measured->gpu_product == product) return known;
  }
  return nullptr;
}

}  // namespace

ProfileRollout::ProfileRollout(AdmissionSettings settings,
                               const AdmissionSurroundings& surroundings,
                               const ProfileStore& profiles, ClusterState& state,
                               kube::PodApi& pods, kube::EventRecorder& events,
                               std::function<bool()> may_act, const Clock& clock, Logger& log)
    : settings_(OfAnyScope(std::move(settings))),
      surroundings_(surroundings),
      profiles_(profiles),
      state_(state),
      pods_(pods),
      events_(events),
      may_act_(std::move(may_act)),
      clock_(clock),
      log_(log) {}

void ProfileRollout::RollOut(const std::stop_token& stop) {
  const uint64_t version = state_.version();
  const uint64_t profiles_version = profiles_.version();
  if (seen_ == version && profiles_seen_ == profiles_version) return;
  seen_.reset();
  if (!surroundings_.Complete()) return;
  const Instant now = clock_.Now();
  failing_.Forget(now);
  size_t tried = 0;
  if (profiles_.AnyMeasured()) {
    const auto cluster = state_.Snapshot();
    for (NodeIndex index = 0; index < cluster->size(); ++index) {
      const NodeDetail& node = *cluster->node(index).detail;
      const std::vector<std::string>& products = node.gpu_kinds.products;
      // If the node has several products, it is impossible to find out which one the pod got.
      if (!cluster->node(index).exists || products.size() > 1) continue;
      for (const auto& pod : node.pods) {
        if (!MayGetProfile(*pod) || failing_.Has(pod->uid, now)) continue;
        const auto figures = FiguresFor(*pod, products.empty() ? std::string() : products.front());
        if (!figures) continue;
        if (tried == kMostAtOnce || stop.stop_requested() || !may_act_()) return;
        ++tried;
        const Result<> done = Write(*pod, *figures, stop);
        const bool is_outage = !done && IsOutage(done.error());
        if (done) {
          failing_.Succeeded(pod->uid);
        } else if (!HasChanged(done.error())) {
          failing_.Failed(pod->uid, now, is_outage ? kOutageLasts : kRefusalLasts);
        }
        if (is_outage) return;
      }
    }
  }
  // Do not record the versions as seen, because the writes have changed the cluster, or some must
  // be retried.
  if (tried > 0 || !failing_.empty()) return;
  seen_ = version;
  profiles_seen_ = profiles_version;
}

std::optional<AdmissionFigures> ProfileRollout::FiguresFor(const Pod& pod,
                                                           const std::string& product) const {
  const ManagedContainer& fungible = *pod.fungible;
  const auto measured = profiles_.Measured(pod.pod_namespace, fungible.workload,
                                           fungible.requested.gpus, GangSizeOf(pod));
  MeasuredFound found{.profile = OfProduct(measured, product)};
  // A hint stays until the pod's own workload has been measured.
  if (found.profile == nullptr && fungible.hint) {
    found.profile = profiles_.Find(pod.pod_namespace, fungible.profile);
    found.by_looser = fungible.hint;
    const bool fits = found.profile != nullptr && found.profile->object.measured &&
                      found.profile->object.measured->gpu_product == product;
    if (!fits) found = {};
  }
  const std::shared_ptr<const KnownProfile>& known = found.profile;
  if (!fungible.profile.empty()) {
    const auto present = profiles_.Find(pod.pod_namespace, fungible.profile);
    // Keep a profile that a user wrote; a deleted profile may have been one, too.
    const bool same = known != nullptr && known->object.name == fungible.profile;
    if (!same && (present == nullptr || !present->object.IsMeasured())) return std::nullopt;
    if (same && known->object.PointsGeneration() == fungible.profile_generation)
      return std::nullopt;
    // Keep a profile that the pod's author named, measured or not.
    if (FindLabel(pod.labels, annotations::kProfile) == fungible.profile && !same)
      return std::nullopt;
  } else if (known == nullptr) {
    return std::nullopt;
  }
  const AroundRunningPod around(surroundings_, fungible, std::move(found));
  AdmissionDecision decision = Admit(AsCreated(pod, settings_.scheduler_name), around, settings_);
  if (!decision.figures || !decision.figures->placeholder.empty()) return std::nullopt;
  AdmissionFigures figures = *std::move(decision.figures);
  // A profile that a user wrote meanwhile applies only to pods created from now on.
  if (!figures.profile.empty()) {
    const auto used = profiles_.Find(pod.pod_namespace, figures.profile);
    if (used == nullptr || !used->object.IsMeasured()) return std::nullopt;
  }
  if (figures.profile == fungible.profile &&
      figures.profile_generation == fungible.profile_generation) {
    return std::nullopt;
  }
  // Memory is not measured, and a floor must not exceed what the pod has.
  figures.floor = {
      fungible.floor.gpus,
      std::min(figures.floor.cpu, fungible.requested.cpu + fungible.Lends() - fungible.Borrows()),
      fungible.floor.memory};
  figures.demand = {fungible.demand.gpus, std::max(figures.demand.cpu, figures.floor.cpu),
                    fungible.demand.memory};
  return figures;
}

Result<> ProfileRollout::Write(const Pod& pod, const AdmissionFigures& figures,
                               const std::stop_token& stop) {
  const bool loses = figures.profile.empty();
  const Result<Pod> answer =
      pods_.Annotate(pod, wire::ProfileOf(figures), kube::Precondition::kUnchanged, stop);
  if (!answer) {
    if (!HasChanged(answer.error())) {
      log_.Warn("cannot write a measured profile to a pod",
                {{"pod", pod.Key()}, {"error", answer.error().message}});
    }
    return Fail(answer.error());
  }
  state_.RefreshPod(*answer);
  log_.Info("measured profile used", {{"pod", pod.Key()},
                                      {"profile", figures.profile},
                                      {"revision", figures.profile_generation},
                                      {"demand", ToQuantityText(figures.demand.cpu)},
                                      {"floor", ToQuantityText(figures.floor.cpu)}});
  const auto used = profiles_.Find(pod.pod_namespace, figures.profile);
  const bool taken = used != nullptr && used->object.measured && used->object.measured->taken;
  const bool drops = pod.fungible->hint && !figures.hint && !taken;
  if (drops) {
    events_.Record(kube::AboutPod(pod, "Normal", "SynergyHintDropped",
                                  fmt::format("profile {}, found by {}, does not hold for this pod",
                                              pod.fungible->profile, ToText(*pod.fungible->hint))));
  }
  events_.Record(
      {pod.pod_namespace, pod.name, pod.uid, "Normal", "SynergyProfiled",
       loses ? fmt::format("profile {} was measured on GPUs of another product, or in gangs of "
                           "another size: the pod has no profile from now on",
                           pod.fungible->profile)
             : fmt::format("measured while the pod trained: its demand is {}, its floor {} "
                           "(profile {}, revision {})",
                           ToQuantityText(figures.demand.cpu), ToQuantityText(figures.floor.cpu),
                           figures.profile, figures.profile_generation)});
  return {};
}

}  // namespace synergy::controller
