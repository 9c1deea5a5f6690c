#include "metrics/profiling_metrics.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::metrics {
namespace {

using ::testing::HasSubstr;

TEST(ProfilingMetricsTest, RendersCounts) {
  ProfilingMetrics metrics;
  EXPECT_THAT(metrics.Render(), HasSubstr(R"(synergy_profiling_probes_total{outcome="begun"} 0)"));
  metrics.CountProbe("begun");
  metrics.CountPublished("failed");
  metrics.SetMeasurements(3, 2, 1);
  metrics.SetMeasurements(4, 2, 0);
  const std::string text = metrics.Render();
  for (const char* line : {R"(synergy_profiling_probes_total{outcome="begun"} 1)",
                           R"(synergy_profiling_probes_total{outcome="ended"} 0)",
                           R"(synergy_profiling_published_total{outcome="failed"} 1)",
                           R"(synergy_profiling_measurements{state="confirmed"} 4)",
                           R"(synergy_profiling_measurements{state="estimated"} 2)",
                           R"(synergy_profiling_measurements{state="drifted"} 0)"}) {
    EXPECT_THAT(text, HasSubstr(std::string(line) + "\n"));
  }
}

}  // namespace
}  // namespace synergy::metrics
