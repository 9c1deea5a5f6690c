#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cli/page/map_objects.h"
#include "cluster/state/cluster_state.h"

namespace synergy::cli::testing {
namespace {

Node NodeWith(std::string name, int64_t gpus, Labels labels = {}) {
  Node node;
  node.name = std::move(name);
  node.labels = std::move(labels);
  node.allocatable.main = {Gpus(gpus), Cores(8), GiB(32)};
  return node;
}

Pod PodOn(const std::string& uid, std::string node, int64_t gpus) {
  Pod pod;
  pod.uid = pod.name = uid;
  pod.node = std::move(node);
  pod.requests.main = {Gpus(gpus), Cores(1), GiB(1)};
  return pod;
}

std::map<std::string, MapNode> Shown(std::vector<Node> nodes, std::vector<Pod> pods = {}) {
  ClusterState cluster;
  cluster.ReplaceNodes(std::move(nodes));
  cluster.ReplacePods(std::move(pods));
  return NodesOf(*cluster.Snapshot());
}

TEST(MapNodesTest, NodesWithoutGpusAreNotShown) {
  const auto shown = Shown({NodeWith("a", 4), NodeWith("b", 0)});
  ASSERT_EQ(shown.size(), 1U);
  EXPECT_EQ(shown.at("a").allocatable, (ResourceVector{Gpus(4), Cores(8), GiB(32)}));
}

TEST(MapNodesTest, NodesWithSharedGpusAreShownWithTheirSlicesOrTurns) {
  Node sliced = NodeWith("sliced", 0);
  sliced.gpu_kinds.slices = Slices(8);
  Node taking_turns = NodeWith("turns", 4);
  taking_turns.gpu_kinds.slices = Slices(2);
  taking_turns.allocatable.other.Set("nvidia.com/gpu.turns", 2);
  Pod sharer = PodOn("1", "sliced", 0);
  sharer.slices = Slices(3);
  const auto shown = Shown({sliced, taking_turns}, {sharer, PodOn("2", "sliced", 0)});
  EXPECT_EQ(ToMapObject(shown.at("sliced")).at("slices"), "8");
  EXPECT_EQ(shown.at("sliced").others, (ResourceVector{Gpus(0), Cores(1), GiB(1)}));
  EXPECT_EQ(ToMapObject(shown.at("turns")).at("turns"), "2");
  EXPECT_FALSE(ToMapObject(shown.at("turns")).contains("slices"));
}

TEST(MapNodesTest, GroupIsZoneAndRackAsFarAsTheyAreKnown) {
  const auto shown = Shown(
      {NodeWith("both", 4,
                {{"topology.kubernetes.io/rack", "r1"}, {"topology.kubernetes.io/zone", "z1"}}),
       NodeWith("rack", 4, {{"topology.kubernetes.io/rack", "r1"}}), NodeWith("neither", 4)});
  EXPECT_EQ(shown.at("both").group, "z1 / r1");
  EXPECT_EQ(shown.at("rack").group, "r1");
  EXPECT_EQ(shown.at("neither").group, "");
}

TEST(MapNodesTest, OthersArePodsWithoutGpus) {
  const auto shown = Shown({NodeWith("a", 4)}, {PodOn("1", "a", 0), PodOn("2", "a", 0),
                                                PodOn("3", "a", 1), PodOn("4", "b", 0)});
  EXPECT_EQ(shown.at("a").others, (ResourceVector{Gpus(0), Cores(2), GiB(2)}));
}

TEST(MapNodesTest, ACordonedNodeIsNotSchedulable) {
  Node cordoned = NodeWith("a", 4);
  cordoned.unschedulable = true;
  EXPECT_FALSE(Shown({cordoned}).at("a").schedulable);
  EXPECT_TRUE(Shown({NodeWith("a", 4)}).at("a").schedulable);
}

}  // namespace
}  // namespace synergy::cli::testing
