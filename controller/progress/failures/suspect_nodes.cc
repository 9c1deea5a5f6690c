#include "controller/progress/failures/suspect_nodes.h"

#include <algorithm>
#include <array>
#include <optional>
#include <ranges>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "failure/rules.h"

namespace synergy::controller {
namespace {

// Reasons and conditions that Kubernetes sets on the pods of a broken node.
constexpr std::array<std::string_view, 2> kNodeReasons = {"NodeLost", "NodeNotReady"};
constexpr std::string_view kNodeCondition = "DisruptionTarget/DeletionByTaintManager";

enum class Proof { kNone, kClaimed, kProven };

// Returns whether the failure proves a fault of its node, or only claims one.
Proof ProofOf(const FailureRecord& record, Category category) {
  if (CauseNamed(record.cause) != Cause::kInfrastructure) return Proof::kNone;
  const auto is_it = [&record](const CodeRule& rule) { return rule.name == record.rule; };
  switch (category) {
    case Category::kStorage:
    case Category::kCudaInit:
    case Category::kGpuMemoryFault:
    case Category::kGpuLost:
    case Category::kNvlink:
      // A tenant's command may be part of the reason why a container could not be started.
      return std::ranges::any_of(XidRules(), is_it) ? Proof::kProven : Proof::kClaimed;
    case Category::kEvicted:
      if (LogRuleNamed(record.rule) != nullptr) return Proof::kNone;
      // The kubelet reports this reason for broken devices, but also for a pod whose author has
      // named the node and requests more GPUs than are free.
      if (record.reason == "UnexpectedAdmissionError") return Proof::kClaimed;
      return std::ranges::find(kNodeReasons, record.reason) != kNodeReasons.end() ||
                     record.evidence.starts_with(kNodeCondition)
                 ? Proof::kProven
                 : Proof::kNone;
    default:
      return Proof::kNone;
  }
}

// Faults of one node, by the namespaces whose jobs encountered them.
using Faults = std::map<std::string_view, std::set<Category>>;
struct NodeFaults {
  Faults proven;
  Faults claimed;
};

std::string DescribeSuspect(const SuspectNode& suspect) {
  std::string categories;
  for (const Category category : suspect.categories) {
    const CategoryEntry& entry = EntryOf(category);
    categories +=
        fmt::format("{}{} ({})", categories.empty() ? "" : ", ", entry.name, entry.meaning);
  }
  return fmt::format(
      "Jobs of {} namespaces failed here within an hour for reasons that may be the node's: {}{}. "
      "Synergy still places pods here: cordon the node if it is faulty",
      suspect.namespaces, categories,
      suspect.proven ? "" : "; the only evidence is logs, which tenants write");
}

}  // namespace

std::vector<SuspectNode> FindSuspectNodes(const std::map<std::string, FailureHistory>& histories,
                                          WallTime now) {
  std::map<std::string_view, NodeFaults> nodes;
  for (const auto& [name, history] : histories) {
    for (const FailureRecord& record : std::views::reverse(history.records)) {
      if (record.at <= now - kSuspectFor) break;
      const std::optional<Category> category = CategoryNamed(record.category);
      if (!category || record.node.empty()) continue;
      const Proof proof = ProofOf(record, *category);
      if (proof == Proof::kNone) continue;
      NodeFaults& faults = nodes[record.node];
      (proof == Proof::kProven ? faults.proven : faults.claimed)[name].insert(*category);
    }
  }
  std::vector<SuspectNode> suspects;
  for (auto& [node, faults] : nodes) {
    SuspectNode suspect{.node = std::string(node), .proven = !faults.proven.empty()};
    Faults counted = std::move(faults.proven);
    if (faults.claimed.size() >= kNamespacesToSuspect) {
      for (const auto& [name, categories] : faults.claimed)
        counted[name].insert(categories.begin(), categories.end());
    }
    suspect.namespaces = counted.size();
    if (suspect.namespaces < kNamespacesToSuspect) continue;
    for (const auto& [name, categories] : counted)
      suspect.categories.insert(categories.begin(), categories.end());
    suspects.push_back(std::move(suspect));
  }
  return suspects;
}

void SuspectNodes::Look(const std::map<std::string, FailureHistory>& histories,
                        const ClusterSnapshot& cluster, WallTime now) {
  std::map<std::string, std::set<Category>> reported;
  for (const SuspectNode& suspect : FindSuspectNodes(histories, now)) {
    if (!cluster.Find(suspect.node)) continue;
    std::set<Category>& known = reported[suspect.node];
    known = reported_[suspect.node];
    if (std::ranges::includes(known, suspect.categories)) continue;
    known.insert(suspect.categories.begin(), suspect.categories.end());
    events_.Record(
        kube::AboutNode(suspect.node, "Warning", "SynergyNodeSuspect", DescribeSuspect(suspect)));
  }
  reported_ = std::move(reported);
  metrics_.SetSuspectNodes(reported_.size());
}

void SuspectNodes::StartOver() {
  reported_.clear();
  metrics_.SetSuspectNodes(0);
}

}  // namespace synergy::controller
