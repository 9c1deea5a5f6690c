#include "inventory/advertisement.h"

#include <algorithm>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inventory/container_access.h"
#include "unit/inventory/inventory_fixture.h"

namespace synergy::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

GpuHealth Healthy(std::string_view /*uuid*/) { return {}; }

std::vector<std::string> IdsOf(const Advertisement& advertisement, const std::string& resource) {
  std::vector<std::string> ids;
  const auto found = advertisement.resources.find(resource);
  if (found == advertisement.resources.end()) return {"no such resource"};
  for (const GpuDevice& device : found->second) ids.push_back(device.id);
  return ids;
}

GpuInventory TwoProducts() {
  std::vector<Gpu> gpus = MakeGpus(4, 2);
  gpus[2].product = gpus[3].product = "NVIDIA T4";
  return GpuInventory(gpus);
}

// Returns GPU-0 in MIG mode with two parts of these profiles, and GPU-1 without MIG.
GpuInventory WithMig(const std::string& first, const std::string& second) {
  std::vector<Gpu> gpus = MakeGpus(2, 1);
  gpus[0].mig_enabled = true;
  gpus[0].mig_devices = {{"MIG-0", first, GiB(5), {}}, {"MIG-1", second, GiB(5), {}}};
  return GpuInventory(gpus);
}

TEST(AdvertisementTest, EveryGpuIsADeviceOfTheResource) {
  const auto advertisement = Advertise(GpuInventory(MakeGpus(2, 2)), {}, Healthy);
  ASSERT_EQ(advertisement.resources.size(), 1U);
  EXPECT_THAT(IdsOf(advertisement, "nvidia.com/gpu"), ElementsAre("GPU-0", "GPU-1"));
  EXPECT_EQ(advertisement.resources.at("nvidia.com/gpu")[1].numa_node, 1);
  EXPECT_THAT(advertisement.left_out, IsEmpty());
}

TEST(AdvertisementTest, HealthComesWithItsReason) {
  const auto advertisement =
      Advertise(GpuInventory(MakeGpus(2, 2)), {}, [](std::string_view uuid) -> GpuHealth {
        return {uuid != "GPU-1", uuid == "GPU-1" ? "Xid 79" : ""};
      });
  const auto& devices = advertisement.resources.at("nvidia.com/gpu");
  EXPECT_TRUE(devices[0].health.healthy);
  EXPECT_EQ(devices[1].health.reason, "Xid 79");
}

TEST(AdvertisementTest, ProductsBecomeResourcesByTheFirstRuleThatMatches) {
  AdvertisementRules rules;
  rules.rules = {{"*A100*", "nvidia.com/a100"}, {"*", "nvidia.com/other"}};
  const auto advertisement = Advertise(TwoProducts(), rules, Healthy);
  EXPECT_THAT(IdsOf(advertisement, "nvidia.com/a100"), ElementsAre("GPU-0", "GPU-1"));
  EXPECT_THAT(IdsOf(advertisement, "nvidia.com/other"), ElementsAre("GPU-2", "GPU-3"));
  EXPECT_EQ(advertisement.resources.size(), 2U);
}

TEST(AdvertisementTest, GpusWithoutARuleKeepTheGeneralName) {
  AdvertisementRules rules;
  rules.rules = {{"NVIDIA T4", "nvidia.com/t4"}};
  const auto advertisement = Advertise(TwoProducts(), rules, Healthy);
  EXPECT_THAT(IdsOf(advertisement, "nvidia.com/gpu"), ElementsAre("GPU-0", "GPU-1"));
}

TEST(AdvertisementTest, AResourceThatLostItsLastDeviceIsStillThere) {
  const auto advertisement = Advertise(GpuInventory(), {}, Healthy, {"nvidia.com/t4"});
  EXPECT_THAT(IdsOf(advertisement, "nvidia.com/t4"), IsEmpty());
  EXPECT_THAT(IdsOf(advertisement, "nvidia.com/gpu"), IsEmpty());
}

TEST(AdvertisementTest, GpusInMigModeAreLeftOutAndNamed) {
  const auto advertisement = Advertise(WithMig("1g.5gb", "1g.5gb"), {}, Healthy);
  EXPECT_THAT(IdsOf(advertisement, "nvidia.com/gpu"), ElementsAre("GPU-1"));
  ASSERT_EQ(advertisement.left_out.size(), 1U);
  EXPECT_TRUE(advertisement.left_out.contains("GPU-0"));
}

