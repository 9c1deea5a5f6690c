// Tests reading the objects of Dynamic Resource Allocation, and the claims that pods name.

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/devices/device_objects.h"
#include "wire/objects/objects.h"

namespace synergy::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

template <class T>
T Only(const std::string& rest) {
  const Result<ListPage<T>> page = ObjectReader().ReadList<T>(
      R"({"items":[{"metadata":{"name":"a","namespace":"team","uid":"u"},)" + rest + "}]}");
  EXPECT_TRUE(page) << page.error().message;
  EXPECT_THAT(page->problems, IsEmpty());
  return page->items.front();
}

TEST(ResourceClaimsTest, HaveTheirRequestsAndDevices) {
  const auto claim = Only<ResourceClaim>(R"(
    "spec":{"devices":{"requests":[
      {"name":"gpus","exactly":{"deviceClassName":"gpu.nvidia.com","count":2,
                                "allocationMode":"ExactCount"}},
      {"name":"one","exactly":{"deviceClassName":"gpu.nvidia.com"}},
      {"name":"all","exactly":{"deviceClassName":"gpu.nvidia.com","allocationMode":"All"}},
      {"name":"admin","exactly":{"deviceClassName":"gpu.nvidia.com","adminAccess":true}},
      {"name":"any","firstAvailable":[{"name":"x","deviceClassName":"gpu.nvidia.com"}]}]}},
    "status":{"allocation":{"devices":{"results":[
      {"request":"gpus","driver":"gpu.nvidia.com","pool":"n1","device":"gpu-0"},
      {"request":"admin","driver":"gpu.nvidia.com","pool":"n1","device":"gpu-1",
       "adminAccess":true}]}}})");
  EXPECT_EQ(claim.pod_namespace, "team");
  EXPECT_THAT(claim.requests,
              ElementsAre(DeviceRequest{"gpu.nvidia.com", 2}, DeviceRequest{"gpu.nvidia.com", 1},
                          DeviceRequest{"gpu.nvidia.com", 0},
                          DeviceRequest{"gpu.nvidia.com", 1, true}, DeviceRequest{}));
  EXPECT_TRUE(claim.allocated);
  EXPECT_THAT(claim.devices, ElementsAre(AllocatedDevice{"gpu.nvidia.com", "n1", "gpu-0"},
                                         AllocatedDevice{"gpu.nvidia.com", "n1", "gpu-1", true}));
  EXPECT_FALSE(Only<ResourceClaim>(R"("spec":{},"status":{})").allocated);
}

TEST(ResourceClaimsTest, TemplatesHaveTheRequestsOfTheirClaims) {
  const auto made = Only<ResourceClaimTemplate>(R"(
    "spec":{"metadata":{},"spec":{"devices":{"requests":[
      {"name":"gpus","exactly":{"deviceClassName":"gpu.nvidia.com","count":2}}]}}})");
  EXPECT_EQ(made.Key(), "team/a");
  EXPECT_THAT(made.requests, ElementsAre(DeviceRequest{"gpu.nvidia.com", 2}));
}

