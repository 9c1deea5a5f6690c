// Checks the exposition with Prometheus' own tool.

#include "unit/metrics/promtool.h"

#include <string>

#include <gtest/gtest.h>

#include "metrics/profiling_metrics.h"
#include "metrics/turn_metrics.h"
#include "unit/metrics/device_metrics_sample.h"
#include "unit/metrics/metrics_sample.h"

namespace synergy::testing {
namespace {

TEST(PromtoolTest, AcceptsAFreshExtender) {
  EXPECT_EQ(PromtoolComplaints(metrics::ExtenderMetrics("nvidia.com/gpu").Render()), "");
}

TEST(PromtoolTest, AcceptsABusyExtender) {
  metrics::ExtenderMetrics metrics("nvidia.com/gpu");
  RecordSamples(metrics);
  EXPECT_EQ(PromtoolComplaints(metrics.Render()), "");
}

TEST(PromtoolTest, AcceptsAnExtenderWithoutNodes) {
  metrics::ExtenderMetrics metrics("nvidia.com/gpu");
  metrics.SetClusterGauges([] { return metrics::ClusterGauges{}; });
  EXPECT_EQ(PromtoolComplaints(metrics.Render()), "");
}

TEST(PromtoolTest, AcceptsAController) {
  EXPECT_EQ(PromtoolComplaints(metrics::ControllerMetrics().Render()), "");
  metrics::ControllerMetrics metrics;
  RecordSamples(metrics);
  EXPECT_EQ(PromtoolComplaints(metrics.Render()), "");
}

TEST(PromtoolTest, AcceptsADevicePlugin) {
  metrics::DeviceMetrics metrics;
  EXPECT_EQ(PromtoolComplaints(metrics.Render()), "");
  RecordSamples(metrics);
  EXPECT_EQ(PromtoolComplaints(metrics.Render()), "");
}

TEST(PromtoolTest, RejectsABadMetric) {
  EXPECT_NE(PromtoolComplaints("# TYPE synergy_calls counter\nsynergy_calls 1\n"), "");
}

TEST(PromtoolTest, AcceptsTurns) {
  metrics::TurnMetrics metrics;
  metrics.SetPods(2, 1, 4);
  metrics.CountWrite("written");
  metrics.CountPass("complete");
  metrics.CountPack("kept");
  EXPECT_EQ(PromtoolComplaints(metrics.Render()), "");
  EXPECT_NE(metrics.Render().find("synergy_turns_pods{state=\"packed\"} 4"), std::string::npos);
  EXPECT_NE(metrics.Render().find("synergy_turns_packs_total{outcome=\"kept\"} 1"),
            std::string::npos);
  EXPECT_NE(metrics.Render().find("synergy_turns_pods{state=\"suspended\"} 1"), std::string::npos);
}

TEST(PromtoolTest, AcceptsProfiling) {
  EXPECT_EQ(PromtoolComplaints(metrics::ProfilingMetrics().Render()), "");
}

}  // namespace
}  // namespace synergy::testing