// Returns the same, but the second GPU is a T4, which has no MIG devices.
GpuInventory WithMigBesideAT4(const std::string& first, const std::string& second) {
  std::vector<Gpu> gpus = WithMig(first, second).gpus();
  gpus[1].product = "NVIDIA T4";
  return GpuInventory(gpus);
}

AdvertisementRules SingleWithA100s() {
  AdvertisementRules rules;
  rules.mig_strategy = MigStrategy::kSingle;
  rules.rules = {{"*A100*", "nvidia.com/a100"}};
  return rules;
}

TEST(AdvertisementTest, TheSingleStrategyCountsPartsAsGpus) {
  const auto advertisement =
      Advertise(WithMigBesideAT4("1g.5gb", "1g.5gb"), SingleWithA100s(), Healthy);
  EXPECT_THAT(IdsOf(advertisement, "nvidia.com/a100"), ElementsAre("MIG-0", "MIG-1"));
  EXPECT_THAT(IdsOf(advertisement, "nvidia.com/gpu"), ElementsAre("GPU-1"));
  EXPECT_THAT(advertisement.left_out, IsEmpty());
}

TEST(AdvertisementTest, TheSingleStrategyLeavesPartsOutThatAreNotAlike) {
  const auto advertisement =
      Advertise(WithMigBesideAT4("1g.5gb", "2g.10gb"), SingleWithA100s(), Healthy);
  EXPECT_THAT(IdsOf(advertisement, "nvidia.com/gpu"), ElementsAre("GPU-1"));
  EXPECT_THAT(advertisement.left_out.at("GPU-0"), HasSubstr("several profiles"));
}

// A pod would get either, although one is seven times the other.
TEST(AdvertisementTest, TheSingleStrategyLeavesPartsOutBesideWholeGpus) {
  AdvertisementRules rules;
  rules.mig_strategy = MigStrategy::kSingle;
  const auto advertisement = Advertise(WithMig("1g.5gb", "1g.5gb"), rules, Healthy);
  EXPECT_THAT(IdsOf(advertisement, "nvidia.com/gpu"), ElementsAre("GPU-1"));
  EXPECT_THAT(advertisement.left_out.at("GPU-0"), HasSubstr("beside whole GPUs"));
}

TEST(AdvertisementTest, TheMixedStrategyNamesProfiles) {
  AdvertisementRules rules;
  rules.mig_strategy = MigStrategy::kMixed;
  const auto advertisement = Advertise(WithMig("1g.5gb", "1g.5gb+me"), rules, Healthy);
  EXPECT_THAT(IdsOf(advertisement, "nvidia.com/mig-1g.5gb"), ElementsAre("MIG-0"));
  EXPECT_THAT(IdsOf(advertisement, "nvidia.com/mig-1g.5gb.me"), ElementsAre("MIG-1"));
  EXPECT_THAT(IdsOf(advertisement, "nvidia.com/gpu"), ElementsAre("GPU-1"));
}

TEST(AdvertisementTest, APartIsNoBetterThanItsGpuAndMayBeWorse) {
  AdvertisementRules rules;
  rules.mig_strategy = MigStrategy::kMixed;
  const auto reasons = [&](const std::string& unhealthy) {
    const auto advertisement =
        Advertise(WithMig("1g.5gb", "1g.5gb"), rules, [&](std::string_view uuid) -> GpuHealth {
          return {uuid != unhealthy, uuid == unhealthy ? "Xid 94" : ""};
        });
    const auto& parts = advertisement.resources.at("nvidia.com/mig-1g.5gb");
    return std::vector<std::string>{parts[0].health.reason, parts[1].health.reason};
  };
  EXPECT_THAT(reasons("MIG-1"), ElementsAre("", "Xid 94"));
  EXPECT_THAT(reasons("GPU-0"), ElementsAre("Xid 94", "Xid 94"));
}

