#include "nodeagent/cgroups/storage/storage_divider.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_clock.h"
#include "support/recorded_events.h"
#include "support/silent_log.h"
#include "support/temporary_folder.h"

namespace synergy::nodeagent {
namespace {

namespace fs = std::filesystem;

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

// Acts as the guardian.
struct FakeCapFiles {
  Result<> Begin(const std::string& file, const std::string& text, Duration time) {
    if (refuses) return Fail(ErrorCode::kUnavailable, "the guardian is gone");
    if (texts.contains(file)) return Fail(ErrorCode::kConflict, "already written");
    texts[file] = text;
    longest = time;
    ++begun;
    return {};
  }
  Result<> End(const std::string& file) {
    if (texts.erase(file) == 0) return Fail(ErrorCode::kNotFound, "not written");
    return {};
  }

  std::map<std::string, std::string> texts;  // file -> text
  Duration longest{};
  int begun = 0;
  bool refuses = false;
};

// Tests a node with a disk of 40 MB/s, a greedy pod (hog), and a pod that needs a third of the
// disk.
class StorageDividerTest : public ::testing::Test {
 protected:
  StorageDividerTest() {
    fs::create_directories(folder_.Path("sys/block/vdb"));
    std::ofstream(folder_.Path("sys/block/vdb/dev")) << "254:16\n";
    for (const char* name : {"hog", "modest"}) pods_.Upsert(Pod(name, name));
  }

  wire::ResizeStatus Pod(const std::string& name, const std::string& container) {
    wire::ResizeStatus pod;
    pod.uid = "uid" + name;
    pod.pod_namespace = "team";
    pod.name = name;
    pod.qos_class = wire::QosClass::kBurstable;
    pod.containers.push_back({"train", "containerd://" + container, {}, {}});
    ManagedContainer fungible;
    fungible.container = "train";
    pod.fungible = std::make_shared<const ManagedContainer>(fungible);
    fs::create_directories(Group(name, container));
    return pod;
  }
  std::string Group(const std::string& name, const std::string& container) {
    return folder_.Path(fmt::format("cgroup/kubepods/burstable/poduid{}/{}", name, container));
  }
  static StorageUse Use(double read, double waited) {
    return {.backend = "vdb", .read = read, .waited = waited, .all = 40e6, .bandwidth = 40e6};
  }
  void Look(double hog = 34e6, double modest = 6e6) {
    clock_.Advance(seconds(10));
    std::map<std::string, StorageUse> uses = {{"uidhog", Use(hog, 1)}};
    if (modest > 0) uses.emplace("uidmodest", Use(modest, 1 - modest / 13.6e6));
    divider_.Divide(uses);
  }
  // Looks until the hog has a cap.
  void Cap() {
    for (int look = 0; look < 8; ++look) Look();
    ASSERT_THAT(writer_.texts, SizeIs(1));
  }

  testing::TemporaryFolder folder_;
  testing::FakeClock clock_;
  testing::SilentSink sink_;
  Logger log_{sink_, clock_, LogLevel::kDebug, LogFormat::kText};
  metrics::NodeAgentMetrics metrics_;
  testing::RecordedEvents events_;
  NodePods pods_;
  FakeCapFiles writer_;
  StorageDivider divider_{pods_,
                          CgroupFolders(folder_.Path("cgroup"), "/"),
                          BlockDevices(folder_.Path("sys")),
                          {[this](const std::string& file, const std::string& text, Duration time) {
                             return writer_.Begin(file, text, time);
                           },
                           [this](const std::string& file) { return writer_.End(file); }},
                          clock_,
                          log_,
                          events_,
                          metrics_};
};

TEST_F(StorageDividerTest, TheHogsContainerIsCappedAndItsPodHasAnEvent) {
  Cap();
  EXPECT_THAT(writer_.texts,
              ElementsAre(Pair(Group("hog", "hog") + "/io.max", "254:16 rbps=27352000")));
  EXPECT_EQ(writer_.longest, StorageDivider::kLongest);
  EXPECT_THAT(events_.lines(),
              ElementsAre("SynergyStorageCap hog: May read 27.4 MB/s from disk vdb, because "
                          "team/modest waits for it 56 % of the time"));
  ASSERT_THAT(divider_.in_force(), SizeIs(1));
  EXPECT_EQ(divider_.in_force().at("uidhog").disk, "vdb");
}

TEST_F(StorageDividerTest, ACapIsRenewedBeforeItEndsAndHasOneEvent) {
  Cap();
  const int begun = writer_.begun;
  for (Duration past{}; past < minutes(10); past += seconds(10)) {
    Look(27.5e6, 12.4e6);
    ASSERT_THAT(writer_.texts, SizeIs(1));
  }
  EXPECT_GE(writer_.begun - begun, 9);
  EXPECT_THAT(events_.reasons(), SizeIs(1));
}

TEST_F(StorageDividerTest, ACapEndsWhenNoOtherPodReads) {
  Cap();
  for (int look = 0; look < 6; ++look) Look(27.5e6, 0);
  EXPECT_THAT(writer_.texts, IsEmpty());
  EXPECT_THAT(divider_.in_force(), IsEmpty());
}

TEST_F(StorageDividerTest, ACapEndsWithItsContainer) {
  Cap();
  pods_.Upsert(Pod("hog", "restarted"));
  Look(27.5e6, 12.4e6);
  EXPECT_THAT(writer_.texts,
              ElementsAre(Pair(HasSubstr("/restarted/io.max"), HasSubstr("254:16 rbps="))));
  pods_.Remove(Pod("hog", "restarted"));
  divider_.Divide({});
  EXPECT_THAT(writer_.texts, IsEmpty());
}

TEST_F(StorageDividerTest, ACapThatCannotBeSetIsCountedAndTriedAgain) {
  writer_.refuses = true;
  for (int look = 0; look < 8; ++look) Look();
  EXPECT_THAT(divider_.in_force(), IsEmpty());
  EXPECT_THAT(events_.reasons(), IsEmpty());
  EXPECT_THAT(metrics_.Render(), HasSubstr("errors_total{reason=\"cap_failed\"}"));
  writer_.refuses = false;
  Look();
  EXPECT_THAT(divider_.in_force(), SizeIs(1));
}

}  // namespace
}  // namespace synergy::nodeagent