TEST(ResourceClaimsTest, AbsurdOnesAreProblemsOfThemselvesAlone) {
  std::string results;
  for (int i = 0; i < 5000; ++i)
    results += std::string(i == 0 ? "" : ",") + R"({"driver":"d","pool":"p","device":"x"})";
  const auto page = ObjectReader().ReadList<ResourceClaim>(R"({"items":[
    {"metadata":{"name":"a","uid":"1"},"spec":{"devices":{"requests":[
      {"exactly":{"deviceClassName":"c","count":-1}}, 7, {"exactly":[]},
      {"exactly":{"deviceClassName":["c"],"count":99999999999999999999}}]}}},
    {"metadata":{"name":"b","uid":"2"},"status":{"allocation":{"devices":{"results":[)" +
                                                           results + R"(]}}}},
    {"metadata":{"name":"c","uid":"3"},"spec":{"devices":{"requests":[
      {"exactly":{"deviceClassName":"c"}}]}}}]})");
  ASSERT_TRUE(page);
  ASSERT_EQ(page->items.size(), 3);
  for (const DeviceRequest& request : page->items[0].requests) EXPECT_EQ(request.count, 0);
  EXPECT_THAT(page->problems, ::testing::Not(IsEmpty()));
  EXPECT_LE(page->items[1].devices.size(), 64);
  EXPECT_THAT(page->items[2].requests, ElementsAre(DeviceRequest{"c", 1}));
}

TEST(ResourceSlicesTest, HaveTheDevicesOfANode) {
  const auto slice = Only<ResourceSlice>(R"("spec":{
    "driver":"gpu.nvidia.com","nodeName":"n1","pool":{"name":"n1","generation":3,
    "resourceSliceCount":1},"devices":[
    {"name":"gpu-0","attributes":{"type":{"string":"gpu"},"uuid":{"string":"GPU-1"},
     "productName":{"string":"NVIDIA A100-SXM4-40GB"}},"capacity":{"memory":{"value":"40Gi"}}},
    {"name":"mig","attributes":{"gpu.nvidia.com/type":{"string":"mig"}}},
    {"name":"sick","taints":[{"key":"a","effect":"None"},{"key":"b","effect":"NoExecute"}]},
    {"name":"far","nodeName":"n2","taints":[{"key":"a","effect":"None"}]}]})");
  EXPECT_EQ(slice.driver, "gpu.nvidia.com");
  EXPECT_EQ(slice.pool, "n1");
  EXPECT_EQ(slice.generation, 3);
  EXPECT_THAT(slice.devices,
              ElementsAre(SliceDevice{"gpu-0", "n1", "NVIDIA-A100-SXM4-40GB"},
                          SliceDevice{"mig", "n1", "", true},
                          SliceDevice{"sick", "n1", "", false, true}, SliceDevice{"far", "n2"}));
  const auto other = Only<ResourceSlice>(R"("spec":{"driver":"gpu.amd.com","devices":[
    {"name":"gpu-0","attributes":{"type":{"string":"amdgpu"}}}]})");
  EXPECT_THAT(other.devices, ElementsAre(SliceDevice{"gpu-0"})) << "only NVIDIA's have parts";
}

TEST(DeviceClassesTest, HaveTheirExtendedResource) {
  EXPECT_EQ(Only<DeviceClass>(R"("spec":{"extendedResourceName":"nvidia.com/gpu"})"),
            (DeviceClass{"a", "nvidia.com/gpu"}));
}

constexpr const char* kPod = R"({"metadata":{"name":"p","uid":"u","namespace":"team"},
  "spec":{"schedulerName":"synergy-scheduler","containers":[{"name":"c"}],"resourceClaims":[
    {"name":"named","resourceClaimName":"mine"},
    {"name":"made","resourceClaimTemplateName":"t"},
    {"name":"unneeded","resourceClaimTemplateName":"t"},
    {"name":"soon","resourceClaimTemplateName":"t"}]},
  "status":{"resourceClaimStatuses":[{"name":"made","resourceClaimName":"p-made-x"},
    {"name":"unneeded"}],
    "extendedResourceClaimStatus":{"resourceClaimName":"not-counted-besides-requests"},
    "conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable"}]}})";

TEST(PodDevicesTest, AreTheClaimsThatThePodNames) {
  const ObjectReader reader("nvidia.com/gpu", {}, true);
  const auto pod = reader.ReadPod(kPod, PodUse::kAccounted);
  ASSERT_TRUE(pod) << pod.error().message;
  ASSERT_TRUE(pod->devices);
  EXPECT_THAT(pod->devices->claims, ElementsAre("mine", "p-made-x", ""));
  EXPECT_TRUE(pod->waiting->unschedulable) << "read as of a pod that may have GPUs";
}

TEST(PodDevicesTest, AreNotReadUnlessTheyCount) {
  const auto pod = ObjectReader("nvidia.com/gpu").ReadPod(kPod, PodUse::kAccounted);
  ASSERT_TRUE(pod);
  EXPECT_FALSE(pod->devices);
  EXPECT_FALSE(pod->waiting->unschedulable);
}

}  // namespace
}  // namespace synergy::wire
