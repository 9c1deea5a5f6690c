// The exposition as Prometheus itself judges it.

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"
#include "unit/metrics/device_metrics_sample.h"
#include "unit/metrics/metrics_sample.h"

namespace synergy::testing {
namespace {

// What `promtool check metrics` says; empty when it has nothing to complain about.
std::string Complaints(const std::string& exposition) {
  const char* promtool = std::getenv("SYNERGY_PROMTOOL");
  if (promtool == nullptr || std::string(promtool).ends_with("NOTFOUND")) {
    return "promtool is missing: scripts/setup.sh installs it";
  }
  const TemporaryFolder folder;
  const std::string file = folder.Write("metrics", exposition);
  const std::string command =
      std::string(promtool) + " check metrics <" + file + " 2>&1; echo \"exit $?\"";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "promtool cannot be started";
  std::string output;
  std::array<char, 4096> buffer;
  while (const size_t read = std::fread(buffer.data(), 1, buffer.size(), pipe))
    output.append(buffer.data(), read);
  pclose(pipe);
  return output == "exit 0\n" ? std::string() : output;
}

TEST(PromtoolTest, HasNothingToSayAgainstAFreshExtender) {
  EXPECT_EQ(Complaints(metrics::ExtenderMetrics("nvidia.com/gpu").Render()), "");
}

TEST(PromtoolTest, HasNothingToSayAgainstABusyExtender) {
  metrics::ExtenderMetrics metrics("nvidia.com/gpu");
  RecordSamples(metrics);
  EXPECT_EQ(Complaints(metrics.Render()), "");
}

TEST(PromtoolTest, HasNothingToSayAgainstAnExtenderWithoutNodes) {
  metrics::ExtenderMetrics metrics("nvidia.com/gpu");
  metrics.SetClusterGauges([] { return metrics::ClusterGauges{}; });
  EXPECT_EQ(Complaints(metrics.Render()), "");
}

TEST(PromtoolTest, HasNothingToSayAgainstADevicePlugin) {
  metrics::DeviceMetrics metrics;
  EXPECT_EQ(Complaints(metrics.Render()), "");
  RecordSamples(metrics);
  EXPECT_EQ(Complaints(metrics.Render()), "");
}

TEST(PromtoolTest, WouldSayIfSomethingWereWrong) {
  EXPECT_NE(Complaints("# TYPE synergy_calls counter\nsynergy_calls 1\n"), "");
}

}  // namespace
}  // namespace synergy::testing
