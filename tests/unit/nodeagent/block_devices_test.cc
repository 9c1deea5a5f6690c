#include "nodeagent/cgroups/storage/block_devices.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace synergy::nodeagent {
namespace {

namespace fs = std::filesystem;

using ::testing::ElementsAre;
using ::testing::Optional;
using ::testing::Pair;

class BlockDevicesTest : public ::testing::Test {
 protected:
  BlockDevicesTest() { fs::create_directories(folder_.Path("dev/block")); }

  // Adds a device as sysfs shows it; returns its folder.
  std::string Add(const std::string& number, const std::string& path) {
    const std::string target = "devices/" + path;
    fs::create_directories(folder_.Path(target + "/slaves"));
    fs::create_directory_symlink("../../" + target, folder_.Path("dev/block/" + number));
    return folder_.Path(target);
  }

  testing::TemporaryFolder folder_;
  const BlockDevices devices_{folder_.Path("")};
};

TEST_F(BlockDevicesTest, DiskHasItsName) {
  Add("254:32", "pci0000:00/0000:00:03.0/virtio2/block/vdc");
  EXPECT_THAT(devices_.DiskOf({254, 32}), Optional(std::string("vdc")));
  EXPECT_EQ(devices_.DiskOf({254, 33}), std::nullopt) << "there is no such device";
}

TEST_F(BlockDevicesTest, DiskHasItsNumber) {
  EXPECT_EQ(devices_.NumberOf("vdc"), std::nullopt);
  fs::create_directories(folder_.Path("block/vdc"));
  std::ofstream(folder_.Path("block/vdc/dev")) << "254:32\n";
  EXPECT_THAT(devices_.NumberOf("vdc"), Optional(DeviceNumber{254, 32}));
}

TEST_F(BlockDevicesTest, PartitionIsPartOfItsDisk) {
  const std::string partition = Add("254:33", "virtio2/block/vdc/vdc1");
  std::ofstream(partition + "/partition") << "1\n";
  EXPECT_THAT(devices_.DiskOf({254, 33}), Optional(std::string("vdc")));
}

TEST_F(BlockDevicesTest, DeviceAboveOthersIsNoDisk) {
  const std::string mapped = Add("253:0", "virtual/block/dm-0");
  EXPECT_THAT(devices_.DiskOf({253, 0}), Optional(std::string("dm-0"))) << "nothing is below it";
  fs::create_directory(mapped + "/slaves/vdc2");
  EXPECT_EQ(devices_.DiskOf({253, 0}), std::nullopt);
  fs::create_directory(Add("7:0", "virtual/block/loop0") + "/loop");
  EXPECT_EQ(devices_.DiskOf({7, 0}), std::nullopt);
}

TEST_F(BlockDevicesTest, MemoryIsNoDisk) {
  Add("252:0", "virtual/block/zram0");
  Add("1:0", "virtual/block/ram0");
  EXPECT_EQ(devices_.DiskOf({252, 0}), std::nullopt);
  EXPECT_EQ(devices_.DiskOf({1, 0}), std::nullopt);
}

// The counters are the kernel's, for a group that has read 42 MB from a mapped volume.
TEST_F(BlockDevicesTest, ReadsOfAMappedVolumeCountOnce) {
  Add("254:32", "virtio2/block/vdc");
  fs::create_directory(Add("253:0", "virtual/block/dm-0") + "/slaves/vdc2");
  EXPECT_THAT(devices_.OfDisks({{{253, 0}, {42, 1}}, {{254, 32}, {42, 1}}, {{9, 9}, {5, 5}}}),
              ElementsAre(Pair("vdc", IoCount{42, 1})));
}

}  // namespace
}  // namespace synergy::nodeagent
