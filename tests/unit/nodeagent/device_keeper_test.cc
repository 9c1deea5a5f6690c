#include "nodeagent/devices/device_keeper.h"

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_clock.h"
#include "support/silent_log.h"
#include "unit/nodeagent/recorded_readings.h"

namespace synergy::nodeagent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

const DeviceReading kSafe{DeviceSafety::kSafe, "listed"};
const DeviceReading kUnsafe{DeviceSafety::kUnsafe, "not listed"};
const DeviceReading kUnknown{DeviceSafety::kUnknown, "cannot be seen"};

struct FakeDeviceGroups final : DeviceGroups {
  Result<DeviceReading> Read(const wire::ResizeStatus&,
                             const wire::ResizeStatus::Container& container) override {
    ++reads;
    const auto found = by_id.find(container.id);
    if (found == by_id.end()) return Fail(ErrorCode::kNotFound, "no such group");
    return found->second;
  }
  std::map<std::string, DeviceReading> by_id;
  int reads = 0;
};

class DeviceKeeperTest : public ::testing::Test {
 protected:
  static wire::ResizeStatus Pod(const std::string& name, const std::string& id) {
    wire::ResizeStatus pod;
    pod.uid = pod.name = name;
    pod.pod_namespace = "team";
    pod.managed = true;
    pod.containers.push_back({"train", id, {}, {}});
    ManagedContainer fungible;
    fungible.container = "train";
    pod.fungible = std::make_shared<const ManagedContainer>(std::move(fungible));
    return pod;
  }
  static DeviceReading Of(const std::string& id, DeviceReading reading) {
    reading.container = id;
    return reading;
  }
  static wire::ResizeStatus Changed(wire::ResizeStatus pod, auto change) {
    ManagedContainer fungible = *pod.fungible;
    change(fungible);
    pod.fungible = std::make_shared<const ManagedContainer>(std::move(fungible));
    return pod;
  }
  static wire::ResizeStatus WithReading(wire::ResizeStatus pod, const DeviceReading& reading) {
    const std::string id = pod.containers.front().id;
    return Changed(std::move(pod),
                   [&](ManagedContainer& fungible) { fungible.devices = Of(id, reading); });
  }
  void Steps(int count) {
    for (int i = 0; i < count; ++i) clock_.Advance(keeper_.Step());
  }

  synergy::testing::FakeClock clock_;
  synergy::testing::SilentLog log_;
  NodePods pods_;
  FakeDeviceGroups groups_;
  RecordedReadings writer_;
  DeviceKeeper keeper_{pods_, groups_, writer_, clock_, log_.log};
};

TEST_F(DeviceKeeperTest, WritesTheSafetyOfEachContainerOnce) {
  groups_.by_id = {{"id-a", kSafe}, {"id-b", kUnsafe}};
  pods_.Replace({Pod("a", "id-a"), Pod("b", "id-b")});
  Steps(1);
  EXPECT_THAT(writer_.devices,
              ElementsAre(Pair("a", Of("id-a", kSafe)), Pair("b", Of("id-b", kUnsafe))));
  pods_.Replace({WithReading(Pod("a", "id-a"), kSafe), WithReading(Pod("b", "id-b"), kUnsafe)});
  Steps(60);
  EXPECT_EQ(writer_.devices.size(), 2U);
  EXPECT_EQ(groups_.reads, 2 * 7) << "at once, and every ten seconds";
}

TEST_F(DeviceKeeperTest, AnotherContainerIsLookedAtAnew) {
  groups_.by_id = {{"id-1", kSafe}, {"id-2", kUnsafe}};
  pods_.Replace({Pod("a", "id-1")});
  Steps(1);
  pods_.Upsert(Changed(Pod("a", "id-2"),
                       [](ManagedContainer& fungible) { fungible.devices = Of("id-1", kSafe); }));
  Steps(1);
  EXPECT_THAT(writer_.devices,
              ElementsAre(Pair("a", Of("id-1", kSafe)), Pair("a", Of("id-2", kUnsafe))));
}

TEST_F(DeviceKeeperTest, WritesAgainIfThePodLacksTheAnnotation) {
  groups_.by_id = {{"id-a", kSafe}};
  pods_.Replace({Pod("a", "id-a")});
  Steps(5);
  EXPECT_EQ(writer_.devices.size(), 1U);
  Steps(10);
  EXPECT_EQ(writer_.devices.size(), 2U);
}

