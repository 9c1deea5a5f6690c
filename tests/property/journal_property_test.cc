// Tests that a journal of arbitrary changes of a cluster can be replayed, from memory and from its
// text.

#include <algorithm>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "cluster/state/cluster_journal.h"
#include "cluster/state/cluster_state.h"
#include "property/random_changes.h"
#include "wire/journal/journal.h"

namespace synergy::testing {
namespace {

class LastChange final : public ClusterJournal {
 public:
  void Wrote(const ClusterChange& change) override {
    change_ = change;
    ++count_;
  }
  const ClusterChange& change() const { return change_; }
  int count() const { return count_; }

 private:
  ClusterChange change_;
  int count_ = 0;
};

bool SameNode(const NodeState& a, const NodeState& b) {
  const auto numbers = [](const NodeState& node) {
    const auto& [allocatable, requested, wanted, of_others, loans, pods_allowed, pods, exists,
                 unschedulable, deleting, short_of_memory, suspect_devices, misaligns, by_claim,
                 changed, detail] = node;
    return std::tie(allocatable, requested, wanted, of_others, loans, pods_allowed, pods, exists,
                    unschedulable, deleting, short_of_memory, suspect_devices, misaligns, by_claim,
                    changed);
  };
  const auto descriptions = [](const NodeState& node) {
    const auto& [name, labels, taints, gpu_kinds, allocatable, requested, pods, nominated,
                 misaligned, boot_id] = *node.detail;
    return std::tie(name, labels, taints, gpu_kinds, allocatable, requested, boot_id);
  };
  const auto same_pods = [](const auto& some, const auto& others) {
    return std::equal(some.begin(), some.end(), others.begin(), others.end(),
                      [](const auto& one, const auto& other) { return Same(*one, *other); });
  };
  return numbers(a) == numbers(b) && descriptions(a) == descriptions(b) &&
         same_pods(a.detail->pods, b.detail->pods) &&
         same_pods(a.detail->nominated, b.detail->nominated);
}

void CompareSnapshots(const ClusterSnapshot& a, const ClusterSnapshot& b) {
  RC_ASSERT(a.version() == b.version());
  RC_ASSERT(a.size() == b.size());
  for (NodeIndex place = 0; place < a.size(); ++place) {
    RC_ASSERT(SameNode(a.node(place), b.node(place)));
    const std::string& name = a.node(place).detail->name;
    RC_ASSERT(a.Find(name) == b.Find(name));
  }
  RC_ASSERT(a.largest_node() == b.largest_node());
  RC_ASSERT(a.least_per_gpu() == b.least_per_gpu());
  RC_ASSERT(a.waiting_gpu_pods() == b.waiting_gpu_pods());
  RC_ASSERT(a.disruption_budgets() == b.disruption_budgets());
}

void ComparePods(const ClusterState& a, const ClusterState& b) {
  RC_ASSERT(a.known_pods() == b.known_pods());
  RC_ASSERT(a.assumed_pods() == b.assumed_pods());
  for (int which = 0; which < kChangedPods; ++which) {
    const std::string uid = ChangedPodName(which);
    const auto one = a.FindPod(uid);
    const auto other = b.FindPod(uid);
    RC_ASSERT((one == nullptr) == (other == nullptr));
    if (one) RC_ASSERT(Same(*one, *other));
    const auto here = a.FindPlacement(uid);
    const auto there = b.FindPlacement(uid);
    RC_ASSERT(here.has_value() == there.has_value());
    if (!here) continue;
    RC_ASSERT(here->node == there->node);
    RC_ASSERT(Same(*here->pod, *there->pod));
  }
  const auto late = a.Expired(Instant::max());
  const auto late_too = b.Expired(Instant::max());
  RC_ASSERT(late.size() == late_too.size());
  for (size_t at = 0; at < late.size(); ++at) {
    RC_ASSERT(late[at].deadline == late_too[at].deadline);
    RC_ASSERT(Same(*late[at].pod, *late_too[at].pod));
  }
}

void CompareNews(ClusterState& a, ClusterState& b) {
  const ClusterNews news = a.TakeNews();
  const ClusterNews too = b.TakeNews();
  RC_ASSERT(news.pods.size() == too.pods.size());
  for (size_t at = 0; at < news.pods.size(); ++at) {
    RC_ASSERT(news.pods[at].gone == too.pods[at].gone);
    RC_ASSERT(Same(*news.pods[at].pod, *too.pods[at].pod));
  }
}

// Makes the changes. Makes each of them a second time, in another state, from what `again` returns
// for the journal.
template <class Again>
void GoThroughTwice(const std::vector<ClusterChange>& changes, Again again) {
  ClusterState state;
  ClusterState replayed;
  LastChange journal;
  state.SetJournal(&journal);
  int made = 0;
  for (const ClusterChange& change : changes) {
    // This fails as expected, because these changes have no versions.
    static_cast<void>(state.Apply(change));
    RC_ASSERT(journal.count() == ++made);
    RC_ASSERT(journal.change().call.index() == change.call.index());
    const Result<> applied = replayed.Apply(again(journal.change()));
    if (!applied) RC_FAIL(applied.error().message);
    CompareSnapshots(*state.Snapshot(), *replayed.Snapshot());
    ComparePods(state, replayed);
  }
  CompareNews(state, replayed);
}

RC_GTEST_PROP(JournalProperty, GoneThroughAgainGivesTheSameClusterAtEveryStep,
              (const std::vector<ClusterChange>& changes)) {
  GoThroughTwice(changes, [](const ClusterChange& change) { return change; });
}

RC_GTEST_PROP(JournalProperty, GoneThroughAgainFromItsTextGivesTheSameClusterAtEveryStep,
              (const std::vector<ClusterChange>& changes)) {
  GoThroughTwice(changes, [](const ClusterChange& change) {
    const std::string line = wire::WriteJournalLine(change);
    RC_ASSERT(line.find('\n') == std::string::npos);
    const Result<ClusterChange> read = wire::ReadJournalLine(line);
    if (!read) RC_FAIL(read.error().message + ": " + line);
    RC_ASSERT(wire::WriteJournalLine(*read) == line);
    return *read;
  });
}

// Returns the call, read back from its text.
template <class T>
T Again(const T& call) {
  const Result<ClusterChange> read = wire::ReadJournalLine(wire::WriteJournalLine({call, 1}));
  if (!read) RC_FAIL(read.error().message);
  RC_ASSERT(std::holds_alternative<T>(read->call));
  return std::get<T>(read->call);
}

RC_GTEST_PROP(JournalProperty, TextHasEveryMemberOfAPod, (uint64_t seed)) {
  const Pod pod = AnyPod(seed);
  RC_ASSERT(Same(Again(cluster_change::UpsertPod{pod}).pod, pod));
}

RC_GTEST_PROP(JournalProperty, TextHasEveryMemberOfANode, (uint64_t seed)) {
  const Node node = AnyNode(seed);
  RC_ASSERT(Again(cluster_change::UpsertNode{node}).node == node);
}

RC_GTEST_PROP(JournalProperty, TextHasEveryMemberOfADisruptionBudget, (uint64_t seed)) {
  const DisruptionBudget budget = AnyDisruptionBudget(seed);
  RC_ASSERT(Again(cluster_change::UpsertDisruptionBudget{budget}).budget == budget);
}

RC_GTEST_PROP(JournalProperty, TextHasEveryMemberOfANamespacesLimits, (uint64_t seed)) {
  const LimitRange range = AnyLimitRange(seed);
  RC_ASSERT(Again(cluster_change::UpsertLimitRange{range}).range == range);
  const ResourceQuota quota = AnyResourceQuota(seed);
  RC_ASSERT(Again(cluster_change::UpsertResourceQuota{quota}).quota == quota);
}

}  // namespace
}  // namespace synergy::testing
