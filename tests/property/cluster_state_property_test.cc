// Tests ClusterState against ClusterModel: after any operations in any order both are equal, and no
// earlier snapshot ever changes. A list of all pods is read in steps, with operations in between.

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "cluster/state/cluster_state.h"
#include "cluster/state/pod_list.h"
#include "property/cluster_model.h"
#include "property/cluster_operation.h"
#include "property/cluster_photo.h"
#include "support/recorded_changes.h"

namespace synergy::testing {
namespace {

// Returns the pods of the operations, some of them bound, some with a kept place. The last one of
// each name counts.
std::vector<Pod> PodsOf(const std::vector<Operation>& listed) {
  std::map<std::string, Pod> pods;
  for (const Operation& each : listed) {
    Pod pod = each.kind % 4 == 0 ? each.MakeKeptPod(each.pod) : each.MakePod(each.pod);
    if (each.kind % 4 > 1) pod.node = each.NodeName();
    pod.terminal = each.kind == Operation::kWatchTerminal;
    pods[pod.uid] = std::move(pod);
  }
  std::vector<Pod> all;
  for (auto& [uid, pod] : pods) all.push_back(std::move(pod));
  return all;
}

// A watch continues only after its list has been read.
bool IsNewsOfPods(const Operation& operation) {
  switch (operation.kind) {
    case Operation::kWatchWaiting:
    case Operation::kWatchKept:
    case Operation::kWatchBound:
    case Operation::kWatchTerminal:
    case Operation::kRemovePod:
    case Operation::kReplacePods:
      return true;
    default:
      return false;
  }
}

class Pair {
 public:
  Pair() { state_.SetJournal(&journal_); }

  ClusterState& state() { return state_; }

  // Makes a step of a list, and the same change in the model.
  bool Step(PodList& list) {
    journal_.all.clear();
    const bool more = list.Step();
    for (const ClusterChange& change : std::exchange(journal_.all, {})) {
      if (const auto* put = std::get_if<cluster_change::PutListedPods>(&change.call)) {
        for (const Pod& pod : put->pods) model_.List(pod);
      } else {
        model_.DropPod(std::get<cluster_change::RemovePod>(change.call).uid);
      }
    }
    return more;
  }

  // Checks that every listed pod is known, and that the watch has seen no other known pod.
  void CompareWithList(const std::vector<Pod>& pods) {
    std::set<std::string> uids;
    for (const Pod& pod : pods) uids.insert(pod.uid);
    model_.KeepPods(uids);
    for (const Pod& pod : pods) RC_ASSERT(pod.terminal || state_.FindPod(pod.uid) != nullptr);
    Compare();
  }

  void Apply(const Operation& operation) {
    switch (operation.kind) {
      case Operation::kUpsertNode:
        state_.UpsertNode(operation.MakeNode(operation.node));
        model_.PutNode(operation.MakeNode(operation.node));
        break;
      case Operation::kRemoveNode:
        state_.RemoveNode(operation.NodeName());
        model_.DropNode(operation.NodeName());
        break;
      case Operation::kReplaceNodes:
        ReplaceNodes(operation);
        break;
      case Operation::kWatchWaiting:
        Watch(operation.MakePod(operation.pod));
        break;
      case Operation::kWatchKept:
        Watch(operation.MakeKeptPod(operation.pod));
        break;
      case Operation::kWatchBound: {
        Pod pod = operation.MakePod(operation.pod);
        pod.node = operation.NodeName();
        Watch(pod);
        break;
      }
      case Operation::kWatchTerminal: {
        Pod pod = operation.MakePod(operation.pod);
        pod.terminal = true;
        Watch(pod);
        break;
      }
      case Operation::kRemovePod:
        state_.RemovePod(operation.PodName());
        model_.DropPod(operation.PodName());
        break;
      case Operation::kReplacePods:
        ReplacePods(operation);
        break;
      case Operation::kExpect:
        Expect(operation);
        break;
      case Operation::kAssume: {
        const Pod pod = operation.MakePod(operation.pod);
        const bool assumed = state_.Assume(pod, operation.NodeName(), operation.Time()).assumed;
        RC_ASSERT(assumed == model_.Assume(pod, operation.NodeName(), operation.Time()));
        break;
      }
      case Operation::kForget:
        state_.Forget(operation.PodName());
        model_.Forget(operation.PodName());
        break;
      case Operation::kExtend:
        state_.Extend(operation.PodName(), operation.Time());
        model_.Extend(operation.PodName(), operation.Time());
        break;
      case Operation::kDropStaleExpectations:
        state_.DropStaleExpectations(operation.Time(), operation.Date());
        model_.DropStaleExpectations(operation.Time(), operation.Date());
        break;
      case Operation::kSettleExpired:
        SettleExpired(operation.Time());
        break;
      default:
        RC_FAIL("an operation that no function carries out");
    }
  }

  void Compare() {
    const auto snapshot = state_.Snapshot();
    const ClusterPhoto photo = PhotoOf(*snapshot);
    RC_ASSERT(photo == model_.Photo());
    RC_ASSERT(state_.assumed_pods() == model_.assumed_pods());
    RC_ASSERT(state_.known_pods() == model_.known_pods());
    for (int pod = 0; pod < kPodNames; ++pod) {
      const std::string uid = "p" + std::to_string(pod);
      const auto placement = state_.FindPlacement(uid);
      const auto placed_on = model_.PlacedOn(uid);
      RC_ASSERT(placement.has_value() == placed_on.has_value());
      if (placement) RC_ASSERT(snapshot->node(placement->node).detail->name == *placed_on);
    }
    for (int node = 0; node < kNodeNames; ++node) {
      const std::string name = "n" + std::to_string(node);
      RC_ASSERT(snapshot->Find(name).has_value() == photo.nodes.contains(name));
    }
    album_.emplace_back(snapshot, photo);
  }

