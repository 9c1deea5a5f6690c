#include "metrics/extender_metrics.h"

#include <chrono>
#include <cstdint>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/metrics/metrics_sample.h"

namespace synergy::testing {
namespace {

using metrics::ExtenderMetrics;
using metrics::Verb;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kExtenderFamilies[] = {
    "synergy_build_info",
    "synergy_cache_errors_total",
    "synergy_cache_events_total",
    "synergy_cache_lists_total",
    "synergy_cache_objects",
    "synergy_cache_staleness_seconds",
    "synergy_cache_synced",
    "synergy_cache_unreadable_fields_total",
    "synergy_cache_watch_restarts_total",
    "synergy_extender_assumed_pods",
    "synergy_extender_allocations_total",
    "synergy_extender_assumed_pods_forgotten_total",
    "synergy_extender_binds_total",
    "synergy_extender_errors_total",
    "synergy_extender_gang_placements_total",
    "synergy_extender_gangs_waiting_for_locality",
    "synergy_extender_gpu_reservations",
    "synergy_extender_nodes_with_storage",
    "synergy_extender_held_gangs",
    "synergy_extender_kept_places",
    "synergy_extender_oldest_assumed_pod_seconds",
    "synergy_extender_oldest_held_gang_seconds",
    "synergy_extender_oldest_kept_place_seconds",
    "synergy_extender_ready",
    "synergy_extender_request_duration_seconds",
    "synergy_extender_reserved_gpu_refusals_total",
    "synergy_extender_second_looks_total",
    "synergy_extender_shadow_choices_total",
    "synergy_extender_shadow_stranded_gpus_total",
    "synergy_extender_vacant_places",
    "synergy_extender_vacant_places_total",
    "synergy_extender_waiting_connections",
    "synergy_extender_waiting_gang_binds",
    "synergy_extender_waiting_gangs",
    "synergy_extender_waiting_gpu_pods",
    "synergy_node_allocatable",
    "synergy_node_free",
    "synergy_node_requested",
    "synergy_node_stranded_gpus",
    "synergy_unreadable_objects",
};

class ExtenderMetricsTest : public ::testing::Test {
 protected:
  // Expects this whole line in the exposition.
  void ExpectLine(const std::string& line) {
    EXPECT_THAT("\n" + metrics_.Render(), HasSubstr("\n" + line + "\n"));
  }

