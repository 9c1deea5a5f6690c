#include "metrics/controller_metrics.h"

#include <chrono>
#include <iterator>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/metrics/metrics_sample.h"

namespace synergy::testing {
namespace {

using metrics::ControllerMetrics;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kControllerFamilies[] = {
    "synergy_build_info",
    "synergy_cache_errors_total",
    "synergy_cache_events_total",
    "synergy_cache_lists_total",
    "synergy_cache_objects",
    "synergy_cache_staleness_seconds",
    "synergy_cache_synced",
    "synergy_cache_unreadable_fields_total",
    "synergy_cache_watch_restarts_total",
    "synergy_controller_avoided_nodes",
    "synergy_controller_bad_input_total",
    "synergy_controller_certificate_expiry_timestamp_seconds",
    "synergy_controller_pod_review_duration_seconds",
    "synergy_controller_pod_reviews_total",
    "synergy_controller_job_reviews_total",
    "synergy_controller_profile_reviews_total",
    "synergy_controller_profile_status_writes_total",
    "synergy_controller_evicted_pods_total",
    "synergy_controller_failures_dropped_total",
    "synergy_controller_gang_preemptions_total",
    "synergy_controller_gang_reads_total",
    "synergy_controller_profiles",
    "synergy_controller_progress_dropped_total",
    "synergy_controller_progress_oldest_seconds",
    "synergy_controller_progress_pods",
    "synergy_controller_progress_pulls_total",
    "synergy_controller_ready",
    "synergy_controller_suspect_nodes",
    "synergy_controller_suspensions_total",
    "synergy_controller_memory_raises_total",
    "synergy_controller_preruns_total",
    "synergy_failed_gpu_seconds_total",
    "synergy_failures_total",
    "synergy_idle_gpus",
    "synergy_moves_total",
    "synergy_node_managed_pods",
    "synergy_pod_allocated",
    "synergy_pod_demand",
    "synergy_pod_fair_share",
    "synergy_pod_speed_up_ratio",
    "synergy_unreadable_objects",
    "synergy_waiting_gpu_pods",
};

class ControllerMetricsTest : public ::testing::Test {
 protected:
  void ExpectLine(const std::string& line) {
    EXPECT_THAT("\n" + metrics_.Render(), HasSubstr("\n" + line + "\n"));
  }

  ControllerMetrics metrics_;
};

TEST_F(ControllerMetricsTest, EveryFamilyIsRenderedWithItsHelpAndTypeAndNoOther) {
  RecordSamples(metrics_);
  const std::string text = metrics_.Render();
  for (const std::string family : kControllerFamilies) {
    EXPECT_THAT(text, HasSubstr("# HELP " + family + " "));
    EXPECT_THAT(text, HasSubstr("# TYPE " + family + " "));
  }
  size_t families = 0;
  for (size_t at = text.find("# TYPE "); at != std::string::npos; at = text.find("# TYPE ", at + 1))
    ++families;
  EXPECT_EQ(families, std::size(kControllerFamilies));
}

TEST_F(ControllerMetricsTest, ReviewsAreCountedByOutcomeAndTimed) {
  metrics_.CountPodReview("managed", std::chrono::microseconds(250));
  metrics_.CountPodReview("managed", std::chrono::microseconds(750));
  metrics_.CountPodReview("no_gpus", std::chrono::microseconds(1));
  ExpectLine("synergy_controller_pod_reviews_total{outcome=\"managed\"} 2");
  ExpectLine("synergy_controller_pod_review_duration_seconds_count 3");
  ExpectLine("synergy_controller_pod_review_duration_seconds_bucket{le=\"0.0005\"} 2");
}

TEST_F(ControllerMetricsTest, ProfilesAndTheCertificateAreShown) {
  RecordSamples(metrics_);
  ExpectLine("synergy_controller_profiles{valid=\"true\"} 3");
  ExpectLine("synergy_controller_profiles{valid=\"false\"} 1");
  ExpectLine("synergy_controller_certificate_expiry_timestamp_seconds 1800000000");
  ExpectLine("synergy_controller_ready 1");
}

TEST_F(ControllerMetricsTest, ProgressIsCountedByWhatBecameOfIt) {
  RecordSamples(metrics_);
  ExpectLine("synergy_controller_progress_pulls_total{outcome=\"ok\"} 1");
  ExpectLine("synergy_controller_progress_dropped_total{reason=\"not_here\"} 2");
  ExpectLine("synergy_controller_progress_pods 7");
  ExpectLine("synergy_controller_progress_oldest_seconds 1.5");
}

TEST_F(ControllerMetricsTest, IdleGpusAreShownByNamespace) {
  RecordSamples(metrics_);
  ExpectLine("synergy_idle_gpus{namespace=\"team\"} 2");
}

TEST_F(ControllerMetricsTest, PodsShowWhatTheyHaveWantAndAreDue) {
  RecordSamples(metrics_);
  const std::string names = R"({namespace="team",pod="train",node="n1")";
  ExpectLine("synergy_pod_allocated" + names + R"(,resource="nvidia.com/gpu"} 1)");
  ExpectLine("synergy_pod_allocated" + names + R"(,resource="cpu"} 9)");
  ExpectLine("synergy_pod_demand" + names + R"(,resource="memory"} 1073741824)");
  ExpectLine("synergy_pod_fair_share" + names + R"(,resource="cpu"} 3)");
  ExpectLine("synergy_pod_speed_up_ratio" + names + "} 2.5");
  EXPECT_THAT(metrics_.Render(), Not(HasSubstr(names + R"(,resource="nvidia.com/gpu.shared")")));
  ExpectLine(R"(synergy_pod_allocated{namespace="team",pod="plain",node="n1",)"
             R"(resource="nvidia.com/gpu.shared"} 3)");
  EXPECT_THAT(metrics_.Render(), Not(HasSubstr(R"(speed_up_ratio{namespace="team",pod="plain")")));
}

TEST_F(ControllerMetricsTest, TurnsHaveTheirOwnResource) {
  metrics_.SetGauges([] {
    metrics::ControllerGauges gauges;
    gauges.pods.push_back({"team", "turns", "n1", {}, {}, {}, Slices(1), std::nullopt, true});
    return gauges;
  });
  ExpectLine(R"(synergy_pod_allocated{namespace="team",pod="turns",node="n1",)"
             R"(resource="nvidia.com/gpu.turns"} 1)");
}

TEST_F(ControllerMetricsTest, WaitingPodsAreCountedByReasonAndNoneIsZero) {
  RecordSamples(metrics_);
  ExpectLine(R"(synergy_waiting_gpu_pods{reason="cpu"} 4)");
  ExpectLine(R"(synergy_waiting_gpu_pods{reason="gpus"} 0)");
}

TEST_F(ControllerMetricsTest, WithoutACertificateThereIsNoExpiry) {
  metrics_.SetGauges([] { return metrics::ControllerGauges{}; });
  EXPECT_THAT(metrics_.Render(), Not(HasSubstr("certificate")));
  ExpectLine("synergy_controller_ready 0");
}

}  // namespace
}  // namespace synergy::testing
