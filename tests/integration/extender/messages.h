#pragma once

// Short forms of kube-scheduler's calls.

#include <string>
#include <vector>

#include <fmt/format.h>

#include "support/fake_objects.h"

namespace synergy::testing {

inline constexpr char kOneGpu[] = R"({"nvidia.com/gpu":"1","cpu":"1","memory":"1Gi"})";

inline FakeNode GpuNode(const std::string& name, int gpus = 8) {
  return {.name = name,
          .allocatable_json = fmt::format(
              R"({{"nvidia.com/gpu":"{}","cpu":"24","memory":"500G","pods":"110"}})", gpus)};
}
inline FakePod GpuPod(const std::string& name) { return {.name = name, .requests_json = kOneGpu}; }

inline std::string ExtenderArgs(const FakePod& pod, const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "\"" : ",\"") + name + "\"";
  return fmt::format(R"({{"Pod":{},"Nodes":null,"NodeNames":[{}]}})", ToJson(pod, 1), list);
}
inline std::string BindingArgs(const FakePod& pod, const std::string& node) {
  return fmt::format(R"({{"PodName":"{}","PodNamespace":"{}","PodUID":"{}","Node":"{}"}})",
                     pod.name, pod.pod_namespace, pod.Uid(), node);
}

}  // namespace synergy::testing