  ExtenderMetrics metrics_{"nvidia.com/gpu"};
};

TEST_F(ExtenderMetricsTest, EveryFamilyIsRenderedWithItsHelpAndType) {
  RecordSamples(metrics_);
  const std::string text = metrics_.Render();
  for (const std::string family : kExtenderFamilies) {
    EXPECT_THAT(text, HasSubstr("# HELP " + family + " "));
    EXPECT_THAT(text, HasSubstr("# TYPE " + family + " "));
  }
}

TEST_F(ExtenderMetricsTest, ThereAreNoOtherFamilies) {
  RecordSamples(metrics_);
  const std::string text = metrics_.Render();
  size_t families = 0;
  for (size_t at = text.find("# TYPE "); at != std::string::npos; at = text.find("# TYPE ", at + 1))
    ++families;
  EXPECT_EQ(families, std::size(kExtenderFamilies));
}

TEST_F(ExtenderMetricsTest, CallsAreCountedAndTimedByVerb) {
  metrics_.CountCall(Verb::kFilter, std::chrono::milliseconds(250));
  metrics_.CountCall(Verb::kFilter, std::chrono::milliseconds(500));
  ExpectLine("synergy_extender_request_duration_seconds_count{verb=\"filter\"} 2");
  ExpectLine("synergy_extender_request_duration_seconds_sum{verb=\"filter\"} 0.75");
  ExpectLine("synergy_extender_request_duration_seconds_bucket{verb=\"filter\",le=\"0.25\"} 1");
  ExpectLine("synergy_extender_request_duration_seconds_bucket{verb=\"filter\",le=\"0.5\"} 2");
}

TEST_F(ExtenderMetricsTest, EveryVerbIsThereFromTheStartSoThatRatesBeginAtZero) {
  for (const std::string verb : {"filter", "prioritize", "bind", "preempt"}) {
    ExpectLine("synergy_extender_request_duration_seconds_count{verb=\"" + verb + "\"} 0");
  }
}

TEST_F(ExtenderMetricsTest, OutcomesAreCountedByTheirWord) {
  metrics_.CountError(Verb::kBind, "conflict");
  metrics_.CountError(Verb::kBind, "conflict");
  metrics_.CountBind("no_fit");
  metrics_.CountAllocation("demand");
  metrics_.CountForgotten("pod_gone");
  metrics_.CountShadowChoice("as_good");
  metrics_.CountShadowStranded("synergy", Gpus(0));
  metrics_.CountShadowStranded("scheduler", Gpus(3));
  ExpectLine("synergy_extender_shadow_choices_total{agrees=\"as_good\"} 1");
  ExpectLine("synergy_extender_shadow_stranded_gpus_total{by=\"synergy\"} 0");
  ExpectLine("synergy_extender_shadow_stranded_gpus_total{by=\"scheduler\"} 3");
  ExpectLine("synergy_extender_errors_total{reason=\"conflict\",verb=\"bind\"} 2");
  ExpectLine("synergy_extender_binds_total{outcome=\"no_fit\"} 1");
  ExpectLine("synergy_extender_allocations_total{outcome=\"demand\"} 1");
  ExpectLine("synergy_extender_assumed_pods_forgotten_total{reason=\"pod_gone\"} 1");
}

TEST_F(ExtenderMetricsTest, NodesAreShownInGpusCoresAndBytes) {
  metrics_.SetClusterGauges(SampleGauges);
  ExpectLine("synergy_node_allocatable{node=\"n1\",resource=\"nvidia.com/gpu\"} 8");
  ExpectLine("synergy_node_allocatable{node=\"n1\",resource=\"cpu\"} 24");
  ExpectLine("synergy_node_allocatable{node=\"shared\",resource=\"nvidia.com/gpu\"} 0");
  ExpectLine("synergy_node_allocatable{node=\"shared\",resource=\"nvidia.com/gpu.shared\"} 16");
  ExpectLine("synergy_node_free{node=\"shared\",resource=\"nvidia.com/gpu.shared\"} 13");
  ExpectLine("synergy_node_allocatable{node=\"n1\",resource=\"memory\"} 536870912000");
  ExpectLine("synergy_node_requested{node=\"n1\",resource=\"cpu\"} 22.5");
  ExpectLine("synergy_node_free{node=\"n1\",resource=\"cpu\"} 1.5");
  ExpectLine("synergy_node_free{node=\"n2\",resource=\"nvidia.com/gpu\"} -1");
  ExpectLine("synergy_node_stranded_gpus{node=\"n1\"} 1");
}

TEST_F(ExtenderMetricsTest, TheCachesAndTheExtenderItselfAreShown) {
  metrics_.SetClusterGauges(SampleGauges);
  ExpectLine("synergy_cache_synced{resource=\"pods\"} 1");
  ExpectLine("synergy_cache_staleness_seconds{resource=\"pods\"} 1.5");
  ExpectLine("synergy_cache_objects{resource=\"pods\"} 7");
  ExpectLine("synergy_cache_lists_total{resource=\"pods\"} 2");
  ExpectLine("synergy_cache_watch_restarts_total{resource=\"pods\"} 3");
  ExpectLine("synergy_cache_errors_total{resource=\"pods\"} 4");
  ExpectLine("synergy_cache_events_total{resource=\"pods\"} 5");
  ExpectLine("synergy_cache_unreadable_fields_total{resource=\"pods\"} 6");
  ExpectLine("synergy_unreadable_objects{kind=\"pods\"} 12");
  ExpectLine("synergy_extender_assumed_pods 8");
  ExpectLine("synergy_extender_oldest_assumed_pod_seconds 10");
  ExpectLine("synergy_extender_kept_places 11");
  ExpectLine("synergy_extender_oldest_kept_place_seconds 12");
  ExpectLine("synergy_extender_waiting_connections 13");
  ExpectLine("synergy_extender_waiting_gpu_pods 9");
  ExpectLine("synergy_extender_ready 1");
}

TEST_F(ExtenderMetricsTest, GaugesAreReadAtEachScrape) {
  uint64_t waiting = 1;
  metrics_.SetClusterGauges([&waiting] {
    metrics::ClusterGauges gauges;
    gauges.waiting_gpu_pods = waiting;
    return gauges;
  });
  ExpectLine("synergy_extender_waiting_gpu_pods 1");
  waiting = 5;
  ExpectLine("synergy_extender_waiting_gpu_pods 5");
}

TEST_F(ExtenderMetricsTest, WithoutAClusterThereAreNoClusterFamilies) {
  EXPECT_THAT(metrics_.Render(), Not(HasSubstr("synergy_node_")));
  EXPECT_THAT(metrics_.Render(), HasSubstr("synergy_build_info{"));
}

TEST_F(ExtenderMetricsTest, LabelsCannotBreakTheFormat) {
  metrics_.CountBind("a\"b\\c\nd");
  ExpectLine("synergy_extender_binds_total{outcome=\"a\\\"b\\\\c\\nd\"} 1");
}

TEST_F(ExtenderMetricsTest, ManyThreadsLoseNoCount) {
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([this] {
        for (int i = 0; i < 500; ++i) {
          metrics_.CountCall(Verb::kFilter, std::chrono::microseconds(1));
          metrics_.CountBind("bound");
          if (i % 100 == 0) metrics_.Render();
        }
      });
    }
  }
  ExpectLine("synergy_extender_request_duration_seconds_count{verb=\"filter\"} 2000");
  ExpectLine("synergy_extender_binds_total{outcome=\"bound\"} 2000");
}

}  // namespace
}  // namespace synergy::testing
