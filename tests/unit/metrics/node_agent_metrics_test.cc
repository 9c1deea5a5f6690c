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
  // Expects this whole line in the exposition.
  void ExpectLine(const std::string& line) {
    EXPECT_THAT("\n" + metrics_.Render(), HasSubstr("\n" + line + "\n"));
  }

  NodeAgentMetrics metrics_;
};

TEST_F(NodeAgentMetricsTest, ReleasedBytesAddUp) {
  metrics_.CountRelease(MiB(80), milliseconds(30));
  metrics_.CountRelease(MiB(20), milliseconds(10));
  metrics_.CountRelease(Bytes(-5), milliseconds(10));  // the pod has released more itself
  ExpectLine("synergy_node_agent_released_bytes_total 104857600");
  ExpectLine("synergy_node_agent_release_duration_seconds_count 3");
}

TEST_F(NodeAgentMetricsTest, EveryOutcomeIsThereFromTheStart) {
  for (const std::string outcome : {"completed", "withdrawn", "stuck", "given_up"})
    ExpectLine("synergy_node_agent_shrink_duration_seconds_count{outcome=\"" + outcome + "\"} 0");
  for (const std::string outcome : {"done", "ended_early", "wiped", "refused"})
    ExpectLine("synergy_node_agent_probes_total{outcome=\"" + outcome + "\"} 0");
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
  gauges.progress = {
      {.pod_namespace = "team",
       .pod = "bert",
       .container = "train",
       .format = "tqdm",
       .iterations = 40,
       .done = 0.25,
       .memory = metrics::PodProgressGauge::Memory{GiB(8), GiB(2), 100, 60, milliseconds(2500)}},
      {.pod_namespace = "team", .pod = "unseen", .container = "train"}};
  gauges.busy = {{"team", "silent", "train", 12.5}};
  ExpectLine(
      "synergy_pod_gpu_busy_seconds_total"
      R"({namespace="team",pod="silent",container="train"} 12.5)");
  const std::string labels = R"({namespace="team",pod="bert",container="train",format="tqdm"})";
  ExpectLine("synergy_pod_iterations_total" + labels + " 40");
  ExpectLine("synergy_pod_done_ratio" + labels + " 0.25");
  ExpectLine("synergy_pod_process_memory_bytes" + labels + " 8589934592");
  ExpectLine("synergy_pod_page_cache_bytes" + labels + " 2147483648");
  ExpectLine("synergy_pod_read_bytes_total" + labels + " 100");
  ExpectLine("synergy_pod_fetched_bytes_total" + labels + " 60");
  ExpectLine("synergy_pod_storage_wait_seconds_total" + labels + " 2.5");
  EXPECT_EQ(metrics_.Render().find("synergy_pod_read_bytes_total{namespace=\"team\",pod=\"unseen"),
            std::string::npos);
  ExpectLine("synergy_node_agent_errors_total{reason=\"no_cgroup\"} 1");
  ExpectLine("synergy_node_agent_watched_pods 7");
  ExpectLine("synergy_node_agent_shrinks_in_progress 1");
  ExpectLine("synergy_node_agent_events_dropped_total 2");
  ExpectLine("synergy_cache_synced{resource=\"pods\"} 1");
  ExpectLine("synergy_cache_staleness_seconds{resource=\"pods\"} 1.5");
  ExpectLine("synergy_cache_errors_total{resource=\"pods\"} 3");
  ExpectLine("synergy_node_agent_ready 1");
}

TEST_F(NodeAgentMetricsTest, StorageHasItsDisksAndItsPods) {
  NodeAgentGauges gauges;
  metrics_.SetGauges([&] { return gauges; });
  gauges.storage = {
      .disks = {{"vdb", 5e9, 40e6, milliseconds(2500)}, {.device = "vda", .read = 100}},
      .pods = {{"team", "bert", "train", "vdb", 3e9, 28e6}, {"team", "free", "train", "vdb", 1}}};
  ExpectLine(R"(synergy_node_agent_storage_bandwidth_bytes_per_second{device="vdb"} 40000000)");
  ExpectLine(R"(synergy_node_agent_storage_read_bytes_total{device="vdb"} 5000000000)");
  ExpectLine(R"(synergy_node_agent_storage_read_bytes_total{device="vda"} 100)");
  ExpectLine(R"(synergy_node_agent_storage_wait_seconds_total{device="vdb"} 2.5)");
  ExpectLine(
      "synergy_pod_storage_read_bytes_total"
      R"({namespace="team",pod="bert",container="train",device="vdb"} 3000000000)");
  ExpectLine(
      "synergy_pod_storage_cap_bytes_per_second"
      R"({namespace="team",pod="bert",container="train",device="vdb"} 28000000)");
  EXPECT_EQ(metrics_.Render().find("storage_cap_bytes_per_second{namespace=\"team\",pod=\"free"),
            std::string::npos);
  for (const std::string unknown : {"bandwidth_bytes_per_second", "wait_seconds_total"}) {
    EXPECT_EQ(metrics_.Render().find("storage_" + unknown + "{device=\"vda"), std::string::npos);
  }
  EXPECT_EQ(PromtoolComplaints(metrics_.Render()), "");
}

TEST_F(NodeAgentMetricsTest, PromtoolAcceptsTheMetrics) {
  EXPECT_EQ(PromtoolComplaints(metrics_.Render()), "");
  metrics_.CountRelease(MiB(80), milliseconds(30));
  metrics_.CountShrink("stuck", seconds(0));
  metrics_.CountError("no_cgroup");
  metrics_.SetGauges([] { return NodeAgentGauges{}; });
  EXPECT_EQ(PromtoolComplaints(metrics_.Render()), "");
}

}  // namespace
}  // namespace synergy::testing
