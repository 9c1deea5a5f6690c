#include "metrics/device_metrics.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/metrics/device_metrics_sample.h"

namespace synergy::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(DeviceMetricsTest, EverythingThatHappenedIsThere) {
  metrics::DeviceMetrics metrics;
  RecordSamples(metrics);
  const std::string text = metrics.Render();
  for (const char* line : {
           "synergy_gpu_info{uuid=\"GPU-0\",product=\"NVIDIA A100\",pci=\"0000:3b:00.0\"} 1",
           "synergy_gpu_healthy{uuid=\"GPU-0\"} 1",
           "synergy_gpu_healthy{uuid=\"GPU-1\"} 0",
           "synergy_gpu_utilization_ratio{uuid=\"GPU-0\"} 0.5",
           "synergy_gpu_temperature_celsius{uuid=\"GPU-0\"} 61",
           "synergy_gpu_power_watts{uuid=\"GPU-0\"} 250.5",
           "synergy_gpu_memory_bytes{uuid=\"GPU-0\"} 85899345920",
           "synergy_gpu_memory_used_bytes{uuid=\"GPU-0\"} 21474836480",
           "synergy_gpu_xid_errors_total{uuid=\"GPU-1\",xid=\"79\"} 1",
           "synergy_gpu_allocated{uuid=\"GPU-0\",namespace=\"team\",pod=\"train-0\","
           "container=\"main\",resource=\"nvidia.com/gpu\"} 1",
           "synergy_gpu_allocated{uuid=\"GPU-1\",mig_uuid=\"MIG-7\",namespace=\"team\","
           "pod=\"serve-0\",container=\"main\",resource=\"nvidia.com/mig-1g.10gb\"} 1",
           "synergy_pod_gpu_utilization_ratio{uuid=\"GPU-0\",namespace=\"team\",pod=\"train-0\","
           "container=\"main\"} 0.5",
           "synergy_pod_gpu_memory_used_bytes{uuid=\"GPU-1\",mig_uuid=\"MIG-7\","
           "namespace=\"team\",pod=\"serve-0\",container=\"main\"} 2147483648",
           "synergy_device_plugin_devices{resource=\"nvidia.com/gpu\",product=\"NVIDIA "
           "A100\",health=\"unhealthy\"} 1",
           "synergy_device_plugin_registered{resource=\"nvidia.com/gpu\"} 1",
           "synergy_device_plugin_gpus_left_out 2",
           "synergy_device_plugin_gpus_unreachable 1",
           "synergy_device_plugin_gpus_without_xids 3",
           "synergy_device_plugin_source_errors_total 1",
           "synergy_device_plugin_allocate_duration_seconds_count{resource=\"nvidia.com/gpu\"} 1",
           "synergy_device_plugin_ready 1",
           "program=\"synergy-device-plugin\"",
       }) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(DeviceMetricsTest, GpuMetricsNameTheirNode) {
  metrics::DeviceMetrics metrics("n1");
  RecordSamples(metrics);
  const std::string text = metrics.Render();
  for (const char* name :
       {"synergy_gpu_info", "synergy_gpu_healthy", "synergy_gpu_memory_bytes",
        "synergy_gpu_memory_used_bytes", "synergy_gpu_utilization_ratio",
        "synergy_gpu_temperature_celsius", "synergy_gpu_power_watts", "synergy_gpu_allocated",
        "synergy_gpu_xid_errors_total", "synergy_pod_gpu_utilization_ratio",
        "synergy_pod_gpu_memory_used_bytes", "synergy_device_plugin_devices",
        "synergy_device_plugin_gpus_left_out", "synergy_device_plugin_gpus_unreachable",
        "synergy_device_plugin_gpus_without_xids"}) {
    EXPECT_THAT(text, HasSubstr(std::string("\n") + name + "{node=\"n1\""));
  }
}

TEST(DeviceMetricsTest, OmitsFactsThatTheDriverLacks) {
  metrics::DeviceMetrics metrics;
  RecordSamples(metrics);
  EXPECT_THAT(metrics.Render(), Not(HasSubstr("synergy_gpu_power_watts{uuid=\"GPU-1\"}")));
  EXPECT_THAT(metrics.Render(), Not(HasSubstr("synergy_pod_gpu_utilization_ratio{uuid=\"GPU-1\"")));
}

TEST(DeviceMetricsTest, ShowsAKubeletWithoutPodResources) {
  metrics::DeviceMetrics metrics;
  metrics.SetGauges([] { return metrics::DeviceGauges{}; });
  EXPECT_THAT(metrics.Render(), HasSubstr("synergy_device_plugin_pod_resources_up 0"));
}

}  // namespace
}  // namespace synergy::testing
