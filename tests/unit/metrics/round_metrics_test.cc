#include "metrics/round_metrics.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::metrics {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(RoundMetricsTest, QueuesHaveTheirSeriesFromTheBeginningAndAsLongAsTheyAreOrdered) {
  RoundMetrics metrics;
  metrics.SetWorkloads({{"train", {.runs = 1, .next = 2, .waits = 3}}});
  std::string text = metrics.Render();
  for (const char* line :
       {R"(synergy_rounds_workloads{band="waits",cluster_queue="train"} 3)",
        R"(synergy_rounds_delay_seconds_total{cluster_queue="train",delay="fair_share"} 0)",
        R"(synergy_rounds_delay_seconds_total{cluster_queue="train",delay="fragmentation"} 0)",
        R"(synergy_rounds_lost_turns_total{cluster_queue="train"} 0)"}) {
    EXPECT_THAT(text, HasSubstr(std::string(line) + "\n"));
  }
  metrics.CountDelay("train", "fragmentation", 1.5);
  metrics.CountLostTurn("train");
  metrics.SetWorkloads({{"train", {}}});
  text = metrics.Render();
  EXPECT_THAT(text, HasSubstr(R"(delay="fragmentation"} 1.5)"));
  EXPECT_THAT(text, HasSubstr(R"(synergy_rounds_lost_turns_total{cluster_queue="train"} 1)"));
  metrics.SetWorkloads({});
  EXPECT_THAT(metrics.Render(), Not(HasSubstr("train")));
}

}  // namespace
}  // namespace synergy::metrics
