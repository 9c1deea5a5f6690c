#include "admission/admission.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cluster/annotations.h"

namespace synergy::admission {
namespace {

constexpr std::string_view kDefaultScheduler = "default-scheduler";
// Kubernetes refuses a pod whose annotations exceed 256 KiB, and ours must not be what does it.
constexpr size_t kMostAnnotationBytes = (size_t{256} << 10) - (size_t{16} << 10);

std::optional<std::string> FindLabel(const Labels& labels, std::string_view key) {
  const auto it = std::find_if(labels.begin(), labels.end(),
                               [key](const auto& label) { return label.first == key; });
  if (it == labels.end()) return std::nullopt;
  return it->second;
}

bool Contains(const std::vector<std::string>& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// Why the pod is none of our business, if it is none.
std::optional<Outcome> WhyNot(const PodFacts& pod, const Settings& settings) {
  if (pod.gpu_containers.empty()) return Outcome::kNoGpus;
  if (Contains(settings.excluded_namespaces, pod.pod_namespace)) return Outcome::kExcludedNamespace;
  if (FindLabel(pod.labels, annotations::kFungible) == "false") return Outcome::kOptedOut;
  if (pod.mirror) return Outcome::kStatic;
  if (pod.has_node) return Outcome::kHasNode;
  const std::string_view scheduler = pod.scheduler.empty() ? kDefaultScheduler : pod.scheduler;
  if (scheduler != settings.scheduler_name && !Contains(settings.managed_schedulers, scheduler))
    return Outcome::kOtherScheduler;
  return std::nullopt;
}

class Admission {
 public:
  Admission(const PodFacts& pod, const Surroundings& surroundings, const Settings& settings)
      : pod_(pod), surroundings_(surroundings), settings_(settings) {}

  Decision Decide() {
    if (const std::optional<Outcome> outcome = WhyNot(pod_, settings_)) return Leave(*outcome);
    if (pod_.pod_level_resources) {
      return Leave(Outcome::kPodLevelResources,
                   "the pod's CPU and memory stay as written, because spec.resources is set");
    }
    if (pod_.gpu_containers.size() > 1) {
      return Leave(Outcome::kSeveralContainers,
                   fmt::format("CPU and memory stay as written, because {} containers ask for {}",
                               pod_.gpu_containers.size(), settings_.gpu_resource));
    }
    if (pod_.annotation_bytes > kMostAnnotationBytes) {
      return Leave(Outcome::kFullAnnotations,
                   "CPU and memory stay as written, because the annotations leave no room");
    }
    if (!surroundings_.Complete()) {
      return Leave(Outcome::kStarting,
                   "CPU and memory stay as written, because the controller is still starting");
    }
    return Manage(pod_.gpu_containers.front());
  }

 private:
  Decision Leave(Outcome outcome, const std::string& warning = {}) {
    if (!warning.empty()) Warn(warning);
    return {outcome, std::nullopt, std::move(warnings_)};
  }

  void Warn(const std::string& text) { warnings_.push_back("synergy: " + text); }

  Decision Manage(const GpuContainer& container) {
    gpus_ = container.gpus;
    Figures figures;
    figures.container = container.index;
    figures.container_name = container.name;
    figures.enforcement = FindEnforcement();
    const std::optional<Demand> demand = FindDemand();
    const std::optional<ResourceVector> fair_share =
        demand ? demand->fair_share
               : surroundings_.FairShare(pod_.selection, gpus_, WantedProduct());
    if (!fair_share) {
      return Leave(Outcome::kNoNode,
                   fmt::format("CPU and memory stay as written, because no node that the pod may "
                               "go to has {} {}{}{}",
                               gpus_.count(), settings_.gpu_resource,
                               WantedProduct().empty() ? "" : " of product ", WantedProduct()));
    }
    figures.fair_share = *fair_share;
    figures.demand = demand ? demand->amounts : *fair_share;
    figures.gpu_product = WantedProduct();
    if (demand) {
      figures.gpu_product = demand->gpu_product;
      figures.profile = demand->profile;
      figures.profile_generation = demand->generation;
    }
    if (figures.enforcement == Enforcement::kShared && container.cpu_limit) {
      // The request stays below the limit, or a resize would make the pod Guaranteed, which the API
      // server refuses.
      const MilliCpu most = std::max(*container.cpu_limit - MilliCpu(1), MilliCpu(0));
      figures.demand.cpu = std::min(figures.demand.cpu, most);
    }
    figures.floor = LesserOf(figures.demand, figures.fair_share);
    return {Outcome::kManaged, std::move(figures), std::move(warnings_)};
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
    const std::string own = FindLabel(pod_.labels, annotations::kEnforcement).value_or("");
    if (const auto enforcement = parse(own, "pod")) return *enforcement;
    const std::string common =
        surroundings_.NamespaceLabel(pod_.pod_namespace, annotations::kEnforcement);
    return parse(common, "namespace").value_or(settings_.enforcement);
  }

  struct Demand {
    std::string profile;
    int64_t generation = 0;
    ResourceVector amounts;
    ResourceVector fair_share;  // of the nodes that the profile is for
    std::string gpu_product;    // empty: any
  };

  // By the profile, if there is one that can be used; a warning says why not.
  std::optional<Demand> FindDemand() {
    std::optional<std::string> label = FindLabel(pod_.labels, annotations::kProfile);
    const std::string name =
        label ? *label
              : surroundings_.NamespaceLabel(pod_.pod_namespace, annotations::kDefaultProfile);
    if (name.empty()) {
      Warn(
          fmt::format("no TrainingProfile is named by the label {}, so the pod gets its fair share",
                      annotations::kProfile));
      return std::nullopt;
    }
    const std::shared_ptr<const KnownProfile> known =
        surroundings_.FindProfile(pod_.pod_namespace, name);
    if (known == nullptr) {
      return Without(fmt::format("there is no TrainingProfile \"{}\" in the namespace", name));
    }
    const ProfileObject& object = known->object;
    if (object.profile == nullptr) {
      return Without(fmt::format("TrainingProfile \"{}\" is not valid: {}", name,
                                 object.problems.empty() ? "" : object.problems.front()));
    }
    Demand demand{name, object.generation, {}, {}, {}};
    if (object.profile->gpus() == gpus_) {
      demand.amounts = known->demand;
    } else if (object.profile->gpus() == Gpus(1)) {
      const Result<JobProfile> scaled = Scaled(*object.profile, gpus_);
      if (!scaled) {
        return Without(fmt::format("TrainingProfile \"{}\": {}", name, scaled.error().message));
      }
      demand.amounts = scaled->Demand(known->tolerance);
    } else {
      return Without(fmt::format("TrainingProfile \"{}\" is for {} GPUs, and the pod has {}", name,
                                 object.profile->gpus().count(), gpus_.count()));
    }
    const std::string wanted = WantedProduct();
    const std::string& measured = object.training.gpu_product;
    if (!wanted.empty() && !measured.empty() && wanted != measured) {
      return Without(fmt::format("TrainingProfile \"{}\" is for {}, and the pod asks for {}", name,
                                 measured, wanted));
    }
    const std::string& product = measured.empty() ? wanted : measured;
    const auto fair_share = surroundings_.FairShare(pod_.selection, gpus_, product);
    if (!fair_share) {
      // Without any node at all there is something else to say.
      if (measured.empty()) return std::nullopt;
      return Without(
          fmt::format("TrainingProfile \"{}\" is for {}, which no node has that the pod "
                      "may go to",
                      name, product));
    }
    demand.fair_share = *fair_share;
    demand.gpu_product = product;
    demand.amounts.gpus = gpus_;
    return demand;
  }

  // What the pod's own label asks for; empty: any.
  std::string WantedProduct() const {
    return FindLabel(pod_.labels, annotations::kGpuProduct).value_or("");
  }

  std::optional<Demand> Without(const std::string& why) {
    Warn(why + ", so the pod gets its fair share");
    return std::nullopt;
  }

  const PodFacts& pod_;
  const Surroundings& surroundings_;
  const Settings& settings_;
  Gpus gpus_;
  std::vector<std::string> warnings_;
};

}  // namespace

std::string_view ToString(Outcome outcome) {
  switch (outcome) {
    case Outcome::kManaged:
      return "managed";
    case Outcome::kNoGpus:
      return "no_gpus";
    case Outcome::kOptedOut:
      return "opted_out";
    case Outcome::kExcludedNamespace:
      return "excluded_namespace";
    case Outcome::kOtherScheduler:
      return "other_scheduler";
    case Outcome::kHasNode:
      return "has_node";
    case Outcome::kStatic:
      return "static";
    case Outcome::kPodLevelResources:
      return "pod_level_resources";
    case Outcome::kSeveralContainers:
      return "several_containers";
    case Outcome::kNoNode:
      return "no_node";
    case Outcome::kStarting:
      return "starting";
    case Outcome::kFullAnnotations:
      return "full_annotations";
  }
  return "unknown";
}

Decision Decide(const PodFacts& pod, const Surroundings& surroundings, const Settings& settings) {
  return Admission(pod, surroundings, settings).Decide();
}

}  // namespace synergy::admission
