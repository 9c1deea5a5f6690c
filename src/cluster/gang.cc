#include "cluster/gang.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include "cluster/annotations.h"
#include "cluster/gang_name.h"

namespace synergy {
namespace {

constexpr std::string_view kKueueGroup = "kueue.x-k8s.io/pod-group-name";         // label
constexpr std::string_view kKueueCount = "kueue.x-k8s.io/pod-group-total-count";  // annotation

constexpr std::string_view kFastAdmission = "kueue.x-k8s.io/pod-group-fast-admission";
constexpr std::string_view kJobSet = "jobset.sigs.k8s.io/jobset-name";    // label
constexpr std::string_view kJobSetUid = "jobset.sigs.k8s.io/jobset-uid";  // label
// Annotations that give each Job its own domain of nodes: the domain of its first pod's node, or
// one that node labels predefine.
constexpr std::string_view kExclusive = "alpha.jobset.sigs.k8s.io/exclusive-topology";
constexpr std::string_view kByNodeSelector = "alpha.jobset.sigs.k8s.io/node-selector";
constexpr std::string_view kSet = "leaderworkerset.sigs.k8s.io/name";  // label
// Annotation that gives each group the domain of nodes that its leader is in.
constexpr std::string_view kExclusiveSet = "leaderworkerset.sigs.k8s.io/exclusive-topology";

// Labels that define which pods belong together, in order of preference.
struct NamingLabel {
  std::string_view whole;
  std::string_view part;  // label of a part that starts by itself; empty: there are no parts
  std::string_view kind;  // of the named object; empty: the name applies to all kinds
};
constexpr std::string_view kTrainingOperator = "training.kubeflow.org/operator-name";  // label
constexpr std::array<NamingLabel, 8> kNames = {
    {{annotations::kGang, "", ""},
     {"scheduling.x-k8s.io/pod-group", "", "podgroup"},
     {kKueueGroup, "", "kueue"},
     {kJobSet, "jobset.sigs.k8s.io/replicatedjob-name", "jobset"},
     {"training.kubeflow.org/job-name", "", "training"},
     {"ray.io/cluster", "ray.io/group", "ray"},
     {kSet, "leaderworkerset.sigs.k8s.io/group-index", "lws"},
     {"batch.kubernetes.io/job-name", "", "job"}}};

// Returns, for example, "pytorchjob" for "pytorchjob-controller", because jobs of two kinds may
// have the same name.
std::string_view KindOf(const NamingLabel& naming, const TextOfKey& label) {
  if (naming.whole != "training.kubeflow.org/job-name") return naming.kind;
  const std::string_view made_by = label(kTrainingOperator);
  return made_by.empty() ? naming.kind : made_by.substr(0, made_by.find('-'));
}

// Shortens the value of a label or an annotation for messages.
std::string Shown(std::string_view text) {
  constexpr size_t kMost = 40;
  return '"' + std::string(text.substr(0, kMost)) + (text.size() > kMost ? "..." : "") + '"';
}

std::optional<int32_t> ParseSize(std::string_view text) {
  int32_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (size < 1 || size > kMostGangMembers) return std::nullopt;
  return size;
}

// Returns a cost that makes the gang wait for this tier, and for no closer one.
SpreadCost WithinOf(std::string_view tier) {
  if (tier == "node") return {.nodes = 0.1, .racks = 0.01, .tensor_skew = {}};
  if (tier == "rack") return {.nodes = 1, .racks = 0.01, .tensor_skew = {}};
  return {};
}

}  // namespace

std::string GangNameOf(std::string_view pod_namespace, const TextOfKey& label) {
  for (const NamingLabel& naming : kNames) {
    const std::string_view name = label(naming.whole);
    if (name.empty()) continue;
    std::string full(pod_namespace);
    full += '/';
    if (const std::string_view kind = KindOf(naming, label); !kind.empty()) {
      full += kind;
      full += '/';
    }
    full += name;
    const std::string_view stage = naming.part.empty() ? std::string_view() : label(naming.part);
    if (!stage.empty()) {
      full += '/';
      full += stage;
    }
    return full;
  }
  return {};
}

std::string_view GangLabelOf(const TextOfKey& label) {
  const auto* const found = std::find_if(
      kNames.begin(), kNames.end(), [&](const auto& name) { return !label(name.whole).empty(); });
  return found == kNames.end() ? std::string_view() : found->whole;
}

std::string WhyNoGang(const TextOfKey& label, const TextOfKey& annotation) {
  if (!label(kJobSet).empty() && !annotation(kExclusive).empty() &&
      annotation(kByNodeSelector).empty()) {
    return "JobSet creates the pods of a Job only when its first one has a node (" +
           std::string(kExclusive) + ')';
  }
  if (!label(kSet).empty() && !annotation(kExclusiveSet).empty()) {
    return "LeaderWorkerSet creates the workers of a group only when its leader has a node (" +
           std::string(kExclusiveSet) + ')';
  }
  const bool has_own_gang =
      !label(annotations::kGang).empty() || !label(annotations::kGangSize).empty();
  if (!has_own_gang && !label(kKueueGroup).empty() && annotation(kFastAdmission) == "true") {
    return "Kueue admits its group before all of its pods exist (" + std::string(kFastAdmission) +
           ')';
  }
  return {};
}

std::shared_ptr<const Gang> RecogniseGang(std::string_view pod_namespace, const TextOfKey& label,
                                          const TextOfKey& annotation,
                                          std::string_view controller) {
  if (!WhyNoGang(label, annotation).empty()) return nullptr;
  std::string_view key = annotations::kGangSize;
  std::string_view size = label(key);
  const bool is_ours = !size.empty() || !label(annotations::kGang).empty();
  if (size.empty() && !is_ours && !label(kKueueGroup).empty()) {
    key = kKueueCount;
    size = annotation(key);
  }
  if (size.empty() && !is_ours) return nullptr;

  Gang gang{.name = GangNameOf(pod_namespace, label)};
  if (size.empty()) {
    gang.problem = "the label synergy.io/gang needs the label synergy.io/gang-size";
  } else if (const auto members = ParseSize(size); !members) {
    gang.problem = std::string(key) + " is " + Shown(size) + ", but must be a number from 1 to " +
                   std::to_string(kMostGangMembers);
  } else if (gang.name.empty()) {
    gang.problem =
        "the label synergy.io/gang-size needs the label synergy.io/gang with the gang's name";
  } else if (*members == 1) {
    return nullptr;
  } else {
    gang.size = *members;
  }
  gang.spread = WithinOf(label(kGangWithinLabel));
  if (gang.spread == SpreadCost{})
    gang.spread = ParseSpreadCost(annotation(annotations::kSpreadCost));
  if (gang.spread == SpreadCost{}) {
    // Admission wrote nothing: it was down, or has no profile for the pod.
    gang.spread = ParseSpreadCost("tensor-skew=" + std::string(label(annotations::kTensorSkew)));
  }
  // The Jobs of a JobSet control its pods, and a gang may have pods of several of them.
  gang.run = label(kJobSetUid);
  if (gang.run.empty()) gang.run = controller;
  return std::make_shared<const Gang>(std::move(gang));
}

}  // namespace synergy
