#include "cli/page/cluster_map.h"

#include <gtest/gtest.h>

namespace synergy::cli::testing {
namespace {

MapPod PodOnMap(MilliCpu cpu) {
  MapPod pod;
  pod.view.name = "train-0";
  pod.view.node = "n1";
  pod.view.state = "placed";
  pod.view.gpus = Gpus(2);
  pod.view.allocated = {Gpus(2), cpu, GiB(1)};
  return pod;
}

TEST(ClusterMapTest, AmountsAreInCoresAndBytes) {
  const MapNode node{.group = "a",
                     .allocatable = {Gpus(8), MilliCpu(23500), Bytes(64)},
                     .others = {Gpus(0), MilliCpu(500), Bytes(2)}};
  MapRecorder map;
  map.SetNode("n1", ToMapObject(node));
  EXPECT_EQ(map.State(),
            R"({"nodes":{"n1":{"allocatable":{"gpus":8,"cpu":23.5,"memory":64},"group":"a",)"
            R"("others":{"cpu":0.5,"memory":2},"schedulable":true}},"pods":{}})");
}

TEST(ClusterMapTest, PodWithoutAGangHasNoMembers) {
  MapPod pod;
  pod.view.name = "waits";
  pod.view.gpus = Gpus(1);
  EXPECT_EQ(ToMapObject(pod), (MapObject{{"gpus", "1"}, {"name", "\"waits\""}}));
}

TEST(ClusterMapTest, FairShareAndDemandComeTogether) {
  MapPod pod = PodOnMap(Cores(3));
  pod.view.fair_share = ResourceVector{Gpus(2), Cores(6), GiB(2)};
  EXPECT_FALSE(ToMapObject(pod).contains("fairShare"));
  pod.view.demand = ResourceVector{Gpus(2), Cores(9), GiB(2)};
  EXPECT_EQ(ToMapObject(pod).at("demand"), R"({"cpu":9,"memory":2147483648})");
  EXPECT_EQ(ToMapObject(pod).at("fairShare"), R"({"cpu":6,"memory":2147483648})");
}

TEST(ClusterMapTest, APatchHasTheChangedMembersOnly) {
  MapRecorder map;
  map.SetPod("1", ToMapObject(PodOnMap(Cores(3))));
  map.TakePatch();
  map.SetPod("1", ToMapObject(PodOnMap(Cores(4))));
  EXPECT_EQ(map.TakePatch(), R"({"pods":{"1":{"allocation":{"cpu":4,"memory":1073741824}}}})");
}

TEST(ClusterMapTest, APatchTakesAwayMembersAndWholeObjects) {
  MapRecorder map;
  MapPod pod = PodOnMap(Cores(3));
  pod.why = "no room";
  map.SetPod("1", ToMapObject(pod));
  map.SetPod("2", ToMapObject(pod));
  map.SetNode("n1", {});
  map.TakePatch();
  map.SetPod("1", ToMapObject(PodOnMap(Cores(3))));
  map.RemovePod("2");
  map.RemoveNode("n1");
  EXPECT_EQ(map.TakePatch(), R"({"nodes":{"n1":null},"pods":{"1":{"why":null},"2":null}})");
}

TEST(ClusterMapTest, ObjectsThatCameAndWentAreInNoPatch) {
  MapRecorder map;
  map.SetPod("1", ToMapObject(PodOnMap(Cores(3))));
  map.RemovePod("1");
  EXPECT_EQ(map.TakePatch(), "");
  map.RemovePod("never there");
  EXPECT_EQ(map.TakePatch(), "");
}

TEST(ClusterMapTest, ObjectsThatCameBackTheSameAreInNoPatch) {
  MapRecorder map;
  map.SetPod("1", ToMapObject(PodOnMap(Cores(3))));
  map.TakePatch();
  map.RemovePod("1");
  map.SetPod("1", ToMapObject(PodOnMap(Cores(3))));
  EXPECT_EQ(map.TakePatch(), "");
}

TEST(ClusterMapTest, EscapesAnyNameAsText) {
  MapRecorder map;
  MapPod pod = PodOnMap(Cores(3));
  pod.view.name = "\"};alert(1)//\xff";
  map.SetPod("\"", ToMapObject(pod));
  EXPECT_NE(map.State().find(R"("name":"\"};alert(1)//�")"), std::string::npos) << map.State();
  EXPECT_NE(map.State().find(R"("pods":{"\"":{)"), std::string::npos) << map.State();
}

}  // namespace
}  // namespace synergy::cli::testing
