#include "inventory/other_advertiser.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

constexpr char kGpus[] = "nvidia.com/gpu";
const OwnOffer kOwn = {{kGpus}, {"GPU-a", "GPU-b", "MIG-c"}};

AdvertiserEvidence Offered(std::vector<KubeletDevice> devices) {
  AdvertiserEvidence evidence;
  evidence.offered = std::move(devices);
  return evidence;
}

AdvertiserEvidence Given(const std::string& resource, const std::string& id) {
  AdvertiserEvidence evidence;
  evidence.given = std::vector<DeviceOwner>{{resource, id, "team", "train", "main"}};
  return evidence;
}

TEST(OtherAdvertiserTest, NothingAndOursAreNoSign) {
  EXPECT_EQ(FindOtherAdvertiser({}, kOwn), std::nullopt);
  EXPECT_EQ(FindOtherAdvertiser(Offered({{kGpus, "GPU-a"}, {kGpus, "MIG-c"}}), kOwn), std::nullopt);
  EXPECT_EQ(FindOtherAdvertiser(Offered({{"rdma/hca", "mlx5_0"}, {"nvidia.com/x", "GPU-z"}}), kOwn),
            std::nullopt);
}

TEST(OtherAdvertiserTest, EachSignNamesWhatWasFound) {
  EXPECT_THAT(FindOtherAdvertiser({.dra_driver = "gpu.nvidia.com"}, kOwn),
              Optional(HasSubstr("gpu.nvidia.com")));
  EXPECT_THAT(FindOtherAdvertiser({.sockets = {"a.sock", "nvidia-gpu.sock"}}, kOwn),
              Optional(HasSubstr("NVIDIA's device plugin serves nvidia-gpu.sock")));
  EXPECT_THAT(FindOtherAdvertiser(Offered({{kGpus, "GPU-a"}, {kGpus, "GPU-z"}}), kOwn),
              Optional(HasSubstr("GPU-z of nvidia.com/gpu")));
  EXPECT_THAT(FindOtherAdvertiser(Offered({{kGpus, "nvidia0"}}), kOwn),
              Optional(HasSubstr("nvidia0")));
  EXPECT_THAT(FindOtherAdvertiser(Offered({{"nvidia.com/gpu.shared", "GPU-a::3"}}), kOwn),
              Optional(HasSubstr("GPU-a::3 as nvidia.com/gpu.shared")));
  EXPECT_THAT(FindOtherAdvertiser(Offered({{"example.com/gpu", "GPU-b"}}), kOwn),
              Optional(HasSubstr("GPU-b as example.com/gpu")));
}

TEST(OtherAdvertiserTest, OldDevicesOfContainersAreNoOtherAdvertiser) {
  // One GPU was taken out; another had this name under an earlier configuration.
  EXPECT_EQ(FindOtherAdvertiser(Given(kGpus, "GPU-old"), kOwn), std::nullopt);
  EXPECT_EQ(FindOtherAdvertiser(Given("nvidia.com/t4", "GPU-a"), kOwn), std::nullopt);
  // This plugin never gives these names.
  EXPECT_NE(FindOtherAdvertiser(Given(kGpus, "nvidia0"), kOwn), std::nullopt);
  EXPECT_NE(FindOtherAdvertiser(Given(kGpus, "GPU-a::0"), kOwn), std::nullopt);
  EXPECT_NE(FindOtherAdvertiser(Given("nvidia.com/gpu.shared", "GPU-a::0"), kOwn), std::nullopt);
}

// This plugin's own offer is never a sign of another plugin; one foreign device always is.
TEST(OtherAdvertiserTest, OneForeignDeviceAmongManyIsFound) {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    OwnOffer own;
    std::vector<KubeletDevice> devices;
    for (size_t number = 1 + random() % 16; number > 0; --number) {
      const std::string id = (random() % 2 == 0 ? "GPU-" : "MIG-") + std::to_string(random());
      const std::string resource = "nvidia.com/kind-" + std::to_string(random() % 3);
      own.ids.insert(id);
      own.resources.insert(resource);
      devices.push_back({resource, id});
    }
    for (size_t number = random() % 8; number > 0; --number)
      devices.push_back({"example.com/nic", std::to_string(random())});
    std::shuffle(devices.begin(), devices.end(), random);
    ASSERT_EQ(FindOtherAdvertiser(Offered(devices), own), std::nullopt);
    const KubeletDevice foreign = random() % 2 == 0
                                      ? KubeletDevice{*own.resources.begin(), "GPU-foreign"}
                                      : KubeletDevice{"other.com/gpu", *own.ids.begin() + "::1"};
    devices.insert(devices.begin() + static_cast<std::ptrdiff_t>(random() % (devices.size() + 1)),
                   foreign);
    ASSERT_THAT(FindOtherAdvertiser(Offered(devices), own), Optional(HasSubstr(foreign.id)));
  }
}

TEST(OtherAdvertiserTest, DevicesAreListedByResource) {
  EXPECT_FALSE(ListsDevices({}, kGpus));
  EXPECT_FALSE(ListsDevices(Offered({{"rdma/hca", "a"}}), kGpus));
  EXPECT_TRUE(ListsDevices(Offered({{"rdma/hca", "a"}, {kGpus, "b"}}), kGpus));
}

}  // namespace
}  // namespace synergy::testing
