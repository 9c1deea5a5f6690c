#include "cli/page/simulated_map.h"

#include <vector>

#include <gtest/gtest.h>

namespace synergy::cli::testing {
namespace {

using Kind = PlaceChange::Kind;

constexpr ResourceVector kShare{Gpus(2), Cores(6), GiB(2)};
constexpr ResourceVector kDemand{Gpus(2), Cores(4), GiB(1)};

// Returns a run of jobs with two GPUs; each test says where they end.
RunResult RunOf(const std::vector<JobTimes>& jobs, std::vector<PlaceChange> changes) {
  RunResult run;
  run.jobs = jobs;
  run.job_gpus.assign(jobs.size(), Gpus(2));
  run.job_models.assign(jobs.size(), "m");
  run.job_fair_shares.assign(jobs.size(), kShare);
  run.job_demands.assign(jobs.size(), kDemand);
  run.changes = std::move(changes);
  return run;
}

PlaceChange Change(double at, uint64_t job, Kind kind, int64_t cores, int64_t gpus = 2,
                   const std::string& pod = "job-7-0") {
  return {Seconds(at), job, kind, pod, "n1", {Gpus(gpus), Cores(cores), GiB(1)}};
}

StartingCluster Empty() { return ClusterOf(1, {Gpus(2), Cores(6), GiB(2)}); }

TEST(SimulatedMapTest, AJobWaitsIsPlacedIsResizedAndGoes) {
  const RunResult run = RunOf({{7, Seconds(1), Seconds(3), Seconds(9)}},
                              {Change(3, 7, Kind::kBound, 4), Change(5, 7, Kind::kResized, 6),
                               Change(9, 7, Kind::kGone, 6)});
  const SimulatedMap map = MapOfRun(Empty(), run);
  EXPECT_EQ(map.state,
            R"({"nodes":{"node-0001":{"allocatable":{"gpus":2,"cpu":6,"memory":2147483648},)"
            R"("others":{"cpu":0,"memory":0},"schedulable":true}},"pods":{}})");
  ASSERT_EQ(map.changes.size(), 4U);
  const std::string job =
      R"("demand":{"cpu":4,"memory":1073741824},"fairShare":{"cpu":6,"memory":2147483648},"gpus":2,)"
      R"("job":"job-7",)";
  EXPECT_EQ(map.changes[0].at, Seconds(1));
  EXPECT_EQ(map.changes[0].patch,
            R"({"pods":{"job-7":{)" + job +
                R"("name":"job-7","profile":"m","since":1,"state":"waiting"}}})");
  EXPECT_EQ(map.changes[1].at, Seconds(3));
  EXPECT_EQ(map.changes[1].patch,
            R"({"pods":{"job-7":null,"job-7-0":{"allocation":{"cpu":4,"memory":1073741824},)" +
                job + R"("name":"job-7-0","node":"n1","profile":"m","state":"placed"}}})");
  EXPECT_EQ(map.changes[2].at, Seconds(5));
  EXPECT_EQ(map.changes[2].patch,
            R"({"pods":{"job-7-0":{"allocation":{"cpu":6,"memory":1073741824}}}})");
  EXPECT_EQ(map.changes[3].at, Seconds(9));
  EXPECT_EQ(map.changes[3].patch, R"({"pods":{"job-7-0":null}})");
}

TEST(SimulatedMapTest, EventsAtOneMomentAreOneChange) {
  const SimulatedMap map =
      MapOfRun(Empty(), RunOf({{7, Seconds(1), Seconds(1), {}}},
                              {Change(1, 7, Kind::kBound, 4), Change(1, 7, Kind::kResized, 5)}));
  ASSERT_EQ(map.changes.size(), 1U);
  EXPECT_NE(map.changes[0].patch.find(R"("allocation":{"cpu":5,)"), std::string::npos);
  EXPECT_EQ(map.changes[0].patch.find(R"("waiting")"), std::string::npos);
}

TEST(SimulatedMapTest, AJobWithSomeOfItsPodsWaitsForTheOthersGpus) {
  const SimulatedMap map =
      MapOfRun(Empty(), RunOf({{7, Seconds(1), {}, {}}}, {Change(3, 7, Kind::kBound, 2, 1)}));
  ASSERT_EQ(map.changes.size(), 2U);
  // The job still waits, with smaller amounts; its pod has its share of both.
  EXPECT_NE(map.changes[1].patch.find(
                R"("job-7":{"demand":{"cpu":2,"memory":536870912},"fairShare":{"cpu":3,)"
                R"("memory":1073741824},"gpus":1})"),
            std::string::npos)
      << map.changes[1].patch;
}

TEST(SimulatedMapTest, AJobThatIsStoppedWaitsAgainSinceThen) {
  const SimulatedMap map =
      MapOfRun(Empty(), RunOf({{7, Seconds(1), Seconds(2), Seconds(50)}},
                              {Change(2, 7, Kind::kBound, 4), Change(8, 7, Kind::kGone, 4)}));
  ASSERT_EQ(map.changes.size(), 3U);
  EXPECT_NE(map.changes[2].patch.find(R"("since":8,"state":"waiting")"), std::string::npos);
}

TEST(SimulatedMapTest, PodsOfTheStartingClusterAreThereFromTheBeginning) {
  StartingCluster start = Empty();
  Pod pod;
  pod.uid = "u1";
  pod.pod_namespace = "research";
  pod.name = "old";
  pod.node = "node-0001";
  pod.requests.main = {Gpus(1), Cores(3), GiB(1)};
  start.pods.push_back(pod);
  RunResult run = RunOf({}, {Change(4, 0, Kind::kGone, 3, 1, "u1")});
  run.changes[0].job.reset();
  const SimulatedMap map = MapOfRun(start, run);
  EXPECT_NE(
      map.state.find(R"("u1":{"allocation":{"cpu":3,"memory":1073741824},"gpus":1,"name":"old",)"
                     R"("namespace":"research","node":"node-0001","state":"placed"})"),
      std::string::npos)
      << map.state;
  ASSERT_EQ(map.changes.size(), 1U);
  EXPECT_EQ(map.changes[0].patch, R"({"pods":{"u1":null}})");
}

TEST(SimulatedMapTest, APodThatWasThereAndWaitedIsBound) {
  StartingCluster start = Empty();
  Pod pod;
  pod.uid = "u1";
  pod.name = "old";
  pod.waiting = std::make_shared<const Waiting>();
  pod.requests.main = {Gpus(1), Cores(3), GiB(1)};
  start.pods.push_back(pod);
  RunResult run = RunOf({}, {Change(4, 0, Kind::kBound, 3, 1, "u1")});
  run.changes[0].job.reset();
  const SimulatedMap map = MapOfRun(start, run);
  ASSERT_EQ(map.changes.size(), 1U);
  EXPECT_EQ(map.changes[0].patch,
            R"({"pods":{"u1":{"allocation":{"cpu":3,"memory":1073741824},"node":"n1",)"
            R"("state":"placed"}}})");
}

}  // namespace
}  // namespace synergy::cli::testing
