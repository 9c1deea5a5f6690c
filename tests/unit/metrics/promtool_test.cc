// Checks the exposition with Prometheus' own tool.

#include "unit/metrics/promtool.h"

#include <string>

#include <gtest/gtest.h>

#include "metrics/profiling_metrics.h"
#include "unit/metrics/device_metrics_sample.h"
#include "unit/metrics/metrics_sample.h"

namespace synergy::testing {
namespace {

TEST(PromtoolTest, HasNothingToSayAgainstAFreshExtender) {
  EXPECT_EQ(PromtoolComplaints(metrics::ExtenderMetrics("nvidia.com/gpu").Render()), "");
}

TEST(PromtoolTest, HasNothingToSayAgainstABusyExtender) {
  metrics::ExtenderMetrics metrics("nvidia.com/gpu");
  RecordSamples(metrics);
  EXPECT_EQ(PromtoolComplaints(metrics.Render()), "");
}

TEST(PromtoolTest, HasNothingToSayAgainstAnExtenderWithoutNodes) {
  metrics::ExtenderMetrics metrics("nvidia.com/gpu");
  metrics.SetClusterGauges([] { return metrics::ClusterGauges{}; });
  EXPECT_EQ(PromtoolComplaints(metrics.Render()), "");
}

TEST(PromtoolTest, HasNothingToSayAgainstAController) {
  EXPECT_EQ(PromtoolComplaints(metrics::ControllerMetrics().Render()), "");
  metrics::ControllerMetrics metrics;
  RecordSamples(metrics);
  EXPECT_EQ(PromtoolComplaints(metrics.Render()), "");
}

TEST(PromtoolTest, HasNothingToSayAgainstADevicePlugin) {
  metrics::DeviceMetrics metrics;
  EXPECT_EQ(PromtoolComplaints(metrics.Render()), "");
  RecordSamples(metrics);
  EXPECT_EQ(PromtoolComplaints(metrics.Render()), "");
}

TEST(PromtoolTest, WouldSayIfSomethingWereWrong) {
  EXPECT_NE(PromtoolComplaints("# TYPE synergy_calls counter\nsynergy_calls 1\n"), "");
}

TEST(PromtoolTest, HasNothingToSayAgainstProfiling) {
  EXPECT_EQ(PromtoolComplaints(metrics::ProfilingMetrics().Render()), "");
}

}  // namespace
}  // namespace synergy::testing
