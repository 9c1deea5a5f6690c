#include "nodeagent/devices/device_allow.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace synergy::nodeagent {
namespace {

using ::testing::HasSubstr;

// The devices that runc allows every container.
constexpr const char* kUsual =
    "[Scope]\nDevicePolicy=strict\nDeviceAllow=char-pts rwm\nDeviceAllow=/dev/char/10:200 rwm\n"
    "DeviceAllow=/dev/char/5:0 rwm\nDeviceAllow=/dev/char/1:5 rwm\nDeviceAllow=char-* m\n"
    "DeviceAllow=block-* m\n";
constexpr const char* kControl = "DeviceAllow=/dev/char/195:255 rw\n";
constexpr const char* kGpu = "DeviceAllow=/dev/char/195:0 rw\n";

DeviceSafety Judge(const std::vector<std::string>& files, const GpuMajors& majors = {}) {
  return JudgeScope(files, majors).safety;
}

TEST(JudgeScopeTest, AGpuThatTheScopeListsStays) {
  EXPECT_EQ(Judge({kUsual, kControl, "DeviceAllow=/dev/char/195:3 rw\n"}), DeviceSafety::kSafe);
}

TEST(JudgeScopeTest, AGpuThatItDoesNotListGoes) {
  EXPECT_EQ(Judge({kUsual}), DeviceSafety::kUnsafe);
  EXPECT_EQ(Judge({kUsual, kControl}), DeviceSafety::kUnsafe) << "what GPUs share is no GPU";
  EXPECT_EQ(Judge({kUsual, "DeviceAllow=/dev/char/195:254 rw\n", kControl}), DeviceSafety::kUnsafe);
  EXPECT_EQ(Judge({kUsual, "DeviceAllow=/dev/char/231:192 rw\n"}), DeviceSafety::kUnsafe)
      << "another plugin's device is no GPU";
}

TEST(JudgeScopeTest, AGpuIsOfNoUseWithoutWhatGpusShare) {
  EXPECT_EQ(Judge({kUsual, kGpu}), DeviceSafety::kUnsafe);
  const GpuMajors with_uvm{.nvidia = true, .nvidia_uvm = {511}, .kfd = {}};
  EXPECT_EQ(Judge({kUsual, kGpu, kControl}, with_uvm), DeviceSafety::kUnsafe);
  EXPECT_EQ(Judge({kUsual, kGpu, kControl, "DeviceAllow=/dev/char/511:0 rw\n"}, with_uvm),
            DeviceSafety::kSafe);
}

TEST(JudgeScopeTest, DevicesNeedReadAndWriteAccess) {
  EXPECT_EQ(Judge({kControl, "DeviceAllow=/dev/char/195:0 m\n"}), DeviceSafety::kUnsafe);
  EXPECT_EQ(Judge({kControl, "DeviceAllow=/dev/char/195:0 r\n"}), DeviceSafety::kUnsafe);
  EXPECT_EQ(Judge({kControl, "DeviceAllow=/dev/char/195:0\n"}), DeviceSafety::kSafe);
}

TEST(JudgeScopeTest, AnEmptyListTakesBackWhatWasBefore) {
  EXPECT_EQ(Judge({kControl, "DeviceAllow=/dev/char/195:0 rw\n", "DeviceAllow=\n"}),
            DeviceSafety::kUnsafe);
}

TEST(JudgeScopeTest, ScopeThatAllowsEveryDeviceIsSafe) {
  EXPECT_EQ(Judge({"DeviceAllow=block-* rwm\nDeviceAllow=char-* rwm\n"}), DeviceSafety::kSafe);
}

TEST(JudgeScopeTest, AmdsGpusAreSeen) {
  const GpuMajors majors{.nvidia = false, .nvidia_uvm = {}, .kfd = {237}};
  const std::string render = "DeviceAllow=/dev/char/226:128 rw\n";
  EXPECT_EQ(Judge({render, "DeviceAllow=/dev/char/237:0 rw\n"}, majors), DeviceSafety::kSafe);
  EXPECT_EQ(Judge({render}, majors), DeviceSafety::kUnsafe);
}

TEST(JudgeScopeTest, IgnoresOddLines) {
  EXPECT_EQ(Judge({"DeviceAllow=/dev/char/195\nDeviceAllow=/dev/char/x:0 rw\nDeviceAllow= \n"
                   "DeviceAllow=/dev/char/195:99999999999 rw\n\n=\nDeviceAllow\n"}),
            DeviceSafety::kUnsafe);
}

TEST(GpuMajorsTest, AreThoseOfTheDriver) {
  const GpuMajors majors = ParseGpuMajors(
      "Character devices:\n  1 mem\n195 nvidia\n237 kfd\n511 nvidia-uvm\n\nBlock devices:\n"
      "  8 sd\n254 kfd\n");
  EXPECT_TRUE(majors.nvidia);
  EXPECT_EQ(majors.nvidia_uvm, std::set<int>{511});
  EXPECT_EQ(majors.kfd, std::set<int>{237});
}

constexpr const char* kScope = "cri-containerd-90d9.scope";

class DeviceGroupsTest : public ::testing::Test {
 protected:
  DeviceGroupsTest() {
    pod_.uid = "1a";
    pod_.qos_class = wire::QosClass::kBurstable;
    pod_.containers.push_back({"train", "containerd://90d9", {}, {}});
  }
  void Write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(folder_.Path(name)).parent_path());
    std::ofstream(folder_.Path(name)) << text;
  }
  // Writes a file of the container's scope, which has been written some seconds after its start.
  void WriteUnit(const std::string& name, const std::string& text, int after) {
    const std::string file = std::string("units/") + kScope + name;
    Write(file, text);
    std::filesystem::last_write_time(folder_.Path(file), start_ + std::chrono::seconds(after));
  }
  void RunUnderSystemd() {
    Write(std::string("cgroup/kubepods.slice/kubepods-burstable.slice/"
                      "kubepods-burstable-pod1a.slice/") +
              kScope + "/cpu.stat",
          "");
  }
  Result<DeviceReading> Read(const std::string& gpu_resource = "nvidia.com/gpu") {
    return FindDeviceGroups(folder_.Path("cgroup"), "/", folder_.Path("units"), gpu_resource)
        ->Read(pod_, pod_.containers.front());
  }

  synergy::testing::TemporaryFolder folder_;
  wire::ResizeStatus pod_;
  const std::filesystem::file_time_type start_ =
      std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
};

