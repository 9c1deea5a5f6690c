#include "inventory/preference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/inventory/inventory_fixture.h"

namespace synergy::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> Ids(std::initializer_list<size_t> numbers) {
  std::vector<std::string> ids;
  for (const size_t number : numbers) ids.push_back(GpuId(number));
  return ids;
}

std::vector<std::string> AllIds(const GpuInventory& inventory) {
  std::vector<std::string> ids;
  for (const Gpu& gpu : inventory.gpus()) ids.push_back(gpu.uuid);
  return ids;
}

std::vector<std::string> Prefer(const GpuInventory& inventory,
                                const std::vector<std::string>& available, size_t size,
                                const std::vector<std::string>& required = {}) {
  const auto devices = DevicesOf(inventory);
  const auto chosen = PreferDevices(inventory, devices, available, required, size);
  EXPECT_TRUE(chosen.has_value()) << chosen.error().message;
  return chosen.value_or(std::vector<std::string>{});
}

struct Row {
  const char* what;
  GpuInventory inventory;
  std::initializer_list<size_t> available;  // if empty, all
  std::initializer_list<size_t> required;
  size_t size;
  std::initializer_list<size_t> expected;
};

TEST(PreferenceTest, TableOfTopologies) {
  const Row rows[] = {
      {"cube mesh: two GPUs with two links between them", Dgx1(), {}, {}, 2, {0, 3}},
      {"cube mesh: the pair with two links among what is free",
       Dgx1(),
       {0, 1, 2, 4},
       {},
       2,
       {1, 2}},
      {"cube mesh: two links across the NUMA nodes are less than one node",
       Dgx1(),
       {0, 1, 4},
       {},
       2,
       {0, 1}},
      {"cube mesh: four on one NUMA node", Dgx1(), {}, {}, 4, {0, 1, 2, 3}},
      {"cube mesh: the other node when this one is in use",
       Dgx1(),
       {1, 2, 4, 5, 6, 7},
       {},
       4,
       {4, 5, 6, 7}},
      {"cube mesh: three with the most links", Dgx1(), {}, {}, 3, {0, 2, 3}},
      {"cube mesh: all", Dgx1(), {}, {}, 8, {0, 1, 2, 3, 4, 5, 6, 7}},
      {"NVSwitch: one from the node that is broken into already",
       WithNvSwitch(8),
       {0, 1, 2, 4, 5, 6, 7},
       {},
       1,
       {0}},
      {"NVSwitch: one, where the second node is broken into",
       WithNvSwitch(8),
       {0, 1, 2, 3, 6, 7},
       {},
       1,
       {6}},
      {"NVSwitch: two fill the second node up", WithNvSwitch(8), {0, 1, 2, 3, 6, 7}, {}, 2, {6, 7}},
      {"NVSwitch: three do not fit there", WithNvSwitch(8), {0, 1, 2, 3, 6, 7}, {}, 3, {0, 1, 2}},
      {"NVSwitch: five need both nodes; a whole one and one more",
       WithNvSwitch(8),
       {},
       {},
       5,
       {0, 1, 2, 3, 4}},
      {"NVSwitch: what is required comes first", WithNvSwitch(8), {}, {5}, 2, {4, 5}},
      {"NVSwitch: what is required on both nodes", WithNvSwitch(8), {}, {0, 7}, 2, {0, 7}},
      {"16 GPUs: eight on one node", WithNvSwitch(16), {}, {}, 8, {0, 1, 2, 3, 4, 5, 6, 7}},
      {"PCIe: two on one switch", WithPcieSwitches(false), {1, 2, 3, 4}, {}, 2, {2, 3}},
      {"PCIe: one whose neighbour is taken", WithPcieSwitches(false), {0, 1, 2}, {}, 1, {2}},
      {"bridges: one whose partner is taken, before a pair is split",
       WithPcieSwitches(true),
       {0, 1, 3, 4, 5},
       {},
       1,
       {4}},
      {"bridges: two pairs for four",
       WithPcieSwitches(true),
       {0, 1, 2, 4, 5, 6, 7},
       {},
       4,
       {4, 5, 6, 7}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    const auto available = row.available.size() == 0 ? AllIds(row.inventory) : Ids(row.available);
    EXPECT_EQ(Prefer(row.inventory, available, row.size, Ids(row.required)), Ids(row.expected));
  }
}

TEST(PreferenceTest, TheAnswerDoesNotDependOnTheOrderOfTheQuestion) {
  const GpuInventory inventory = Dgx1();
  EXPECT_EQ(Prefer(inventory, Ids({7, 2, 5, 0, 3, 1}), 2),
            Prefer(inventory, Ids({0, 1, 2, 3, 5, 7}), 2));
}

TEST(PreferenceTest, MoreThanSixteenAreGrownOnOneNode) {
  const GpuInventory inventory = WithNvSwitch(32);
  const auto chosen = Prefer(inventory, AllIds(inventory), 16);
  ASSERT_THAT(chosen, SizeIs(16));
  for (const std::string& id : chosen)
    EXPECT_EQ(inventory.gpus()[*inventory.Find(id)].numa_node, 0) << id;
}

TEST(PreferenceTest, MoreThanSixtyFourAreTakenByPosition) {
  const GpuInventory inventory = WithNvSwitch(70);
  EXPECT_THAT(Prefer(inventory, AllIds(inventory), 3, Ids({69})),
              ElementsAre("GPU-69", "GPU-0", "GPU-1"));
}

TEST(PreferenceTest, NothingIsPreferredForNothing) {
  EXPECT_THAT(Prefer(Dgx1(), Ids({0, 1}), 0), IsEmpty());
}

TEST(PreferenceTest, ImpossiblePreferenceIsAnError) {
  const GpuInventory inventory = Dgx1();
  const auto devices = DevicesOf(inventory);
  const auto fails = [&](const std::vector<std::string>& available,
                         const std::vector<std::string>& required, size_t size) {
    const auto chosen = PreferDevices(inventory, devices, available, required, size);
    return !chosen && chosen.error().code == ErrorCode::kInvalid;
  };
  EXPECT_TRUE(fails(Ids({0, 1}), {}, 3)) << "too few";
  EXPECT_TRUE(fails({"GPU-0", "nobody"}, {}, 1)) << "an id that is not ours";
  EXPECT_TRUE(fails(Ids({0, 1}), Ids({2}), 1)) << "required but not available";
  EXPECT_TRUE(fails(Ids({0, 1}), Ids({0, 1}), 1)) << "more required than asked for";
}

TEST(PreferenceTest, ASliceIsOfTheGpuThatHasMostFree) {
  const GpuInventory inventory = Dgx1();
  AdvertisementRules rules;
  rules.replicas[rules.resource] = 3;
  const auto slices = Advertise(inventory, rules, [](std::string_view) {
                        return GpuHealth{};
                      }).resources.at("nvidia.com/gpu.shared");
  const auto prefer = [&](const std::vector<std::string>& available,
                          const std::vector<std::string>& required, size_t size) {
    return *PreferDevices(inventory, slices, available, required, size);
  };
  const std::vector<std::string> available = {"GPU-0::2", "GPU-1::0", "GPU-1::2", "GPU-2::1"};
  EXPECT_THAT(prefer(available, {}, 1), ElementsAre("GPU-1::0"));
  EXPECT_THAT(prefer(available, {"GPU-1::2"}, 2), ElementsAre("GPU-0::2", "GPU-1::2"));
  EXPECT_THAT(prefer(available, {}, 3), ElementsAre("GPU-0::2", "GPU-1::0", "GPU-1::2"));
  EXPECT_EQ(prefer(available, {}, 4), available);
}

}  // namespace
}  // namespace synergy::testing
