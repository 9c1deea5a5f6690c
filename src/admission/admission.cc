#include "admission/admission.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "admission/sizing.h"
#include "admission/workload.h"
#include "cluster/annotations.h"
#include "core/text/duration_text.h"
#include "core/text/quantity_text.h"

namespace synergy {
namespace {

constexpr std::string_view kDefaultScheduler = "default-scheduler";
// Kubernetes refuses a pod whose annotations exceed 256 KiB; Synergy's annotations must not cause
// that.
constexpr size_t kMostAnnotationBytes = (size_t{256} << 10) - (size_t{16} << 10);

bool Contains(const std::vector<std::string>& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

bool AsksForIt(const PodToAdmit& pod, const AdmissionSettings& settings) {
  return pod.scheduler == settings.scheduler_name ||
         std::any_of(pod.labels.begin(), pod.labels.end(), [](const auto& label) {
           return std::string_view(label.first).starts_with(annotations::kPrefix);
         });
}

// Returns whether the pod serves models instead of training one: its owner is a Deployment, a
// LeaderWorkerSet, a RayService, or belongs to KServe or Knative. Its speed depends on incoming
// requests, so no profile shows what it needs. A pod of such an owner that does train needs a label
// that requests Synergy.
bool IsInference(const PodToAdmit& pod) {
  constexpr std::array<std::string_view, 4> kServing = {
      "serving.kserve.io/inferenceservice", "serving.knative.dev/revision",
      "leaderworkerset.sigs.k8s.io/name", "ray.io/serve"};
  const bool is_serving = std::any_of(kServing.begin(), kServing.end(), [&pod](auto label) {
    return FindLabel(pod.labels, label).has_value();
  });
  return is_serving || (pod.owner.api_version == "apps/v1" && pod.owner.kind == "ReplicaSet") ||
         FindLabel(pod.labels, "app.kubernetes.io/part-of") == "llminferenceservice";
}

// Returns why Synergy leaves the pod alone; nullopt if it does not.
std::optional<AdmissionOutcome> WhyNot(const PodToAdmit& pod,
                                       const AdmissionSurroundings& surroundings,
                                       const AdmissionSettings& settings) {
  if (pod.gpu_containers.empty()) return AdmissionOutcome::kNoGpus;
  if (Contains(settings.excluded_namespaces, pod.pod_namespace))
    return AdmissionOutcome::kExcludedNamespace;
  if (FindLabel(pod.labels, annotations::kFungible) == "false") return AdmissionOutcome::kOptedOut;
  if (settings.scope == Scope::kOptIn && !AsksForIt(pod, settings) &&
      surroundings.NamespaceLabel(pod.pod_namespace, annotations::kManaged) != "true") {
    return AdmissionOutcome::kNotAsked;
  }
  if (!AsksForIt(pod, settings) && IsInference(pod)) return AdmissionOutcome::kInference;
  if (pod.mirror) return AdmissionOutcome::kStatic;
  if (pod.has_node) return AdmissionOutcome::kHasNode;
  const std::string_view scheduler = pod.scheduler.empty() ? kDefaultScheduler : pod.scheduler;
  if (scheduler != settings.scheduler_name && !Contains(settings.managed_schedulers, scheduler))
    return AdmissionOutcome::kOtherScheduler;
  return std::nullopt;
}

class Admission {
 public:
  // `final`: the amounts cannot change later.
  Admission(const PodToAdmit& pod, const AdmissionSurroundings& surroundings,
            const AdmissionSettings& settings, bool final)
      : pod_(pod),
        surroundings_(surroundings),
        settings_(settings),
        final_(final),
        limits_(surroundings.Limits()) {}

  AdmissionDecision Decide() {
    if (const std::optional<AdmissionOutcome> outcome = WhyNot(pod_, surroundings_, settings_))
      return Leave(*outcome);
    if (pod_.pod_level_resources) {
      return Leave(AdmissionOutcome::kPodLevelResources,
                   "the pod's CPU and memory stay as written, because spec.resources is set");
    }
    if (pod_.gpu_containers.size() > 1) {
      return Leave(AdmissionOutcome::kSeveralContainers,
                   fmt::format("CPU and memory stay as written, because {} containers request {}",
                               pod_.gpu_containers.size(), settings_.gpu_resource));
    }
    if (pod_.annotation_bytes > kMostAnnotationBytes) {
      return Leave(AdmissionOutcome::kFullAnnotations,
                   "CPU and memory stay as written, because the annotations leave no room");
    }
    if (pod_.best_effort && limits_->HasQuotaByQos(pod_.pod_namespace)) {
      return Leave(
          AdmissionOutcome::kQuotaByQos,
          "the pod stays without CPU and memory requests, because a quota of the namespace "
          "has the scope BestEffort or NotBestEffort, and would count it otherwise");
    }
    if (!surroundings_.Complete()) {
      return Leave(AdmissionOutcome::kStarting,
                   "CPU and memory stay as written, because the controller is still starting");
    }
    return Manage(pod_.gpu_containers.front());
  }

 private:
  AdmissionDecision Leave(AdmissionOutcome outcome, const std::string& warning = {}) {
    if (!warning.empty()) Warn(warning);
    return {outcome, std::nullopt, std::move(warnings_)};
  }

  void Warn(const std::string& text) { warnings_.push_back("synergy: " + text); }

  AdmissionDecision Manage(const GpuContainer& container) {
    gpus_ = container.gpus.gpus;
    const bool guaranteed = pod_.guaranteed_beside && container.written.IsGuaranteed();
    AdmissionFigures figures;
    figures.container = container.index;
    figures.container_name = container.name;
    figures.enforcement = guaranteed ? Enforcement::kStrict : FindEnforcement();
    const ProfileUse use = pod_.SharesGpus() ? WithoutProfile() : FindProfile();
    const SizingCase sizing{.written = container.written,
                            .guaranteed = guaranteed,
                            .enforcement = figures.enforcement,
                            .gpus = gpus_,
                            .beside = pod_.beside,
                            .bounds = FindBounds(container, figures.enforcement)};
    const auto share = surroundings_.FairShare(pod_.selection, container.gpus, use.gpu_product);
    const ProfileTrust trust{use.tolerance, settings_.max_speed_up, use.at_least_share,
                             use.at_least_share_of_memory, use.at_least_written};
    // Amounts that never change must fit on any node that may be added later.
    const bool least = pod_.long_unplaced || final_;
    Sizes sizes = share
                      ? Size(sizing, *share, use.profile.get(), trust)
                      : SizeUnplaced(sizing, UnplacedShare(container.gpus, use.gpu_product, least),
                                     use.profile.get(), trust, least);
    if (sizes.placeholder && !final_) {
      const std::string missing = fmt::format(
          "no node that the pod may run on has {} {}{}{}{} that unmanaged pods do not use",
          pod_.SharesGpus() ? container.gpus.slices.count() : gpus_.count(),
          pod_.SharesGpus() ? "slices or turns of " : "", settings_.gpu_resource,
          use.gpu_product.empty() ? "" : " of product ", use.gpu_product);
      Warn(fmt::format("CPU and memory are set later, because {}", missing));
      figures.placeholder = missing;
    }
    for (const std::string& warning : sizes.warnings) Warn(warning);
    const bool held_back = HoldBack(sizing, CertainlyTaken(container), sizes);
    if (held_back && figures.placeholder.empty() && !final_) {
      figures.placeholder =
          "the namespace has a quota, so the amounts above it are requested after the pod is "
          "created";
    }
    const bool may_grow =
        !settings_.within_counted || !FindLabel(pod_.labels, annotations::kKueuePodSet);
    if (!may_grow) KeepWithinCounted(container.written, sizing, sizes);
    figures.fair_share = sizes.fair_share;
    figures.demand = sizes.demand;
    figures.floor = sizes.floor;
    figures.memory_limit = sizes.memory_limit;
    if (use.profile == nullptr && figures.placeholder.empty() && !final_ && may_grow &&
        !pod_.SharesGpus())
      figures.most_cpu = MostCpu(sizing, sizes, use.gpu_product);
    figures.gpu_product = use.gpu_product;
    figures.profile = use.name;
    figures.profile_generation = use.generation;
    figures.hint = use.hint;
    // The profiler does not measure slices, but packs of workloads are measured.
    if (!pod_.SharesGpus() || pod_.may_pack) figures.workload = WorkloadOf(pod_);
    if (!pod_.SharesGpus()) figures.alike = LooserIdentitiesOf(pod_);
    if (pod_.gang_size > 1) figures.spread = FindSpread(use.profile.get());
    figures.progress_file = pod_.progress_file == "true";
    if (!pod_.progress_file.empty() && !figures.progress_file)
      Warn(fmt::format("annotation {}: must be \"true\"", annotations::kProgressFile));
    CheckExpectedDuration();
    return {AdmissionOutcome::kManaged, std::move(figures), std::move(warnings_)};
  }

  // Kueue has counted the requests of the pod's template, and does not count resizes. If the
  // template requests none of a resource, Kueue has not counted it, and the pod gets exactly its
  // floor.
  static void KeepWithinCounted(const WrittenAmounts& written, const SizingCase& sizing,
                                Sizes& sizes) {
    HoldBack(sizing,
             {sizing.gpus, written.cpu_request.value_or(kUnlimited.cpu),
              written.memory_request.value_or(kUnlimited.memory)},
             sizes);
    sizes.demand = sizes.floor;
  }

  // Returns the share on nodes that do not exist yet: the share on existing nodes with the product,
  // whether or not the pod may go there, or the configured share if there are none. With `least`,
  // returns the lesser of the two. Slices of future GPUs count as one GPU.
  ResourceVector UnplacedShare(const GpuAmount& gpus, const std::string& gpu_product,
                               bool least) const {
    const bool shares = pod_.SharesGpus();
    const Gpus whole = shares ? Gpus(1) : gpus.gpus;
    const ResourceVector configured = PartOf(settings_.unplaced_per_gpu, whole, Gpus(1));
    if (gpu_product.empty()) return configured;
    static const NodeSelection anywhere{
        .node_selector = {}, .terms = {}, .tolerations = {{.exists = true}}};
    const auto known =
        surroundings_.FairShare(anywhere, shares ? gpus : GpuAmount(Gpus(1)), gpu_product);
    if (!known) return configured;
    const ResourceVector share = PartOf(*known, whole, Gpus(1));
    return least ? LesserOf(share, configured) : share;
  }

  // Returns the profile's spread cost. Only checks the pod's own label, because the extender reads
  // that label itself.
  SpreadCost FindSpread(const JobProfile* profile) {
    const auto label = FindLabel(pod_.labels, annotations::kTensorSkew);
    if (label && !ParseSpreadCost("tensor-skew=" + std::string(*label)).tensor_skew) {
      Warn(fmt::format("label {}: must be a number from 0 to 1", annotations::kTensorSkew));
    }
    return profile != nullptr ? profile->spread() : SpreadCost{};
  }

  // Returns the most CPU that the pod may get: the largest fair share of 1 to max_speed_up times
  // its GPUs. Ignores multiples that no node has.
  MilliCpu MostCpu(const SizingCase& sizing, const Sizes& sizes,
                   const std::string& gpu_product) const {
    MilliCpu most = sizes.fair_share.cpu;
    for (int64_t times = 2; static_cast<double>(times) <= settings_.max_speed_up; ++times) {
      const auto share = surroundings_.FairShare(pod_.selection, gpus_ * times, gpu_product);
      if (!share) break;
      most = std::max(most, share->cpu - sizing.beside.cpu);
    }
    const MilliCpu allowed =
        std::min(sizing.bounds.most.cpu, sizing.written.cpu_limit.value_or(kUnlimited.cpu));
    return std::max(std::min(most, allowed), sizes.floor.cpu);
  }

  AmountBounds FindBounds(const GpuContainer& container, Enforcement enforcement) const {
    const WrittenAmounts& asks = container.asks;
    // Under strict enforcement, limits and their sums follow the requests.
    const bool strict = enforcement == Enforcement::kStrict;
    return limits_->Bounds(
        pod_.pod_namespace, strict ? LargerOf(pod_.beside, pod_.beside_limits) : pod_.beside,
        {gpus_, asks.cpu_request.value_or(MilliCpu(0)), asks.memory_request.value_or(Bytes(0))});
  }

  // Warns about a bad value, because only the controller reads it.
  void CheckExpectedDuration() {
    if (pod_.expected_duration.empty()) return;
    const Result<Duration> expected = ParseGoDuration(pod_.expected_duration);
    if (expected && *expected > Duration::zero()) return;
    Warn(fmt::format("annotation {}: must be a duration, such as 90m or 1h30m",
                     annotations::kExpectedDuration));
  }

  // Returns the largest amounts that no quota can refuse, provided that the quotas accept the pod
  // as written. The room left in a quota is unknown here, because other pods are created at the
  // same time. A quota may refuse a resize, but it must not refuse the pod.
  ResourceVector CertainlyTaken(const GpuContainer& container) const {
    ResourceVector most = kUnlimited;
    if (pod_.exists) return most;
    if (limits_->HasQuota(pod_.pod_namespace, &ResourceVector::cpu))
      most.cpu = container.asks.cpu_request.value_or(kLeastRequest.cpu);
    if (limits_->HasQuota(pod_.pod_namespace, &ResourceVector::memory))
      most.memory = container.asks.memory_request.value_or(kLeastRequest.memory);
    return most;
  }

  Enforcement FindEnforcement() {
    const auto parse = [this](const std::string& label,
                              std::string_view owner) -> std::optional<Enforcement> {
      if (label.empty()) return std::nullopt;
      const Result<Enforcement> parsed = ParseEnforcement(label);
      if (parsed) return *parsed;
      Warn(fmt::format("label {} of the {}: {}", annotations::kEnforcement, owner,
                       parsed.error().message));
      return std::nullopt;
    };
    const std::string own(FindLabel(pod_.labels, annotations::kEnforcement).value_or(""));
    if (const auto enforcement = parse(own, "pod")) return *enforcement;
    const std::string common =
        surroundings_.NamespaceLabel(pod_.pod_namespace, annotations::kEnforcement);
    return parse(common, "namespace").value_or(settings_.enforcement);
  }

  // The profile for sizing the pod; without a profile, only the GPU product.
  struct ProfileUse {
    std::shared_ptr<const JobProfile> profile;  // for the pod's GPUs
    double tolerance = 0;
    std::string name;  // empty: none
    int64_t generation = 0;
    std::string gpu_product;  // empty: any
    bool at_least_share = false;
    bool at_least_share_of_memory = false;
    bool at_least_written = false;
    std::optional<LooserIdentity> hint;
  };

  // Returns the measurements of the pod's workload, if any; warns if it will not be measured. They
  // never restrict where the pod may go.
  ProfileUse FindMeasured(const std::string& wanted) {
    const MeasuredFound found =
        surroundings_.FindMeasured(pod_.pod_namespace, {WorkloadOf(pod_), LooserIdentitiesOf(pod_)},
                                   gpus_, pod_.gang_size, wanted, pod_.selection);
    if (found.profile != nullptr) {
      ProfileUse use = UseOf(*found.profile);
      use.gpu_product = wanted;
      use.hint = found.by_looser;
      // No measurement has shown yet that this pod needs less than its share.
      if (use.hint) use.at_least_share = use.at_least_share_of_memory = use.at_least_written = true;
      return use;
    }
    if (!settings_.profiling) {
      Warn(
          fmt::format("the label {} names no TrainingProfile, so the pod gets its own requests, "
                      "else its fair share",
                      annotations::kProfile));
    }
    return {.gpu_product = wanted};
  }

  ProfileUse UseOf(const KnownProfile& known) const {
    const ProfileObject& object = known.object;
    return {.profile = ForGpus(object.profile, gpus_),
            .tolerance = known.tolerance,
            .name = object.name,
            .generation = object.PointsGeneration(),
            .gpu_product = object.training.gpu_product,
            .at_least_share = object.IsMeasured() && IsCpuInDoubt(*object.measured),
            .at_least_share_of_memory = object.IsMeasured() && IsMemoryInDoubt(*object.measured),
            .at_least_written = object.IsMeasured() && object.measured->estimate};
  }

  // Profiles describe whole GPUs.
  ProfileUse WithoutProfile() {
    const auto label = FindLabel(pod_.labels, annotations::kProfile);
    if (label && !label->empty()) {
      Warn(fmt::format(
          "TrainingProfile \"{}\" is for whole GPUs, and the pod has slices of GPUs, so "
          "the pod gets its own requests, else its fair share",
          *label));
    }
    return {.gpu_product =
                std::string(FindLabel(pod_.labels, annotations::kGpuProduct).value_or(""))};
  }

  // Returns the profile if it is usable; otherwise warns with the reason.
  ProfileUse FindProfile() {
    const std::string wanted(FindLabel(pod_.labels, annotations::kGpuProduct).value_or(""));
    const auto without = [&](const std::string& why) {
      Warn(why + ", so the pod gets its own requests, else its fair share");
      return ProfileUse{.gpu_product = wanted};
    };
    const auto label = FindLabel(pod_.labels, annotations::kProfile);
    const std::string name =
        label ? std::string(*label)
              : surroundings_.NamespaceLabel(pod_.pod_namespace, annotations::kDefaultProfile);
    // A label without a value requests no profile.
    if (name.empty() && !label) return FindMeasured(wanted);
    if (name.empty()) {
      return without(fmt::format("the label {} names no TrainingProfile", annotations::kProfile));
    }
    const std::shared_ptr<const KnownProfile> known =
        surroundings_.FindProfile(pod_.pod_namespace, name);
    if (known == nullptr)
      return without(fmt::format("there is no TrainingProfile \"{}\" in the namespace", name));
    const ProfileObject& object = known->object;
    if (object.profile == nullptr) {
      return without(object.problems.empty()
                         ? fmt::format("TrainingProfile \"{}\" has not been measured yet", name)
                         : fmt::format("TrainingProfile \"{}\" is invalid: {}", name,
                                       object.problems.front()));
    }
    if (object.profile->gpus() != gpus_ && object.profile->gpus() != Gpus(1)) {
      return without(fmt::format("TrainingProfile \"{}\" is for {}, and the pod has {}", name,
                                 DescribeGpus(object.profile->gpus()), gpus_.count()));
    }
    ProfileUse use = UseOf(*known);
    if (use.profile == nullptr) {
      return without(
          fmt::format("TrainingProfile \"{}\" with {} is too large", name, DescribeGpus(gpus_)));
    }
    const std::string& measured = object.training.gpu_product;
    if (!wanted.empty() && !measured.empty() && wanted != measured) {
      return without(fmt::format("TrainingProfile \"{}\" is for {}, and the pod requests {}", name,
                                 measured, wanted));
    }
    use.gpu_product = measured.empty() ? wanted : measured;
    if (!measured.empty() && wanted.empty() &&
        !surroundings_.FairShare(pod_.selection, gpus_, measured) &&
        surroundings_.FairShare(pod_.selection, gpus_, wanted)) {
      return without(
          fmt::format("TrainingProfile \"{}\" is for {}, which no node has that the pod may run on",
                      name, measured));
    }
    return use;
  }

  const PodToAdmit& pod_;
  const AdmissionSurroundings& surroundings_;
  const AdmissionSettings& settings_;
  const bool final_;
  const std::shared_ptr<const NamespaceLimits> limits_;
  Gpus gpus_;
  std::vector<std::string> warnings_;
};

}  // namespace

std::string_view ToString(AdmissionOutcome outcome) {
  switch (outcome) {
    case AdmissionOutcome::kManaged:
      return "managed";
    case AdmissionOutcome::kNoGpus:
      return "no_gpus";
    case AdmissionOutcome::kOptedOut:
      return "opted_out";
    case AdmissionOutcome::kExcludedNamespace:
      return "excluded_namespace";
    case AdmissionOutcome::kNotAsked:
      return "not_asked";
    case AdmissionOutcome::kInference:
      return "inference";
    case AdmissionOutcome::kOtherScheduler:
      return "other_scheduler";
    case AdmissionOutcome::kHasNode:
      return "has_node";
    case AdmissionOutcome::kStatic:
      return "static";
    case AdmissionOutcome::kPodLevelResources:
      return "pod_level_resources";
    case AdmissionOutcome::kSeveralContainers:
      return "several_containers";
    case AdmissionOutcome::kQuotaByQos:
      return "quota_by_qos";
    case AdmissionOutcome::kStarting:
      return "starting";
    case AdmissionOutcome::kFullAnnotations:
      return "full_annotations";
  }
  return "unknown";
}

bool MayJoinGang(const PodToAdmit& pod, AdmissionOutcome outcome,
                 const AdmissionSettings& settings) {
  if (pod.SharesGpus()) return false;
  switch (outcome) {
    case AdmissionOutcome::kNoGpus:
    case AdmissionOutcome::kExcludedNamespace:
    case AdmissionOutcome::kNotAsked:
    case AdmissionOutcome::kInference:
    case AdmissionOutcome::kOtherScheduler:
    case AdmissionOutcome::kHasNode:
    case AdmissionOutcome::kStatic:
      return false;
    case AdmissionOutcome::kOptedOut:
      return pod.scheduler == settings.scheduler_name;
    // Even if this pod stays as written, other pods of its gang may be managed, and they wait for
    // this one.
    case AdmissionOutcome::kManaged:
    case AdmissionOutcome::kPodLevelResources:
    case AdmissionOutcome::kSeveralContainers:
    case AdmissionOutcome::kQuotaByQos:
    case AdmissionOutcome::kStarting:
    case AdmissionOutcome::kFullAnnotations:
      return true;
  }
  return false;
}

AdmissionDecision Admit(const PodToAdmit& pod, const AdmissionSurroundings& surroundings,
                        const AdmissionSettings& settings) {
  // Kueue deletes such a pod when its containers change.
  const bool final = FindLabel(pod.labels, annotations::kKueuePod) == "true";
  return Admission(pod, surroundings, settings, final).Decide();
}

TemplateRequests SizeTemplate(const PodToAdmit& pod, const AdmissionSurroundings& surroundings,
                              const AdmissionSettings& settings) {
  const AdmissionDecision decision = Admission(pod, surroundings, settings, true).Decide();
  if (!decision.figures) return {};
  const WrittenAmounts& asks = pod.gpu_containers.front().asks;
  const std::shared_ptr<const NamespaceLimits> limits = surroundings.Limits();
  const auto may_write = [&](const auto& written, auto member) {
    return !written && !limits->HasQuota(pod.pod_namespace, member);
  };
  TemplateRequests requests{.container = decision.figures->container};
  if (may_write(asks.cpu_request, &ResourceVector::cpu)) requests.cpu = decision.figures->floor.cpu;
  if (may_write(asks.memory_request, &ResourceVector::memory))
    requests.memory = decision.figures->floor.memory;
  return requests;
}

}  // namespace synergy
