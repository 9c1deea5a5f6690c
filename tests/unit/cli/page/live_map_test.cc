#include "cli/page/live_map.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/state/cluster_state.h"
#include "unit/cli/queued_jobs.h"

namespace synergy::cli::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Pod Trainer(const std::string& name, const std::string& node) {
  Pod pod;
  pod.uid = "uid-" + name;
  pod.pod_namespace = "research";
  pod.name = name;
  pod.node = node;
  pod.requests.main = {Gpus(1), Cores(2), GiB(1)};
  if (!node.empty()) return pod;
  Waiting waiting;
  waiting.unschedulable = true;
  waiting.message = "0/1 nodes are available";
  waiting.since = WallTime(std::chrono::seconds(100));
  pod.waiting = std::make_shared<const Waiting>(std::move(waiting));
  return pod;
}

ClusterFacts FactsWith(const std::vector<Pod>& pods) {
  Node node;
  node.name = "n1";
  node.allocatable.main = {Gpus(4), Cores(8), GiB(32)};
  ClusterState cluster;
  cluster.ReplaceNodes({node});
  cluster.ReplacePods(pods);
  return {.pods = pods, .cluster = cluster.Snapshot()};
}

TEST(LiveMapTest, FirstRequestGetsTheWholeState) {
  LiveMap map;
  map.Update(FactsWith({Trainer("a", "n1")}), WallTime{});
  EXPECT_EQ(map.Since({}),
            R"({"version":1,"state":{"nodes":{"n1":{"allocatable":{"gpus":4,"cpu":8,)"
            R"("memory":34359738368},"others":{"cpu":0,"memory":0},"schedulable":true}},)"
            R"("pods":{"uid-a":{"allocation":{"cpu":2,"memory":1073741824},"gpus":1,"name":"a",)"
            R"("namespace":"research","node":"n1","state":"placed"}}}})");
}

TEST(LiveMapTest, APodWhoseGpuAnotherOneHasInItsTurnIsSuspended) {
  Pod sharer = Trainer("a", "n1");
  sharer.requests.main.gpus = Gpus(0);
  sharer.slices = Slices(1);
  sharer.requests.other.Set("nvidia.com/gpu.turns", 1);
  KnownProgress known;
  known.pod.turn = TurnReading{.suspended = true};
  LiveMap map;
  map.SetProgress({.by_uid = {{"uid-a", known}}}, WallTime{});
  map.Update(FactsWith({sharer}), WallTime{});
  EXPECT_THAT(map.Since({}), HasSubstr(R"("gpus":0,"name":"a","namespace":"research","node":"n1",)"
                                       R"("state":"suspended","turns":1)"));
  known.pod.turn->suspended = false;
  map.SetProgress({.by_uid = {{"uid-a", known}}}, WallTime{});
  map.Update(FactsWith({sharer}), WallTime{});
  EXPECT_THAT(map.Since(1), HasSubstr(R"({"uid-a":{"state":"placed"}})"));
}

TEST(LiveMapTest, WaitingPodHasTheReasonAndTheSinceTime) {
  LiveMap map;
  map.Update(FactsWith({Trainer("a", "")}), WallTime{});
  EXPECT_THAT(map.Since({}),
              HasSubstr(R"("since":100,"state":"unschedulable","why":"0/1 nodes are available")"));
}

TEST(LiveMapTest, WaitingPodOfAReservationHasItsStart) {
  const WallTime now{std::chrono::hours(1000)};
  ClusterFacts facts = FactsWith({Trainer("a", ""), Trainer("b", "")});
  facts.reservations["uid-a"] = {.job = "research/a",
                                 .places = {{"gpu-3", Gpus(8)}},
                                 .earliest = now + std::chrono::minutes(50),
                                 .likely = now + std::chrono::minutes(80),
                                 .latest = now + std::chrono::minutes(130),
                                 .waits_for = {"research/train-a", "research/train-b"}};
  LiveMap map;
  map.Update(facts, now);
  EXPECT_THAT(map.Since({}),
              HasSubstr(R"("starts":"starts about 17:20 UTC (16:50 UTC to 18:10 UTC) on gpu-3, )"
                        R"(when research/train-a and research/train-b are done")"));
  facts.reservations.clear();
  map.Update(facts, now);
  EXPECT_EQ(map.Since(1), R"({"version":2,"patches":[{"pods":{"uid-a":{"starts":null}}}]})");
}

