#include "extender/filter_call.h"

#include <algorithm>

#include "allocation/room_under_way.h"
#include "cluster/state/fit.h"

namespace synergy::extender {

std::optional<NodeIndex> CountedOn(const ClusterState& state, const ClusterSnapshot& snapshot,
                                   const std::string& uid) {
  const std::optional<Placement> placement = state.FindPlacement(uid);
  return placement ? CountedAt(snapshot, placement->node, uid) : std::nullopt;
}

OpenNodes::OpenNodes(const AskedNodes& asked, const Pod& pod,
                     const std::optional<PassingTerms>& terms, const ClusterSnapshot& snapshot)
    : asked_(asked), refused_by_(asked.size()) {
  std::optional<PassingCheck> passing;
  if (terms) passing.emplace(snapshot, pod, *terms);
  for (size_t i = 0; i < asked.size(); ++i) {
    const auto index = passing ? snapshot.Find(asked.Name(i)) : std::nullopt;
    if (index) refused_by_[i] = passing->RefusedBy(snapshot.node(*index));
    if (refused_by_[i] == nullptr) open_.push_back(i);
  }
}

std::string_view Reasons::Text(const Candidates::Candidate& node) {
  const bool names_differ = node.failures.Has(FitFailures::kOther) && !node.lacking;
  const Cause cause{node.failures.bits(), node.lacking.value_or(0)};
  if (!names_differ) {
    for (const auto& [known, text] : known_) {
      if (known == cause) return text;
    }
  }
  std::string text = DescribeFailures(node.failures, requests_, node.state, gpu_);
  if (names_differ) {
    const auto same = std::find_if(known_.begin(), known_.end(),
                                   [&text](const auto& entry) { return entry.second == text; });
    if (same != known_.end()) return same->second;
  }
  return known_.emplace_back(cause, std::move(text)).second;
}

void FilterCall::Judge() {
  snapshot_ = state_.Snapshot();
  counted_on_ = CountedOn(state_, *snapshot_, args_.pod.uid);
  Candidates candidates = Look();
  std::optional<PassingCheck> passing;
  if (terms_) passing.emplace(*snapshot_, args_.pod, *terms_);
  fitting_.clear();
  fitting_.reserve(args_.size());
  last_fitting_.reset();
  failed_.clear();
  for (size_t i = 0; i < args_.size(); ++i) {
    const Candidates::Candidate node = candidates.Judge(i);
    if (!node.failures.none()) {
      failed_.push_back({args_.spelled_names[i], reasons_.Text(node),
                         Unresolvable(node.failures, args_.pod.requests, *node.state)});
      continue;
    }
    if (const auto* const by = passing ? passing->RefusedBy(*node.state) : nullptr) {
      // Report the node as unresolvable, so that kube-scheduler does not evict pods there: the
      // evictions might not leave the reserved GPUs free.
      failed_.push_back({args_.spelled_names[i], refusals_.Text(*by), true});
      continue;
    }
    fitting_.push_back(i);
    last_fitting_ = node.index;
  }
}

void FilterCall::Refuse(size_t i, std::string reason) {
  failed_[i].reason = own_reasons_.emplace_back(std::move(reason));
}

std::vector<std::string_view> FilterCall::Answers() const {
  std::vector<std::string_view> answers;
  answers.reserve(fitting_.size());
  for (const size_t i : fitting_) answers.push_back(args_.answers()[i]);
  return answers;
}

std::vector<std::string> FilterCall::FittingNames() const {
  std::vector<std::string> names;
  for (const size_t i : fitting_) names.emplace_back(args_.Name(i));
  return names;
}

bool FilterCall::MayFitSoon() const {
  Candidates candidates = Look();
  for (size_t i = 0; i < args_.size(); ++i) {
    const Candidates::Candidate node = candidates.Judge(i);
    if (!node.failures.none() && synergy::MayFitSoon(args_.pod, *node.state)) return true;
  }
  return false;
}

}  // namespace synergy::extender
