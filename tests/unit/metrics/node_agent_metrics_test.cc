#include "metrics/node_agent_metrics.h"

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/metrics/promtool.h"

namespace synergy::testing {
namespace {

using metrics::NodeAgentGauges;
using metrics::NodeAgentMetrics;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

class NodeAgentMetricsTest : public ::testing::Test {
 protected:
  // The exposition has this whole line.
  void ExpectLine(const std::string& line) {
    EXPECT_THAT("\n" + metrics_.Render(), HasSubstr("\n" + line + "\n"));
  }

  NodeAgentMetrics metrics_;
};

TEST_F(NodeAgentMetricsTest, WhatWasReleasedAddsUp) {
  metrics_.CountRelease(MiB(80), milliseconds(30));
  metrics_.CountRelease(MiB(20), milliseconds(10));
  metrics_.CountRelease(Bytes(-5), milliseconds(10));  // the pod was faster
  ExpectLine("synergy_node_agent_released_bytes_total 104857600");
  ExpectLine("synergy_node_agent_release_duration_seconds_count 3");
}

TEST_F(NodeAgentMetricsTest, EveryOutcomeIsThereFromTheStart) {
  for (const std::string outcome : {"completed", "withdrawn", "stuck", "given_up"})
    ExpectLine("synergy_node_agent_shrink_duration_seconds_count{outcome=\"" + outcome + "\"} 0");
  metrics_.CountShrink("completed", seconds(11));
  ExpectLine("synergy_node_agent_shrink_duration_seconds_sum{outcome=\"completed\"} 11");
}

TEST_F(NodeAgentMetricsTest, GaugesAreReadAtEachScrape) {
  metrics_.CountError("no_cgroup");
  NodeAgentGauges gauges;
  metrics_.SetGauges([&] { return gauges; });
  gauges.watched_pods = 7;
  gauges.shrinks_in_progress = 1;
  gauges.dropped_events = 2;
  gauges.synced = true;
  gauges.staleness = milliseconds(1500);
  gauges.watch_errors = 3;
  gauges.ready = true;
  ExpectLine("synergy_node_agent_errors_total{reason=\"no_cgroup\"} 1");
  ExpectLine("synergy_node_agent_watched_pods 7");
  ExpectLine("synergy_node_agent_shrinks_in_progress 1");
  ExpectLine("synergy_node_agent_events_dropped_total 2");
  ExpectLine("synergy_cache_synced{resource=\"pods\"} 1");
  ExpectLine("synergy_cache_staleness_seconds{resource=\"pods\"} 1.5");
  ExpectLine("synergy_cache_errors_total{resource=\"pods\"} 3");
  ExpectLine("synergy_node_agent_ready 1");
}

TEST_F(NodeAgentMetricsTest, PromtoolHasNothingToSayAgainstThem) {
  EXPECT_EQ(PromtoolComplaints(metrics_.Render()), "");
  metrics_.CountRelease(MiB(80), milliseconds(30));
  metrics_.CountShrink("stuck", seconds(0));
  metrics_.CountError("no_cgroup");
  metrics_.SetGauges([] { return NodeAgentGauges{}; });
  EXPECT_EQ(PromtoolComplaints(metrics_.Render()), "");
}

}  // namespace
}  // namespace synergy::testing