TEST_F(DeviceGroupsTest, UsesTheScopeFilesUnderSystemd) {
  RunUnderSystemd();
  EXPECT_EQ(Read()->safety, DeviceSafety::kUnknown) << "systemd's files are not there";
  Write(std::string("units/") + kScope, kUsual);
  EXPECT_EQ(Read()->safety, DeviceSafety::kUnsafe);
  Write(std::string("units/") + kScope + ".d/50-DeviceAllow.conf",
        "[Scope]\nDeviceAllow=\nDeviceAllow=/dev/char/195:0 rw\n");
  Write(std::string("units/") + kScope + ".d/51-More.conf", kControl);
  Write(std::string("units/") + kScope + ".d/99-old.conf~", "DeviceAllow=\n");
  const auto reading = Read();
  EXPECT_EQ(reading->safety, DeviceSafety::kSafe) << reading->why;
}

TEST_F(DeviceGroupsTest, SeesThatSystemdHasChangedTheScope) {
  RunUnderSystemd();
  WriteUnit("", "[Scope]\n", 0);
  WriteUnit(".d/50-DeviceAllow.conf", kUsual, 0);
  WriteUnit(".d/50-CPUWeight.conf", "[Scope]\nCPUWeight=4\n", 1);
  EXPECT_EQ(Read()->safety, DeviceSafety::kUnsafe);
  EXPECT_FALSE(Read()->resized) << "the runtime wrote both files when it created the container";
  WriteUnit(".d/50-CPUWeight.conf", "[Scope]\nCPUWeight=8\n", 20);
  EXPECT_TRUE(Read()->resized);
  WriteUnit(".d/50-DeviceAllow.conf", std::string(kUsual) + kControl + kGpu, 0);
  EXPECT_EQ(Read()->safety, DeviceSafety::kSafe);
  EXPECT_FALSE(Read()->resized) << "that costs it nothing";
}

TEST_F(DeviceGroupsTest, DoesNotJudgeTheDevicesOfOtherMakers) {
  RunUnderSystemd();
  WriteUnit(".d/50-DeviceAllow.conf", kUsual, 0);
  WriteUnit(".d/50-CPUWeight.conf", "[Scope]\nCPUWeight=8\n", 20);
  EXPECT_EQ(Read("amd.com/gpu")->safety, DeviceSafety::kUnsafe);
  const auto reading = Read("example.com/accelerator");
  EXPECT_EQ(reading->safety, DeviceSafety::kUnknown);
  EXPECT_FALSE(reading->resized);
  EXPECT_THAT(reading->why, HasSubstr("example.com/accelerator"));
}

TEST_F(DeviceGroupsTest, UsesTheCgroupVersionWithoutSystemd) {
  Write("cgroup/kubepods/burstable/pod1a/90d9/cpu.stat", "");
  EXPECT_EQ(Read()->safety, DeviceSafety::kUnknown);
  Write("cgroup/memory/memory.usage_in_bytes", "0");
  Write("cgroup/memory/kubepods/burstable/pod1a/90d9/memory.stat", "");
  EXPECT_EQ(Read()->safety, DeviceSafety::kSafe);
}

TEST_F(DeviceGroupsTest, AContainerThatHasEndedIsNotFound) {
  EXPECT_EQ(Read().error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace synergy::nodeagent
