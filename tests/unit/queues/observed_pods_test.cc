#include <map>
#include <string>

#include <gtest/gtest.h>

#include "queues/planner/workload_ledger.h"

namespace synergy {
namespace {

TEST(ObservedPods, RateIsThatOfOnePodHoweverManyReport) {
  QueueObjects objects;
  for (const char* uid : {"a-0", "a-1"}) {
    objects.pods.Upsert({.uid = uid,
                         .pod_namespace = "team",
                         .name = uid,
                         .workload = "a",
                         .has_gpus = true,
                         .has_node = true,
                         .running = true});
  }
  const std::map<std::string, double> rates = {{"a-0", 3}, {"a-1", 4}};
  const auto pods = ObservePods(objects, [&](const std::string& uid) {
    PodProgress progress;
    progress.rate = rates.at(uid);
    return std::optional(progress);
  });
  EXPECT_EQ(pods.at("team/a").rate, 4);
}

}  // namespace
}  // namespace synergy
