// Tests pods with slices of GPUs beside pods with whole ones: fair shares, places and the ledger.

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "allocation/best_fit.h"
#include "allocation/fair_share.h"
#include "cluster/state/cluster_state.h"
#include "cluster/state/fit.h"
#include "support/cluster_vocabulary.h"
#include "support/place_one.h"

namespace synergy::testing {
namespace {

using rc::gen::inRange;

// The amounts are odd, so that shares have to be rounded.
ResourceVector RandomAmounts(int64_t gpus) {
  return {Gpus(gpus), MilliCpu(*inRange<int64_t>(1000, 100'000)),
          Bytes(*inRange<int64_t>(1 << 30, int64_t{1} << 40))};
}

// Makes a node with whole GPUs, with shared ones, or with both.
Node SharingNode(const std::string& name) {
  const auto whole = *rc::gen::element<int64_t>(0, 0, 0, 1, 8);
  const auto shared = *inRange<int64_t>(0, 9);
  const auto per_gpu = *inRange<int64_t>(2, 17);
  if (shared == 0) return MakeNode(name, RandomAmounts(whole));
  return MakeSharedNode(name, shared, per_gpu, RandomAmounts(whole));
}

Pod RandomSharer(const std::string& name) {
  Pod pod = *inRange(0, 3) == 0
                ? MakeGpuPod(name, *inRange<int64_t>(1, 3))
                : MakeSlicePod(name, *inRange<int64_t>(1, 5), MilliCpu(*inRange(0, 4000)));
  return *inRange(0, 2) == 0 ? SizedByUs(std::move(pod)) : pod;
}

GpuAmount AmountOf(const Pod& pod) { return {pod.requests.main.gpus, pod.slices}; }

// Returns whether the node's pods have no more than it offers.
bool IsWithin(const NodeState& node) {
  return node.requested.FitsWithin(node.allocatable) &&
         SlicesTaken(node) <= node.detail->gpu_kinds.slices;
}

RC_GTEST_PROP(SlicesProperty, TheSharesOfAllPartsOfANodeFitItTogether, ()) {
  ClusterState state;
  state.UpsertNode(SharingNode("n"));
  const auto others = *inRange(0, 4);
  for (int i = 0; i < others; ++i) {
    Pod pod = RandomSharer("other " + std::to_string(i));
    pod.fungible.reset();
    pod.node = "n";
    if (CheckFit(pod, NodeOf(*state.Snapshot(), "n")).none()) state.UpsertPod(std::move(pod));
  }
  const auto snapshot = state.Snapshot();
  const NodeState& node = NodeOf(*snapshot, "n");
  int64_t gpus = (node.allocatable.gpus - node.of_others.gpus).count();
  int64_t slices = (node.detail->gpu_kinds.slices - SlicesOfOthers(node)).count();
  ResourceVector given = node.of_others;
  while (gpus + slices > 0) {
    GpuAmount part;
    if (gpus > 0) part.gpus = Gpus(*inRange<int64_t>(0, gpus + 1));
    if (slices > 0) part.slices = Slices(*inRange<int64_t>(0, slices + 1));
    const ResourceVector share = FairShare(node, part, {});
    RC_ASSERT(share.gpus == part.gpus);
    given += share;
    gpus -= part.gpus.count();
    slices -= part.slices.count();
    if (part == GpuAmount()) break;
  }
  RC_ASSERT(given.cpu <= node.allocatable.cpu);
  RC_ASSERT(given.memory <= node.allocatable.memory);
}

RC_GTEST_PROP(SlicesProperty, AllSlicesOfAGpuHaveTheShareOfTheGpu, ()) {
  const auto gpus = *inRange<int64_t>(1, 17);
  const auto per_gpu = *inRange<int64_t>(2, 65);
  const ResourceVector amounts = RandomAmounts(0);
  const NodeState whole = EmptyNode(MakeNode("n", amounts + ResourceVector{Gpus(gpus), {}, {}}));
  const NodeState shared = EmptyNode(MakeSharedNode("n", gpus, per_gpu, amounts));
  const auto count = *inRange<int64_t>(1, gpus + 1);
  ResourceVector of_gpus = FairShare(whole, Gpus(count), {});
  of_gpus.gpus = Gpus(0);
  RC_ASSERT(FairShare(shared, {Gpus(0), Slices(count * per_gpu)}, {}) == of_gpus);
}

// Managed pods that request their fair share never wait for CPU or memory on a node that has free
// GPUs or slices for them.
RC_GTEST_PROP(SlicesProperty, PodsWithTheirSharesFillEverySliceAndNeverExceedANode, ()) {
  ClusterState state;
  const auto nodes = *inRange(1, 4);
  for (int i = 0; i < nodes; ++i) state.UpsertNode(SharingNode("n" + std::to_string(i)));
  for (int i = 0; i < 60; ++i) {
    Pod pod = RandomSharer("p" + std::to_string(i));
    const auto share = LeastFairShare(*state.Snapshot(), nullptr, AmountOf(pod), "", {});
    if (!share) continue;
    pod.requests.main = *share;
    pod = SizedByUs(std::move(pod));
    const auto snapshot = state.Snapshot();
    const auto place = PlaceOne(*snapshot, pod, {});
    if (place) {
      RC_ASSERT(state.Assume(pod, snapshot->node(*place).detail->name, Instant{}).assumed);
      continue;
    }
    for (NodeIndex at = 0; at < snapshot->size(); ++at) {
      const FitFailures failures = CheckFit(pod, snapshot->node(at));
      RC_ASSERT(failures.Has(FitFailures::kGpus) || failures.Has(FitFailures::kOther) ||
                failures.Has(FitFailures::kTooManyPods));
    }
  }
  const auto snapshot = state.Snapshot();
  for (NodeIndex at = 0; at < snapshot->size(); ++at) RC_ASSERT(IsWithin(snapshot->node(at)));
}

RC_GTEST_PROP(SlicesProperty, APodGoesWhereFewestUseAGpu, ()) {
  ClusterState state;
  const auto nodes = *inRange(1, 5);
  for (int i = 0; i < nodes; ++i) state.UpsertNode(SharingNode("n" + std::to_string(i)));
  const auto pods = *inRange(0, 20);
  for (int i = 0; i < pods; ++i) {
    const Pod pod = MakeSlicePod("p" + std::to_string(i), *inRange<int64_t>(1, 4), MilliCpu(0), {});
    const auto at = *inRange(0, nodes);
    const std::string node = "n" + std::to_string(at);
    if (CheckFit(pod, NodeOf(*state.Snapshot(), node)).none()) state.UpsertPod(OnNode(pod, node));
  }
  const auto snapshot = state.Snapshot();
  const Pod pod = MakeSlicePod("new", *inRange<int64_t>(1, 4), MilliCpu(0), {});
  const auto place = PlaceOne(*snapshot, pod, {});
  // Returns the users of each GPU on average: pods' slices divided by GPUs.
  const auto users = [&](const NodeState& node) {
    const GpuKinds& kinds = node.detail->gpu_kinds;
    return static_cast<double>((SlicesTaken(node) + pod.slices).count() * kinds.slices_per_gpu) /
           static_cast<double>(kinds.slices.count());
  };
  for (NodeIndex at = 0; at < snapshot->size(); ++at) {
    if (!CheckFit(pod, snapshot->node(at)).none()) continue;
    RC_ASSERT(place.has_value());
    RC_ASSERT(users(snapshot->node(*place)) <= users(snapshot->node(at)) + 0.01);
  }
}

RC_GTEST_PROP(SlicesProperty, TheOrderOfEventsDoesNotMatter, ()) {
  struct Event {
    std::vector<Node> nodes;
    std::vector<Pod> pods;
    std::vector<Pod> gone;
  };
  // A node changes from whole GPUs to shared ones and back while its pods come and go. Events of
  // one object stay in order, as in a watch; those of different objects may come in any order.
  std::map<std::string, std::vector<Event>> by_object;
  for (const std::string& name : {std::string("n0"), std::string("n1")}) {
    const auto versions = *inRange(1, 4);
    for (int i = 0; i < versions; ++i) by_object[name].push_back({.nodes = {SharingNode(name)}});
  }
  const auto pods = *inRange(0, 8);
  for (int i = 0; i < pods; ++i) {
    const Pod pod =
        OnNode(RandomSharer("p" + std::to_string(i)), "n" + std::to_string(*inRange(0, 2)));
    by_object[pod.name].push_back({.pods = {pod}});
    if (*inRange(0, 3) == 0) by_object[pod.name].push_back({.gone = {pod}});
  }
  const auto play = [&] {
    ClusterState state;
    auto left = by_object;
    while (!left.empty()) {
      auto next = left.begin();
      std::advance(next, *inRange<size_t>(0, left.size()));
      const Event event = next->second.front();
      next->second.erase(next->second.begin());
      if (next->second.empty()) left.erase(next);
      for (const Node& node : event.nodes) state.UpsertNode(node);
      for (const Pod& pod : event.pods) state.UpsertPod(pod);
      for (const Pod& pod : event.gone) state.RemovePod(pod.uid);
    }
    return state.Snapshot();
  };
  const auto once = play();
  const auto again = play();
  const GpuAmount amount{Gpus(*inRange(0, 2)), Slices(*inRange(0, 5))};
  for (const char* name : {"n0", "n1"}) {
    const NodeState& one = NodeOf(*once, name);
    const NodeState& other = NodeOf(*again, name);
    RC_ASSERT(SlicesTaken(one) == SlicesTaken(other));
    RC_ASSERT(SlicesOfOthers(one) == SlicesOfOthers(other));
    RC_ASSERT(one.requested == other.requested);
    RC_ASSERT(FairShare(one, amount, {}) == FairShare(other, amount, {}));
    const Pod pod = MakeSlicePod("new", 2);
    RC_ASSERT(CheckFit(pod, one) == CheckFit(pod, other));
  }
}

}  // namespace
}  // namespace synergy::testing
