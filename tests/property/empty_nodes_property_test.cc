// Tests the room for a workload's pods on empty nodes: exactly as many as it says can be placed one
// by one.

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "cluster/state/cluster_state.h"
#include "queues/empty_nodes.h"

namespace synergy::testing {
namespace {

constexpr const char* kPool = "pool";

struct Pools {
  ClusterState state;
  std::vector<int64_t> usable;  // GPUs of each node that the workload may use
  int64_t gpus = 0;             // their sum, and that of nodes that take no pods now
};

void AddNode(Pools& pools, int number) {
  Node node;
  node.name = "n" + std::to_string(number);
  node.allocatable.main.gpus = Gpus(*rc::gen::inRange<int64_t>(0, 17));
  const bool is_ours = *rc::gen::inRange(0, 4) != 0;
  const bool has_product = *rc::gen::inRange(0, 4) != 0;
  node.unschedulable = *rc::gen::inRange(0, 6) == 0;
  node.labels = {{kPool, is_ours ? "ours" : "other"}};
  node.gpu_kinds.products = {has_product ? "fast" : "slow"};
  const int64_t gpus = node.allocatable.main.gpus.count();
  if (is_ours && has_product) {
    pools.gpus += gpus;
    if (!node.unschedulable) pools.usable.push_back(gpus);
  }
  pools.state.UpsertNode(node);
}

RC_GTEST_PROP(EmptyNodesProperty, AsManyPodsArePlacedAndNoMore, ()) {
  Pools pools;
  const int nodes = *rc::gen::inRange(0, 12);
  for (int number = 0; number < nodes; ++number) AddNode(pools, number);
  Workload workload;
  workload.pod_gpus = Gpus(*rc::gen::inRange<int64_t>(1, 10));
  workload.products = {"fast"};
  NodeSelection& selection = workload.selections.emplace_back();
  selection.node_selector = {{kPool, "ours"}};
  const Gpus quota(*rc::gen::inRange<int64_t>(0, 100));
  const int64_t room = PodsOnEmptyNodes(*pools.state.Snapshot(), workload, quota);

  // GPUs in the quota that no node of the pool has may come as one new node.
  if (quota.count() > pools.gpus) pools.usable.push_back(quota.count() - pools.gpus);
  int64_t placed = 0;
  for (int64_t& free : pools.usable) {
    for (; free >= workload.pod_gpus.count(); free -= workload.pod_gpus.count()) ++placed;
  }
  RC_ASSERT(room == placed);
}

}  // namespace
}  // namespace synergy::testing
