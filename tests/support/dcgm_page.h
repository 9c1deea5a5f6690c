#pragma once

// A page in the format of NVIDIA's DCGM exporter, with the metrics of its default list
// (https://github.com/NVIDIA/dcgm-exporter, etc/default-counters.csv).
//
// Threading: values.

#include <string>
#include <vector>

#include <fmt/format.h>

namespace synergy::testing {

struct ExportedGpu {
  int number = 0;
  double utilization = 0;  // percent
  double power = 60;
  int used = 1000;  // MiB
  int xid = 0;
  std::string pod;       // "namespace/pod/container"; empty: the exporter does not name pods
  std::string instance;  // number of a MIG instance
};

inline std::string WriteDcgmPage(const std::vector<ExportedGpu>& gpus) {
  std::string page;
  const auto family = [&](const std::string& name, const std::string& type, auto value_of,
                          bool of_instances) {
    page += fmt::format("# HELP {0} Of GPUs.\n# TYPE {0} {1}\n", name, type);
    for (const ExportedGpu& gpu : gpus) {
      if (!gpu.instance.empty() && !of_instances) continue;
      std::string labels = fmt::format(
          R"(gpu="{0}",UUID="GPU-{0}",pci_bus_id="00000000:{0:02X}:00.0",device="nvidia{0}",)"
          R"(modelName="NVIDIA A100-SXM4-80GB",Hostname="n1",DCGM_FI_DRIVER_VERSION="550.54.15")",
          gpu.number);
      if (!gpu.instance.empty())
        labels += fmt::format(R"(,GPU_I_PROFILE="1g.10gb",GPU_I_ID="{}")", gpu.instance);
      if (!gpu.pod.empty()) {
        const size_t first = gpu.pod.find('/');
        const size_t last = gpu.pod.rfind('/');
        labels +=
            fmt::format(R"(,container="{}",namespace="{}",pod="{}")", gpu.pod.substr(last + 1),
                        gpu.pod.substr(0, first), gpu.pod.substr(first + 1, last - first - 1));
      }
      page += fmt::format("{}{{{}}} {}\n", name, labels, value_of(gpu));
    }
  };
  family("DCGM_FI_DEV_SM_CLOCK", "gauge", [](const auto&) { return 1410; }, false);
  family("DCGM_FI_DEV_GPU_TEMP", "gauge", [](const auto&) { return 41; }, false);
  family("DCGM_FI_DEV_POWER_USAGE", "gauge", [](const auto& gpu) { return gpu.power; }, false);
  family("DCGM_FI_DEV_GPU_UTIL", "gauge", [](const auto& gpu) { return gpu.utilization; }, false);
  family("DCGM_FI_DEV_XID_ERRORS", "gauge", [](const auto& gpu) { return gpu.xid; }, false);
  family("DCGM_FI_DEV_FB_FREE", "gauge", [](const auto& gpu) { return 81000 - gpu.used; }, true);
  family("DCGM_FI_DEV_FB_USED", "gauge", [](const auto& gpu) { return gpu.used; }, true);
  family(
      "DCGM_FI_PROF_GR_ENGINE_ACTIVE", "gauge",
      [](const auto& gpu) { return gpu.utilization / 100; }, true);
  return page;
}

}  // namespace synergy::testing