TEST(LiveMapTest, LaterRequestGetsTheDifferencesOnly) {
  LiveMap map;
  map.Update(FactsWith({Trainer("a", "n1"), Trainer("b", "")}), WallTime{});
  map.Update(FactsWith({Trainer("a", "n1"), Trainer("b", "")}), WallTime{});
  EXPECT_EQ(map.Since(1), R"({"version":1,"patches":[]})");
  map.Update(FactsWith({Trainer("b", "")}), WallTime{});
  map.Update(FactsWith({Trainer("b", "n1")}), WallTime{});
  const std::string placed =
      R"({"pods":{"uid-b":{"allocation":{"cpu":2,"memory":1073741824},"node":"n1",)"
      R"("since":null,"state":"placed","why":null}}})";
  EXPECT_EQ(map.Since(1), R"({"version":3,"patches":[{"pods":{"uid-a":null}},)" + placed + "]}");
  EXPECT_EQ(map.Since(2), R"({"version":3,"patches":[)" + placed + "]}");
}

TEST(LiveMapTest, LateOrForeignRequestGetsTheWholeState) {
  LiveMap map;
  for (int round = 0; round <= 101; ++round) {
    map.Update(FactsWith({Trainer("a", round % 2 == 0 ? "" : "n1")}), WallTime{});
  }
  EXPECT_THAT(map.Since(1), HasSubstr(R"({"version":102,"state":)"));
  EXPECT_THAT(map.Since(2), Not(HasSubstr("state\":{\"nodes")));
  EXPECT_THAT(map.Since(103), HasSubstr(R"({"version":102,"state":)"));
}

TEST(LiveMapTest, PublishesProgressWithThePodAndAgainIfItDiffers) {
  const WallTime now{std::chrono::seconds(1000)};
  KnownProgress known;
  known.pod.iteration = 50;
  known.pod.total = 100;
  known.pod.rate = 4;
  known.pod.remaining = std::chrono::seconds(500);
  LiveMap map;
  map.SetProgress({.by_uid = {{"uid-a", known}, {"uid-gone", known}}}, now);
  map.Update(FactsWith({Trainer("a", "n1")}), now);
  EXPECT_THAT(map.Since({}), HasSubstr(R"("done":0.5,"ends":1500,)"));
  EXPECT_THAT(map.Since({}), HasSubstr(R"("node":"n1","rate":4,)"));
  known.pod.remaining = std::chrono::seconds(495);
  map.SetProgress({.by_uid = {{"uid-a", known}}}, now);
  map.Update(FactsWith({Trainer("a", "n1")}), now);
  EXPECT_EQ(map.Since(1), R"({"version":1,"patches":[]})");
  known.pod.remaining = std::chrono::seconds(250);
  known.pod.rate = 8;
  map.SetProgress({.by_uid = {{"uid-a", known}}}, now);
  map.Update(FactsWith({Trainer("a", "n1")}), now);
  EXPECT_EQ(map.Since(1), R"({"version":2,"patches":[{"pods":{"uid-a":{"ends":1250,"rate":8}}}]})");
  map.SetProgress({.by_uid = {}, .note = "no progress: away"}, now);
  map.Update(FactsWith({Trainer("a", "n1")}), now);
  EXPECT_EQ(map.Since(2), R"({"version":3,"patches":[{"notes":{"0":{"text":"no progress: away"}},)"
                          R"("pods":{"uid-a":{"done":null,"ends":null,"rate":null}}}]})");
}

TEST(LiveMapTest, QueuesComeAndGo) {
  LiveMap map;
  map.Update(FactsWith({}), kQueueNow);
  map.SetQueues(MakeQueue(), kQueueNow);
  map.Update(FactsWith({}), kQueueNow);
  EXPECT_THAT(map.Since(1), HasSubstr(R"("queues":{"train":{)"));
  EXPECT_THAT(map.Since(1), HasSubstr(R"("workloads":{"team/job-a-12ab":{)"));
  map.SetQueues({}, kQueueNow);
  map.Update(FactsWith({}), kQueueNow);
  EXPECT_EQ(map.Since(2), R"({"version":3,"patches":[{"queues":{"train":null},"workloads":)"
                          R"({"team/job-a-12ab":null,"team/job-b-12ab":null}}]})");
}

}  // namespace
}  // namespace synergy::cli::testing
