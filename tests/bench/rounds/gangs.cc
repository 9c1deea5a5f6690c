#include "bench/rounds/gangs.h"

#include <cstdlib>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "cluster/gang.h"
#include "support/cluster_vocabulary.h"

namespace synergy::bench {
namespace {

constexpr size_t kNodes = 5000;
constexpr size_t kPodsPerNode = 8;
constexpr size_t kGangs = 2000;
constexpr size_t kEach = 20;  // gangs for each changed one

// Two gangs share two nodes: one has the first half of each node's pods, the other has the second
// half.
size_t GangOn(size_t node, size_t pod) { return node / 2 * 2 + pod / (kPodsPerNode / 2); }

}  // namespace

std::vector<Pod> FillWithGangs(ClusterState& state, size_t gangs) {
  std::vector<Node> nodes;
  std::vector<Pod> pods;
  std::vector<Pod> changing;
  for (size_t n = 0; n < kNodes; ++n) {
    nodes.push_back(testing::MakeNode(fmt::format("node-{:05}", n), {Gpus(8), Cores(24), GB(500)}));
    for (size_t p = 0; p < kPodsPerNode; ++p) {
      Pod pod = testing::MakePod(fmt::format("pod-{:05}-{}", n, p), {Gpus(1), Cores(3), GB(60)});
      pod.node = nodes.back().name;
      const size_t gang = GangOn(n, p);
      if (gang < gangs) {
        pod.gang = std::make_shared<const Gang>(
            Gang{fmt::format("team/training-{:04}", gang), kPodsPerNode, {}});
      }
      if (gang < kGangs && gang % kEach == 0 && n % 2 == 0 && p == 0) changing.push_back(pod);
      pods.push_back(std::move(pod));
    }
  }
  state.ReplaceNodes(std::move(nodes));
  state.ReplacePods(std::move(pods));
  return changing;
}

void SnapshotEachChange(ClusterState& state, const std::vector<Pod>& pods) {
  for (const Pod& pod : pods) {
    state.RemovePod(pod.uid);
    if (state.Snapshot()->size() != kNodes) std::abort();
    state.UpsertPod(pod);
    if (state.Snapshot()->size() != kNodes) std::abort();
  }
}

}  // namespace synergy::bench
