#include "inventory/container_access.h"

#include <set>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/inventory/inventory_fixture.h"

namespace synergy::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class ContainerAccessTest : public ::testing::Test {
 protected:
  ContainerAccessTest() { inventory_.shared_device_nodes = {"/dev/nvidiactl"}; }

  Result<ContainerAccess> Grant(const std::vector<std::string>& ids, ContainerAccessKind kind) {
    ContainerAccessRules rules;
    rules.kind = kind;
    return GrantAccess(inventory_, devices_, ids, rules);
  }

  GpuInventory inventory_ = WithNvSwitch(4);
  std::vector<GpuDevice> devices_ = DevicesOf(inventory_);
};

TEST_F(ContainerAccessTest, AVariableNamesTheDevices) {
  const auto access = Grant({"GPU-2", "GPU-0"}, ContainerAccessKind::kEnvironment);
  ASSERT_TRUE(access);
  EXPECT_THAT(access->environment, ElementsAre(Pair("NVIDIA_VISIBLE_DEVICES", "GPU-2,GPU-0")));
  EXPECT_THAT(access->device_nodes, IsEmpty());
  EXPECT_THAT(access->cdi_names, IsEmpty());
}

TEST_F(ContainerAccessTest, DeviceNodesAreThoseOfTheDevicesAndTheSharedOnesOnce) {
  const auto access = Grant({"GPU-1", "GPU-3"}, ContainerAccessKind::kDeviceNodes);
  ASSERT_TRUE(access);
  EXPECT_THAT(access->device_nodes, ElementsAre("/dev/nvidia1", "/dev/nvidia3", "/dev/nvidiactl"));
  EXPECT_THAT(access->environment, ElementsAre(Pair("NVIDIA_VISIBLE_DEVICES", "GPU-1,GPU-3")));
}

// After a resize, a container loses devices that its own specification does not contain.
TEST_F(ContainerAccessTest, ByDefaultDevicesAreInTheContainersOwnSpecification) {
  const auto access = GrantAccess(inventory_, devices_, std::vector<std::string>{"GPU-1"}, {});
  ASSERT_TRUE(access);
  EXPECT_THAT(access->device_nodes, ElementsAre("/dev/nvidia1", "/dev/nvidiactl"));
}

TEST_F(ContainerAccessTest, CdiNamesKeepNvidiasRuntimeOut) {
  const auto access = Grant({"GPU-1"}, ContainerAccessKind::kCdi);
  ASSERT_TRUE(access);
  EXPECT_THAT(access->cdi_names, ElementsAre("synergy.io/gpu=GPU-1"));
  EXPECT_THAT(access->environment, ElementsAre(Pair("NVIDIA_VISIBLE_DEVICES", "void")));
}

// The kubelet calls for each resource separately, and keeps only one value of a variable.
TEST_F(ContainerAccessTest, TwoResourcesOfAContainerAddUpUnlessOnlyAVariableNamesTheDevices) {
  const auto both = [this](ContainerAccessKind kind) {
    const auto first = Grant({"GPU-0"}, kind);
    const auto second = Grant({"GPU-1"}, kind);
    std::set<std::string> nodes(first->device_nodes.begin(), first->device_nodes.end());
    nodes.insert(second->device_nodes.begin(), second->device_nodes.end());
    const bool agree = first->environment == second->environment;
    return std::pair{nodes, agree};
  };
  EXPECT_EQ(both(ContainerAccessKind::kDeviceNodes).first,
            (std::set<std::string>{"/dev/nvidia0", "/dev/nvidia1", "/dev/nvidiactl"}));
  EXPECT_TRUE(both(ContainerAccessKind::kCdi).second);
}

TEST_F(ContainerAccessTest, AMigDeviceHasTheNodesOfItsGpuAndItsOwn) {
  std::vector<Gpu> gpus = MakeGpus(1, 1);
  gpus[0].mig_enabled = true;
  gpus[0].mig_devices = {{"MIG-0", "1g.10gb", GiB(10), {"/dev/nvidia-caps/nvidia-cap66"}},
                         {"MIG-1", "1g.10gb", GiB(10), {}}};
  inventory_ = GpuInventory(gpus);
  devices_ = {{"MIG-0", 0, kNoNuma, {}}, {"MIG-1", 0, kNoNuma, {}}};
  const auto access = Grant({"MIG-0"}, ContainerAccessKind::kDeviceNodes);
  ASSERT_TRUE(access);
  EXPECT_THAT(access->device_nodes, ElementsAre("/dev/nvidia0", "/dev/nvidia-caps/nvidia-cap66"));
  EXPECT_THAT(Grant({"MIG-0"}, ContainerAccessKind::kCdi)->cdi_names,
              ElementsAre("synergy.io/gpu=MIG-0"));
  EXPECT_EQ(Grant({"MIG-1"}, ContainerAccessKind::kDeviceNodes).error().code,
            ErrorCode::kUnavailable)
      << "nobody knows its nodes";
  EXPECT_TRUE(Grant({"MIG-1"}, ContainerAccessKind::kEnvironment));
}

