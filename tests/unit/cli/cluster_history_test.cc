#include "cli/simulate/history/cluster_history.h"

#include <gtest/gtest.h>

namespace synergy::cli {
namespace {

Node NodeWith(Gpus gpus, MilliCpu cpu, Bytes memory) {
  Node node;
  node.allocatable.main = {gpus, cpu, memory};
  return node;
}

TEST(ClusterHistory, MachinesThatDifferByKibibytesHaveOneShape) {
  std::vector<Node> nodes;
  for (int64_t i = 0; i < 10; ++i) {
    nodes.push_back(NodeWith(Gpus(8), MilliCpu(95'900 + i), Bytes(GiB(500).count() + i * 4096)));
  }
  for (int i = 0; i < 2; ++i) nodes.push_back(NodeWith(Gpus(1), Cores(4), GiB(16)));
  ClusterHistory history;
  ASSERT_TRUE(SetServers(nodes, history));
  EXPECT_EQ(history.server.gpus, Gpus(8));
  EXPECT_EQ(history.servers, 11);
  ASSERT_EQ(history.notes.size(), 1U);
  EXPECT_NE(history.notes[0].find("12 nodes with GPUs have 2 shapes"), std::string::npos);
}

TEST(ClusterHistory, NodesWithoutGpusAreNoServers) {
  const std::vector<Node> nodes = {NodeWith(Gpus(0), Cores(64), GiB(256))};
  ClusterHistory history;
  const auto set = SetServers(nodes, history);
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace synergy::cli
