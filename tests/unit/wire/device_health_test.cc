#include "wire/objects/device_health.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<UnhealthyDevice> Ill(const std::string& statuses) {
  return ReadUnhealthyDevices(R"({"status":{"containerStatuses":)" + statuses + "}}");
}

TEST(DeviceHealth, ListsUnhealthyDevices) {
  EXPECT_THAT(
      Ill(R"([{"name":"train","allocatedResourcesStatus":[{"name":"nvidia.com/gpu","resources":[)"
          R"({"resourceID":"GPU-1","health":"Healthy"},{"resourceID":"GPU-2","health":"Unhealthy"},)"
          R"({"resourceID":"GPU-3","health":"Unknown","message":"the plugin is gone"}]}]},)"
          R"({"name":"idle"},{"name":"net","allocatedResourcesStatus":[{"name":"claim:nic/one",)"
          R"("resources":[{"resourceID":"nic-0","health":"Failed"}]}]}])"),
      ElementsAre(
          UnhealthyDevice{"train", "nvidia.com/gpu", "GPU-2", "Unhealthy", ""},
          UnhealthyDevice{"train", "nvidia.com/gpu", "GPU-3", "Unknown", "the plugin is gone"},
          UnhealthyDevice{"net", "claim:nic/one", "nic-0", "Failed", ""}));
  EXPECT_THAT(
      ReadUnhealthyDevices(R"({"status":{"initContainerStatuses":[{"name":"sidecar",)"
                           R"("allocatedResourcesStatus":[{"name":"nvidia.com/gpu","resources":[)"
                           R"({"resourceID":"GPU-1","health":"Unhealthy"}]}]}]}})"),
      ElementsAre(UnhealthyDevice{"sidecar", "nvidia.com/gpu", "GPU-1", "Unhealthy", ""}));
}

TEST(DeviceHealth, SkipsInvalidEntries) {
  for (const char* pod : {"", "{", "[]", "null", R"({"status":[]})",
                          R"({"status":{"containerStatuses":{"name":"train"}}})"})
    EXPECT_THAT(ReadUnhealthyDevices(pod), IsEmpty()) << pod;
  const std::string good = R"({"resourceID":"GPU-2","health":"Unhealthy"})";
  for (const char* bad :
       {"7", "null", "[]", "{}", R"("GPU-1")", R"({"resourceID":"GPU-1"})",
        R"({"health":"Unhealthy"})", R"({"resourceID":"","health":"Unhealthy"})",
        R"({"resourceID":1,"health":"Unhealthy"})", R"({"resourceID":"GPU-1","health":true})",
        R"({"resourceID":["GPU-1"],"health":["Unhealthy"]})"}) {
    EXPECT_THAT(Ill(R"([null,7,{"name":"a","allocatedResourcesStatus":"x"},{"name":"train",)"
                    R"("allocatedResourcesStatus":[null,{"resources":8},)"
                    R"({"name":"nvidia.com/gpu","resources":[)" +
                    std::string(bad) + "," + good + "]}]}]"),
                ElementsAre(UnhealthyDevice{"train", "nvidia.com/gpu", "GPU-2", "Unhealthy", ""}))
        << bad;
  }
}

}  // namespace
}  // namespace synergy::wire