TEST_F(ContainerAccessTest, AnUnknownDeviceIsRefusedByName) {
  const auto access = Grant({"GPU-0", "GPU-9"}, ContainerAccessKind::kEnvironment);
  ASSERT_FALSE(access);
  EXPECT_EQ(access.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(access.error().message, HasSubstr("GPU-9"));
}

TEST_F(ContainerAccessTest, AnUnhealthyDeviceIsRefusedWithItsReason) {
  devices_[1].health = {false, "Xid 79"};
  const auto access = Grant({"GPU-1"}, ContainerAccessKind::kEnvironment);
  ASSERT_FALSE(access);
  EXPECT_EQ(access.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(access.error().message, HasSubstr("Xid 79"));
}

TEST_F(ContainerAccessTest, NothingAndTheSameTwiceAreRefused) {
  EXPECT_EQ(Grant({}, ContainerAccessKind::kEnvironment).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(Grant({"GPU-0", "GPU-0"}, ContainerAccessKind::kEnvironment).error().code,
            ErrorCode::kInvalid);
}

TEST_F(ContainerAccessTest, AMessageShowsNoMoreOfAnIdThanARealOneHas) {
  const auto access = Grant({std::string(100'000, 'x')}, ContainerAccessKind::kEnvironment);
  ASSERT_FALSE(access);
  EXPECT_LT(access.error().message.size(), 200U);
}

class SliceAccessTest : public ContainerAccessTest {
 protected:
  SliceAccessTest() {
    AdvertisementRules rules;
    rules.replicas[rules.resource] = 4;
    devices_ = Advertise(inventory_, rules, [](std::string_view) {
                 return GpuHealth{};
               }).resources.at("nvidia.com/gpu.shared");
  }
};

TEST_F(SliceAccessTest, ASliceGivesAccessToItsGpuAlone) {
  const auto nodes = Grant({"GPU-2::3"}, ContainerAccessKind::kDeviceNodes);
  ASSERT_TRUE(nodes);
  EXPECT_THAT(nodes->device_nodes, ElementsAre("/dev/nvidia2", "/dev/nvidiactl"));
  EXPECT_THAT(nodes->environment, ElementsAre(Pair("NVIDIA_VISIBLE_DEVICES", "GPU-2")));
  const auto cdi = Grant({"GPU-2::0"}, ContainerAccessKind::kCdi);
  ASSERT_TRUE(cdi);
  EXPECT_THAT(cdi->cdi_names, ElementsAre("synergy.io/gpu=GPU-2"));
}

TEST_F(SliceAccessTest, SeveralSlicesOfOneGpuNameItOnce) {
  const auto access =
      Grant({"GPU-1::0", "GPU-3::2", "GPU-1::1"}, ContainerAccessKind::kDeviceNodes);
  ASSERT_TRUE(access);
  EXPECT_THAT(access->device_nodes, ElementsAre("/dev/nvidia1", "/dev/nvidia3", "/dev/nvidiactl"));
  EXPECT_THAT(access->environment, ElementsAre(Pair("NVIDIA_VISIBLE_DEVICES", "GPU-1,GPU-3")));
}

TEST_F(SliceAccessTest, SeveralSlicesAreRefusedIfRequestsGreaterThanOneFail) {
  ContainerAccessRules rules;
  rules.one_slice_only = true;
  const auto grant = [&](const std::vector<std::string>& ids, const auto& devices) {
    return GrantAccess(inventory_, devices, ids, rules);
  };
  const auto refused = grant({"GPU-1::0", "GPU-1::1"}, devices_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(refused.error().message, HasSubstr("request 1, or whole GPUs"));
  EXPECT_TRUE(grant({"GPU-1::0"}, devices_));
  EXPECT_TRUE(grant({"GPU-1", "GPU-2"}, DevicesOf(inventory_))) << "whole GPUs";
}

}  // namespace
}  // namespace synergy::testing