TEST(PatternTest, StarsAndQuestionMarks) {
  EXPECT_TRUE(MatchesPattern("*", ""));
  EXPECT_TRUE(MatchesPattern("NVIDIA A100*", "NVIDIA A100-SXM4-80GB"));
  EXPECT_TRUE(MatchesPattern("*A?00*80GB", "NVIDIA A100-SXM4-80GB"));
  EXPECT_TRUE(MatchesPattern("a*b*c", "aXbYbZc"));
  EXPECT_FALSE(MatchesPattern("A100", "NVIDIA A100"));
  EXPECT_FALSE(MatchesPattern("a*b", "ac"));
  EXPECT_FALSE(MatchesPattern("?", ""));
  EXPECT_FALSE(MatchesPattern("", "a"));
}

AdvertisementRules InSlices(int replicas) {
  AdvertisementRules rules;
  rules.replicas["nvidia.com/gpu"] = replicas;
  return rules;
}

TEST(AdvertisementTest, SharedGpusAreOfferedInSlicesWithoutNumaNodesUnderTheirOwnName) {
  const auto advertisement = Advertise(GpuInventory(MakeGpus(2, 2)), InSlices(2), Healthy);
  ASSERT_EQ(advertisement.resources.size(), 1U);
  EXPECT_THAT(IdsOf(advertisement, "nvidia.com/gpu.shared"),
              ElementsAre("GPU-0::0", "GPU-0::1", "GPU-1::0", "GPU-1::1"));
  for (const GpuDevice& slice : advertisement.resources.at("nvidia.com/gpu.shared"))
    EXPECT_EQ(slice.numa_node, kNoNuma) << slice.id;
  EXPECT_EQ(advertisement.replicas.at("nvidia.com/gpu.shared"), 2);
}

TEST(AdvertisementTest, GpusInTurnsAreOfferedUnderAnotherName) {
  AdvertisementRules rules;
  rules.turns["nvidia.com/gpu"] = 2;
  const auto advertisement = Advertise(GpuInventory(MakeGpus(2, 2)), rules, Healthy);
  ASSERT_EQ(advertisement.resources.size(), 1U);
  EXPECT_THAT(IdsOf(advertisement, "nvidia.com/gpu.turns"),
              ElementsAre("GPU-0::0", "GPU-0::1", "GPU-1::0", "GPU-1::1"));
  for (const GpuDevice& place : advertisement.resources.at("nvidia.com/gpu.turns"))
    EXPECT_EQ(place.numa_node, kNoNuma) << place.id;
  EXPECT_EQ(ReplicasOf(advertisement), 2);
  EXPECT_TRUE(AreAllInTurns(advertisement));
  EXPECT_FALSE(AreAllInTurns(Advertise(GpuInventory(MakeGpus(2, 2)), InSlices(2), Healthy)));
}

TEST(AdvertisementTest, AGpuThatFailsTakesAllItsSlicesWithIt) {
  const auto advertisement =
      Advertise(GpuInventory(MakeGpus(2, 1)), InSlices(3),
                [](std::string_view uuid) -> GpuHealth { return {uuid != "GPU-1", "Xid 79"}; });
  for (const GpuDevice& slice : advertisement.resources.at("nvidia.com/gpu.shared"))
    EXPECT_EQ(slice.health.healthy, slice.gpu == 0) << slice.id;
}

TEST(AdvertisementTest, PartsOfGpusInMigModeAreSharedToo) {
  AdvertisementRules rules = InSlices(2);
  rules.mig_strategy = MigStrategy::kSingle;
  std::vector<Gpu> gpus = WithMig("1g.5gb", "1g.5gb").gpus();
  gpus.pop_back();
  const auto advertisement = Advertise(GpuInventory(gpus), rules, Healthy);
  EXPECT_THAT(IdsOf(advertisement, "nvidia.com/gpu.shared"),
              ElementsAre("MIG-0::0", "MIG-0::1", "MIG-1::0", "MIG-1::1"));
}

TEST(AdvertisementTest, OneResourceIsSharedAndTheOtherWhole) {
  AdvertisementRules rules;
  rules.rules = {{"*A100*", "nvidia.com/a100"}, {"*", "nvidia.com/other"}};
  rules.replicas["nvidia.com/a100"] = 2;
  const auto advertisement = Advertise(TwoProducts(), rules, Healthy);
  EXPECT_THAT(IdsOf(advertisement, "nvidia.com/a100.shared"),
              ElementsAre("GPU-0::0", "GPU-0::1", "GPU-1::0", "GPU-1::1"));
  EXPECT_THAT(IdsOf(advertisement, "nvidia.com/other"), ElementsAre("GPU-2", "GPU-3"));
  EXPECT_THAT(IdsOf(advertisement, "nvidia.com/a100"), ElementsAre("no such resource"));
  EXPECT_EQ(ReplicasOf(advertisement), 0) << "some are whole";
}

