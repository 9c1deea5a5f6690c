#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cli/page/map_objects.h"
#include "cluster/state/cluster_state.h"

namespace synergy::cli::testing {
namespace {

Pod MemberOf(Gang gang, const std::string& name, const std::string& node) {
  Pod pod;
  pod.uid = pod.name = name;
  pod.pod_namespace = "team";
  pod.node = node;
  pod.requests.main = {Gpus(1), Cores(2), GiB(1)};
  pod.gang = std::make_shared<const Gang>(std::move(gang));
  if (node.empty()) pod.waiting = std::make_shared<const Waiting>();
  return pod;
}

MapObjects Shown(const std::vector<Pod>& pods) {
  Node node;
  node.name = "n1";
  node.allocatable.main = {Gpus(4), Cores(8), GiB(32)};
  ClusterState cluster;
  cluster.ReplaceNodes({node});
  cluster.ReplacePods(pods);
  return GangsOf(pods, cluster.Snapshot().get());
}

const Gang kBert{.name = "team/bert", .size = 3};

TEST(MapGangsTest, CountsMembersAndTheReasonForWaiting) {
  EXPECT_EQ(Shown({MemberOf(kBert, "a", ""), MemberOf(kBert, "b", "")}),
            (MapObjects{{"team/bert",
                         {{"size", "3"},
                          {"there", "2"},
                          {"running", "0"},
                          {"waits", "\"it waits for 1 more pods to be created\""}}}}));
  const MapObjects running =
      Shown({MemberOf(kBert, "a", "n1"), MemberOf(kBert, "b", "n1"), MemberOf(kBert, "c", "n1")});
  EXPECT_EQ(running.at("team/bert").at("running"), "3");
  EXPECT_FALSE(running.at("team/bert").contains("waits"));
}

TEST(MapGangsTest, ShowsWhatIsWrongWithTheLabels) {
  const Gang nameless{.name = "", .problem = "it needs a name"};
  const std::vector<Pod> pods{MemberOf(nameless, "a", "")};
  EXPECT_EQ(GangKey(pods[0]), "team/a");
  EXPECT_EQ(Shown(pods).at("team/a").at("problem"), "\"it needs a name\"");
  const Gang wrong{.name = "team/bert", .problem = "its size is no number"};
  for (const auto& both : {std::vector{MemberOf(kBert, "a", ""), MemberOf(wrong, "b", "")},
                           std::vector{MemberOf(wrong, "b", ""), MemberOf(kBert, "a", "")}}) {
    EXPECT_TRUE(Shown(both).at("team/bert").contains("problem"));
  }
}

TEST(MapGangsTest, APodThatTrainsAloneHasNone) {
  Pod alone = MemberOf(kBert, "a", "n1");
  alone.gang = nullptr;
  EXPECT_EQ(GangKey(alone), "");
  EXPECT_TRUE(Shown({alone}).empty());
}

}  // namespace
}  // namespace synergy::cli::testing