TEST_F(DeviceKeeperTest, ChecksUnknownContainersAgain) {
  pods_.Replace({Pod("a", "id-a")});
  Steps(3);
  EXPECT_THAT(writer_.devices, IsEmpty()) << "it has not begun, or ended";
  groups_.by_id = {{"id-a", kUnknown}};
  Steps(1);
  pods_.Upsert(WithReading(Pod("a", "id-a"), kUnknown));
  groups_.by_id = {{"id-a", kSafe}};
  Steps(12);
  EXPECT_THAT(writer_.devices,
              ElementsAre(Pair("a", Of("id-a", kUnknown)), Pair("a", Of("id-a", kSafe))));
}

TEST_F(DeviceKeeperTest, AContainerThatWasSafeUntilAResizeHasLostItsGpus) {
  groups_.by_id = {{"id-a", kSafe}};
  wire::ResizeStatus pod = WithReading(Pod("a", "id-a"), kSafe);
  pods_.Replace({pod});
  Steps(2);
  groups_.by_id = {{"id-a", kUnsafe}};
  pods_.Upsert(
      Changed(pod, [](ManagedContainer& fungible) { fungible.set_aside.cpu = MilliCpu(300); }));
  Steps(1);
  ASSERT_EQ(writer_.devices.size(), 1U) << "the kubelet's report makes the keeper read it at once";
  const DeviceReading lost = writer_.devices.front().second;
  EXPECT_EQ(lost.safety, DeviceSafety::kLost);
  EXPECT_THAT(lost.why, HasSubstr("create the pod again"));
  pods_.Upsert(WithReading(Pod("a", "id-a"), lost));
  groups_.by_id = {{"id-a", kUnknown}};
  Steps(60);
  EXPECT_EQ(writer_.devices.size(), 1U) << "nothing shows that it has them again";
  groups_.by_id = {{"id-a", kSafe}};
  Steps(10);
  EXPECT_THAT(writer_.devices, ElementsAre(Pair("a", lost), Pair("a", Of("id-a", kSafe))));
}

TEST_F(DeviceKeeperTest, SeesAChangeThatTheKubeletDoesNotReport) {
  groups_.by_id = {{"id-a", kSafe}};
  pods_.Replace({WithReading(Pod("a", "id-a"), kSafe)});
  Steps(2);
  groups_.by_id = {{"id-a", kUnsafe}};
  Steps(12);
  ASSERT_EQ(writer_.devices.size(), 1U);
  EXPECT_EQ(writer_.devices.front().second.safety, DeviceSafety::kLost);
}

TEST_F(DeviceKeeperTest, KnowsWhatAnEarlierProcessHasRead) {
  groups_.by_id = {{"id-a", kUnsafe}, {"id-b", kUnsafe}, {"id-2", kUnsafe}};
  pods_.Replace({WithReading(Pod("a", "id-a"), kSafe),
                 WithReading(Pod("b", "id-b"), {DeviceSafety::kLost, "gone"}),
                 Changed(Pod("c", "id-2"), [](ManagedContainer& fungible) {
                   fungible.devices = Of("id-1", kSafe);
                 })});
  Steps(1);
  ASSERT_EQ(writer_.devices.size(), 3U);
  EXPECT_EQ(writer_.devices[0].second.safety, DeviceSafety::kLost);
  EXPECT_EQ(writer_.devices[1].second.safety, DeviceSafety::kLost);
  EXPECT_EQ(writer_.devices[2].second.safety, DeviceSafety::kUnsafe) << "of another container";
}

TEST_F(DeviceKeeperTest, ReportsThatAnUnsafeContainerHasBeenResized) {
  groups_.by_id = {{"id-a", kUnsafe}};
  pods_.Replace({WithReading(Pod("a", "id-a"), kUnsafe)});
  Steps(2);
  groups_.by_id["id-a"].resized = true;
  Steps(12);
  ASSERT_EQ(writer_.devices.size(), 1U);
  EXPECT_EQ(writer_.devices.front().second.safety, DeviceSafety::kUnsafe);
  EXPECT_TRUE(writer_.devices.front().second.resized);
}

TEST_F(DeviceKeeperTest, IgnoresUnmanagedPods) {
  groups_.by_id = {{"id-a", kSafe}};
  wire::ResizeStatus pod = Pod("a", "id-a");
  pod.managed = false;
  pods_.Replace({pod});
  Steps(2);
  EXPECT_THAT(writer_.devices, IsEmpty());
}

}  // namespace
}  // namespace synergy::nodeagent