TEST(AdvertisementTest, ANodeWithoutTheSharedProductOffersNoSlices) {
  AdvertisementRules rules;
  rules.rules = {{"*H100*", "nvidia.com/h100"}, {"*", "nvidia.com/other"}};
  rules.replicas["nvidia.com/h100"] = 4;
  const auto advertisement = Advertise(TwoProducts(), rules, Healthy);
  EXPECT_THAT(advertisement.replicas, IsEmpty());
  EXPECT_FALSE(advertisement.resources.contains("nvidia.com/h100.shared"));
  EXPECT_EQ(ReplicasOf(advertisement), 0);
}

TEST(AdvertisementTest, TheSlicesOfANodeAreTheSameForAllOrNone) {
  AdvertisementRules rules;
  rules.rules = {{"*A100*", "nvidia.com/a100"}, {"*", "nvidia.com/other"}};
  rules.replicas = {{"nvidia.com/a100", 2}, {"nvidia.com/other", 2}};
  EXPECT_EQ(ReplicasOf(Advertise(TwoProducts(), rules, Healthy)), 2);
  rules.replicas["nvidia.com/other"] = 3;
  EXPECT_EQ(ReplicasOf(Advertise(TwoProducts(), rules, Healthy)), 0);
  EXPECT_EQ(ReplicasOf(Advertise(GpuInventory(), rules, Healthy)), 0);
}

TEST(AdvertisementTest, WholeGpusAreWithdrawnOnceTheyAreShared) {
  const auto advertisement =
      Advertise(GpuInventory(MakeGpus(1, 1)), InSlices(2), Healthy, {"nvidia.com/gpu"});
  EXPECT_THAT(IdsOf(advertisement, "nvidia.com/gpu"), IsEmpty());
  EXPECT_THAT(IdsOf(advertisement, "nvidia.com/gpu.shared"), ElementsAre("GPU-0::0", "GPU-0::1"));
}

TEST(AdvertisementTest, AGpuWhoseSlicesHaveTooLongNamesIsLeftOut) {
  std::vector<Gpu> gpus = MakeGpus(2, 1);
  gpus[0].uuid = std::string(kLongestDeviceId - 2, 'x');
  const auto advertisement = Advertise(GpuInventory(gpus), InSlices(2), Healthy);
  EXPECT_THAT(IdsOf(advertisement, "nvidia.com/gpu.shared"), ElementsAre("GPU-1::0", "GPU-1::1"));
  EXPECT_THAT(advertisement.left_out.at(gpus[0].uuid), HasSubstr("longer name than 63"));
}

// The kubelet gives any free device that was last listed, whatever is preferred. The plugin is
// restarted before each choice.
TEST(AdvertisementTest, InAnyOrderOfChoicesAndRestartsNoGpuHasMoreContainersThanSlices) {
  const GpuInventory inventory(MakeGpus(3, 1));
  constexpr int kReplicas = 2;
  std::vector<std::string> order =
      IdsOf(Advertise(inventory, InSlices(kReplicas), Healthy), "nvidia.com/gpu.shared");
  ASSERT_EQ(order.size(), 6U);
  do {
    std::map<std::string, int> containers;  // GPU -> number of containers
    for (const std::string& chosen : order) {
      const auto offered = Advertise(inventory, InSlices(kReplicas), Healthy);
      const auto access =
          GrantAccess(inventory, offered.resources.at("nvidia.com/gpu.shared"), {&chosen, 1}, {});
      ASSERT_TRUE(access) << chosen;
      ASSERT_LE(++containers[access->environment.at("NVIDIA_VISIBLE_DEVICES")], kReplicas);
    }
    ASSERT_EQ(containers.size(), 3U);
  } while (std::next_permutation(order.begin(), order.end()));
}

}  // namespace
}  // namespace synergy::testing