  void CompareAlbum() const {
    for (const auto& [snapshot, photo] : album_) RC_ASSERT(PhotoOf(*snapshot) == photo);
  }

 private:
  void Watch(const Pod& pod) {
    state_.UpsertPod(pod);
    model_.Watch(pod);
  }

  void ReplaceNodes(const Operation& operation) {
    std::vector<Node> nodes;
    std::set<std::string> names;
    for (int i = 0; i < kNodeNames; ++i) {
      if (!operation.Listed(i)) continue;
      nodes.push_back(operation.MakeNode(i));
      names.insert(nodes.back().name);
    }
    model_.KeepNodes(names);
    for (const Node& node : nodes) model_.PutNode(node);
    state_.ReplaceNodes(nodes);
  }

  void ReplacePods(const Operation& operation) {
    std::vector<Pod> pods;
    std::set<std::string> uids;
    for (int i = 0; i < kPodNames; ++i) {
      if (!operation.Listed(i)) continue;
      pods.push_back(operation.MakePod(i));
      if (operation.Bound(i)) pods.back().node = operation.ListedNode(i);
      uids.insert(pods.back().uid);
    }
    model_.KeepPods(uids);
    for (const Pod& pod : pods) model_.List(pod);
    state_.ReplacePods(pods);
  }

  void Expect(const Operation& operation) {
    const auto place = state_.Snapshot()->Find(operation.NodeName());
    if (!place) return;
    const Pod pod = operation.MakePod(operation.pod);
    state_.Expect(pod, *place, operation.Time());
    model_.Expect(pod, operation.NodeName(), operation.Time());
  }

  void SettleExpired(Instant now) {
    std::set<std::string> expired;
    for (const AssumedPod& assumed : state_.Expired(now)) expired.insert(assumed.pod->uid);
    RC_ASSERT(expired == model_.Expired(now));
    for (const std::string& uid : expired) {
      state_.Forget(uid);
      model_.Forget(uid);
    }
  }

  RecordedChanges journal_;  // changes by the steps of a list
  ClusterState state_;
  ClusterModel model_;
  std::vector<std::pair<std::shared_ptr<const ClusterSnapshot>, ClusterPhoto>> album_;
};

RC_GTEST_PROP(ClusterStateProperty, EqualsTheModelAfterAnyChange,
              (const std::vector<Operation>& operations)) {
  Pair pair;
  for (const Operation& operation : operations) {
    pair.Apply(operation);
    pair.Compare();
  }
  pair.CompareAlbum();
}

RC_GTEST_PROP(ClusterStateProperty, EqualsTheModelWithoutSnapshotsInBetween,
              (const std::vector<Operation>& operations)) {
  // Without snapshots in between, nothing is copied before it is written.
  Pair pair;
  for (const Operation& operation : operations) pair.Apply(operation);
  pair.Compare();
}

RC_GTEST_PROP(ClusterStateProperty, EqualsTheModelWithChangesBetweenTheStepsOfAList,
              (const std::vector<Operation>& before, const std::vector<Operation>& listed,
               const std::vector<Operation>& between)) {
  Pair pair;
  for (const Operation& operation : before) pair.Apply(operation);
  const std::vector<Pod> pods = PodsOf(listed);
  PodList list(pair.state(), pods, 1);
  auto next = between.begin();
  while (pair.Step(list)) {
    pair.Compare();
    if (next == between.end()) continue;
    if (!IsNewsOfPods(*next)) pair.Apply(*next);
    pair.Compare();
    ++next;
  }
  pair.CompareWithList(pods);
}

RC_GTEST_PROP(ClusterStateProperty, NoStepOfAListShowsLessInUseThanBeforeAndAfter,
              (const std::vector<Operation>& before, const std::vector<Operation>& listed)) {
  Pair pair;
  for (const Operation& operation : before) pair.Apply(operation);
  ClusterState& state = pair.state();
  std::vector<Pod> pods = PodsOf(listed);
  // A pod does not change while it is being placed.
  for (Pod& pod : pods) {
    const auto placement = state.FindPlacement(pod.uid);
    if (placement && pod.node.empty()) pod.requests = placement->pod->requests;
  }
  std::vector<ClusterPhoto> photos{PhotoOf(*state.Snapshot())};
  PodList list(state, pods, 1);
  while (list.Step()) photos.push_back(PhotoOf(*state.Snapshot()));
  photos.push_back(PhotoOf(*state.Snapshot()));
  for (ClusterPhoto& photo : photos) {
    for (int node = 0; node < kNodeNames; ++node) {
      const std::string name = "n" + std::to_string(node);
      const NodePhoto& seen = photo.nodes[name];
      const NodePhoto& old = photos.front().nodes[name];
      const NodePhoto& now = photos.back().nodes[name];
      ResourceVector::ForEach([&](auto member) {
        const auto least = std::min(old.requested.*member, now.requested.*member);
        RC_ASSERT((seen.requested.*member) >= least);
      });
      RC_ASSERT(seen.cards_taken >= std::min(old.cards_taken, now.cards_taken));
      RC_ASSERT(seen.pods.size() >= std::min(old.pods.size(), now.pods.size()));
    }
  }
}

}  // namespace
}  // namespace synergy::testing
