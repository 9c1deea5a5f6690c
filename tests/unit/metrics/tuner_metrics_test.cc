#include "metrics/tuner_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::metrics {
namespace {

using ::testing::HasSubstr;

TEST(TunerMetricsTest, CountersStartAtZero) {
  TunerMetrics metrics;
  const std::string before = metrics.Render();
  EXPECT_THAT(before, HasSubstr("synergy_tuner_changes_total{kind=\"Reclaimed\"} 0\n"));
  EXPECT_THAT(before, HasSubstr("synergy_tuner_failed_changes_total{reason=\"deferred\"} 0\n"));
  EXPECT_THAT(before, HasSubstr("synergy_tuner_holds_total{outcome=\"bound\"} 0\n"));
  metrics.CountChange("Reclaimed");
  EXPECT_THAT(metrics.Render(), HasSubstr("synergy_tuner_changes_total{kind=\"Reclaimed\"} 1\n"));
}

}  // namespace
}  // namespace synergy::metrics
