#include <gtest/gtest.h>

#include "cli/page/map_objects.h"
#include "unit/cli/queued_jobs.h"

namespace synergy::cli::testing {
namespace {

TEST(MapQueuesTest, ShowsEachFieldOfAQueueAndItsWorkloads) {
  const MapQueues shown = QueuesOnMap(ViewOrderedQueues(MakeQueue(), kQueueNow));
  EXPECT_EQ(shown.queues,
            (MapObjects{{"train",
                         {{"running", "1"},
                          {"waiting", "1"},
                          {"title", "\"Queue train: las by RoundPolicy turns, 1 GPU\""}}}}));
  EXPECT_EQ(shown.workloads.at("team/job-b-12ab"),
            (MapObject{{"band", "\"next\""},
                       {"fairShareDelay", "\"10m\""},
                       {"fragmentationDelay", "\"0s\""},
                       {"gpuTime", "\"0s\""},
                       {"gpus", "1"},
                       {"kind", "\"Job\""},
                       {"lostTurns", "0"},
                       {"name", "\"team/b\""},
                       {"order", "1"},
                       {"place", "1"},
                       {"queue", "\"train\""},
                       {"state", "\"waits\""},
                       {"why", "\"it is next when GPUs become free\""}}));
  EXPECT_EQ(shown.workloads.at("team/job-a-12ab").at("order"), "0");
  EXPECT_FALSE(shown.workloads.at("team/job-a-12ab").contains("place"));
}

TEST(MapQueuesTest, ShowsWhyAQueueIsNotOrdered) {
  QueueFacts facts = MakeQueue();
  facts.policies[0].status.queues[0].ready = false;
  facts.policies[0].status.queues[0].message = "it has no quota of GPUs";
  const MapQueues shown = QueuesOnMap(ViewOrderedQueues(facts, kQueueNow));
  EXPECT_EQ(shown.queues.at("train").at("problem"), "\"it has no quota of GPUs\"");
  EXPECT_FALSE(shown.workloads.at("team/job-b-12ab").contains("band"));
}

}  // namespace
}  // namespace synergy::cli::testing
