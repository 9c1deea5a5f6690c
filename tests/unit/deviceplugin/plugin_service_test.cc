#include "deviceplugin/plugin/plugin_service.h"

#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "deviceplugin/plugin/kubelet_endpoint.h"
#include "support/silent_log.h"
#include "support/temporary_folder.h"
#include "unit/deviceplugin/fake_kubelet.h"
#include "unit/inventory/inventory_fixture.h"

namespace synergy::testing {
namespace {

using deviceplugin::KubeletEndpoint;
using deviceplugin::Offer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PluginServiceTest : public ::testing::Test {
 protected:
  PluginServiceTest() {
    endpoint_ = std::make_unique<KubeletEndpoint>(folder_.Path("d"), "nvidia.com/gpu", MakeOffer(),
                                                  OpenGate(), SystemClock(), log_.log, metrics_);
    EXPECT_TRUE(kubelet_.AwaitLists(1));
  }

  static std::shared_ptr<const Offer> MakeOffer(
      ContainerAccessKind kind = ContainerAccessKind::kEnvironment) {
    auto inventory = std::make_shared<const GpuInventory>(WithNvSwitch(8));
    std::vector<GpuDevice> devices = DevicesOf(*inventory);
    devices[7].health = {false, "Xid 79"};
    ContainerAccessRules access;
    access.kind = kind;
    return std::make_shared<const Offer>(Offer{inventory, devices, access});
  }

  TemporaryFolder folder_;
  SilentLog log_;
  metrics::DeviceMetrics metrics_;
  FakeKubelet kubelet_{folder_.Path("d")};
  std::unique_ptr<KubeletEndpoint> endpoint_;
};

TEST_F(PluginServiceTest, AllocateNamesTheDevicesInTheEnvironment) {
  v1beta1::AllocateResponse response;
  ASSERT_TRUE(kubelet_.Allocate({"GPU-1", "GPU-5"}, &response).ok());
  ASSERT_EQ(response.container_responses_size(), 1);
  EXPECT_EQ(response.container_responses(0).envs().at("NVIDIA_VISIBLE_DEVICES"), "GPU-1,GPU-5");
}

TEST_F(PluginServiceTest, AccessRulesCountFromTheNextCallOnWithoutANewList) {
  endpoint_->Publish(MakeOffer(ContainerAccessKind::kDeviceNodes));
  v1beta1::AllocateResponse response;
  ASSERT_TRUE(kubelet_.Allocate({"GPU-1"}, &response).ok());
  ASSERT_EQ(response.container_responses(0).devices_size(), 1);
  const v1beta1::DeviceSpec& node = response.container_responses(0).devices(0);
  EXPECT_EQ(node.host_path(), "/dev/nvidia1");
  EXPECT_EQ(node.container_path(), "/dev/nvidia1");
  EXPECT_EQ(node.permissions(), "rw");

  endpoint_->Publish(MakeOffer(ContainerAccessKind::kCdi));
  response.Clear();
  ASSERT_TRUE(kubelet_.Allocate({"GPU-1"}, &response).ok());
  EXPECT_EQ(response.container_responses(0).cdi_devices(0).name(), "synergy.io/gpu=GPU-1");
  EXPECT_EQ(kubelet_.lists(), 1U);
}

TEST_F(PluginServiceTest, AnUnknownDeviceIsRefusedByName) {
  v1beta1::AllocateResponse response;
  const grpc::Status status = kubelet_.Allocate({"GPU-1", "GPU-77"}, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(status.error_message(), HasSubstr("nvidia.com/gpu: device GPU-77 is unknown"));
}

TEST_F(PluginServiceTest, AnUnhealthyDeviceIsRefusedWithItsReason) {
  v1beta1::AllocateResponse response;
  const grpc::Status status = kubelet_.Allocate({"GPU-7"}, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(status.error_message(), HasSubstr("Xid 79"));
}

TEST_F(PluginServiceTest, AFloodOfBadIdsIsRefusedOneByOneAndForgotten) {
  v1beta1::AllocateResponse response;
  for (int i = 0; i < 2000; ++i) {
    const std::string id = std::string(1000, 'x') + std::to_string(i);
    EXPECT_EQ(kubelet_.Allocate({id}, &response).error_code(), grpc::StatusCode::NOT_FOUND);
  }
  ASSERT_TRUE(kubelet_.Allocate({"GPU-0"}, &response).ok());
  EXPECT_THAT(metrics_.Render(),
              HasSubstr("synergy_device_plugin_allocations_total{outcome=\"unknown_device\","
                        "resource=\"nvidia.com/gpu\"} 2000"));
}

TEST_F(PluginServiceTest, AMessageThatIsTooLargeIsRefused) {
  v1beta1::AllocateResponse response;
  const grpc::Status status = kubelet_.Allocate({std::string((1 << 20) + 1, 'x')}, &response);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_TRUE(kubelet_.Allocate({"GPU-0"}, &response).ok());
}

TEST_F(PluginServiceTest, PreferredDevicesStayOnOneNumaNode) {
  std::vector<std::string> chosen;
  ASSERT_TRUE(kubelet_.Prefer({"GPU-0", "GPU-3", "GPU-4", "GPU-5"}, 2, &chosen).ok());
  EXPECT_THAT(chosen, ElementsAre("GPU-0", "GPU-3"));
}

TEST_F(PluginServiceTest, APreferenceThatCannotBeGivenIsNoErrorForThePod) {
  std::vector<std::string> chosen = {"left from before"};
  ASSERT_TRUE(kubelet_.Prefer({"GPU-0", "nobody"}, 2, &chosen).ok());
  EXPECT_THAT(chosen, IsEmpty());
}

}  // namespace
}  // namespace synergy::testing
