#include "deviceplugin/sources/inventory_monitor.h"

#include <condition_variable>
#include <deque>
#include <mutex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_clock.h"
#include "support/silent_log.h"
#include "unit/inventory/inventory_fixture.h"

namespace synergy::testing {
namespace {

using deviceplugin::GpuNews;
using deviceplugin::InventoryMonitor;
using deviceplugin::MonitorCallbacks;
using deviceplugin::MonitorRules;
using deviceplugin::Picture;
using deviceplugin::Reading;
using deviceplugin::XidEvent;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A source that the test drives step by step: each Look() of the monitor waits until the test
// permits the next one.
class FakeSource final : public deviceplugin::DeviceSource {
 public:
  Result<Reading> Read() override {
    const std::lock_guard lock(mutex_);
    return reading_;
  }

  std::vector<XidEvent> Wait(std::chrono::milliseconds /*longest*/,
                             const std::stop_token& stop) override {
    std::unique_lock lock(mutex_);
    ++waits_;
    changed_.notify_all();
    changed_.wait(lock, stop, [&] { return steps_ > 0; });
    if (steps_ > 0) --steps_;
    return std::exchange(events_, {});
  }

  void Wake() override { Step({}); }
  std::map<std::string, deviceplugin::DeviceUse> ReadUse() override { return {}; }

  void Set(Result<Reading> reading) {
    const std::lock_guard lock(mutex_);
    reading_ = std::move(reading);
  }
  void Step(std::vector<XidEvent> events) {
    const std::lock_guard lock(mutex_);
    events_ = std::move(events);
    ++steps_;
    changed_.notify_all();
  }
  // Returns when the monitor has looked this many times.
  void AwaitLooks(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waits_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  Result<Reading> reading_;
  std::vector<XidEvent> events_;
  size_t steps_ = 0;
  size_t waits_ = 0;
};

Reading TwoGpus(const std::string& fault_of_the_second = {}) {
  Reading reading;
  reading.inventory = GpuInventory(MakeGpus(2, 1));
  reading.probes["GPU-0"];
  reading.probes["GPU-1"].fault = fault_of_the_second;
  return reading;
}

class InventoryMonitorTest : public ::testing::Test {
 protected:
  void Start(Result<Reading> first) {
    auto source = std::make_unique<FakeSource>();
    source_ = source.get();
    source_->Set(std::move(first));
    monitor_ = std::make_unique<InventoryMonitor>(
        std::move(source), MonitorRules{},
        MonitorCallbacks{
            .on_change = [this](const auto& /*picture*/) { ++changes_; },
            .on_news =
                [this](const GpuNews& news) { news_.push_back(news.reason + ": " + news.message); },
            .on_look = [this] { ++looks_reported_; }},
        clock_, log_.log, metrics_);
    monitor_->Start();
    source_->AwaitLooks(++looks_);
  }
  void Look(std::vector<XidEvent> events = {}) {
    source_->Step(std::move(events));
    source_->AwaitLooks(++looks_);
  }
  std::string ReasonOf(size_t gpu) { return monitor_->picture()->health[gpu].reason; }

  FakeClock clock_;
  SilentLog log_;
  metrics::DeviceMetrics metrics_;
  FakeSource* source_ = nullptr;
  std::atomic<int> changes_ = 0;
  std::atomic<size_t> looks_reported_ = 0;
  std::vector<std::string> news_;  // the test reads it while the monitor waits
  size_t looks_ = 0;
  std::unique_ptr<InventoryMonitor> monitor_;
};

TEST_F(InventoryMonitorTest, ReportsAChangeOnce) {
  Start(TwoGpus());
  Look();
  EXPECT_EQ(changes_, 1);
  source_->Set(TwoGpus("fan"));
  Look();
  Look();
  EXPECT_EQ(changes_, 2);
  EXPECT_EQ(ReasonOf(1), "fan");
  source_->Set(TwoGpus());
  Look();
  EXPECT_EQ(changes_, 3);
  EXPECT_EQ(ReasonOf(1), "");
}

TEST_F(InventoryMonitorTest, AnXidCountsUntilTheQuietPeriodIsOver) {
  Start(TwoGpus());
  Look({{"GPU-0", 32, {}}});
  EXPECT_EQ(ReasonOf(0), "Xid 32");
  EXPECT_EQ(ReasonOf(1), "");
  clock_.Advance(std::chrono::minutes(1));
  Look();
  EXPECT_EQ(ReasonOf(0), "");
  EXPECT_THAT(metrics_.Render(),
              HasSubstr("synergy_gpu_xid_errors_total{uuid=\"GPU-0\",xid=\"32\"} 1"));
}

TEST_F(InventoryMonitorTest, AnXidOfAnUnknownGpuCountsForAll) {
  Start(TwoGpus());
  Look({{"", 32, {}}});
  EXPECT_EQ(ReasonOf(0), "Xid 32");
  EXPECT_EQ(ReasonOf(1), "Xid 32");
}

TEST_F(InventoryMonitorTest, AnXidOfAMigDeviceLeavesTheOthersOfItsGpuAlone) {
  Reading reading = TwoGpus();
  std::vector<Gpu> gpus = reading.inventory.gpus();
  gpus[0].mig_enabled = true;
  gpus[0].mig_devices = {{"MIG-a", "1g.10gb", GiB(10), {}}, {"MIG-b", "1g.10gb", GiB(10), {}}};
  reading.inventory = GpuInventory(gpus);
  Start(reading);
  MonitorRules rules;
  rules.advertisement.mig_strategy = MigStrategy::kMixed;
  monitor_->SetRules(rules);
  source_->AwaitLooks(++looks_);
  news_.clear();
  Look({{"GPU-0", 94, {"MIG-b"}}});
  const auto picture = monitor_->picture();
  const auto& parts = picture->advertisement.resources.at("nvidia.com/mig-1g.10gb");
  EXPECT_TRUE(parts[0].health.healthy);
  EXPECT_EQ(parts[1].health.reason, "Xid 94: the GPU needs a reset");
  EXPECT_TRUE(picture->health[0].healthy);
  EXPECT_THAT(news_, ElementsAre("SynergyGpuUnhealthy: GPU MIG-b is unhealthy: Xid 94: the GPU "
                                 "needs a reset"));
}

TEST_F(InventoryMonitorTest, ReportsEachBeginningAndEndOnce) {
  Reading reading = TwoGpus("fan");
  reading.unreachable[7] = "NVML: GPU is lost (15)";
  reading.without_events["GPU-0"] = "NVML: Not Supported (3)";
  Start(reading);
  EXPECT_THAT(
      news_,
      ElementsAre(
          "SynergyGpuUnhealthy: GPU GPU-1 is unhealthy: fan",
          "SynergyGpuUnreachable: GPU with index 7 cannot be reached: NVML: GPU is lost (15)",
          "SynergyGpuXidsUnseen: GPU GPU-0 does not report its Xids: NVML: Not Supported (3)"));
  news_.clear();
  Look();
  EXPECT_THAT(news_, IsEmpty());
  source_->Set(TwoGpus());
  Look();
  EXPECT_THAT(news_, ElementsAre("SynergyGpuHealthy: GPU GPU-1 is healthy again (it was: fan)",
                                 "SynergyGpuReachable: GPU with index 7 can be reached, or is "
                                 "counted no longer (it was: NVML: GPU is lost (15))",
                                 "SynergyGpuXidsSeen: GPU GPU-0 reports its Xids again (it was: "
                                 "NVML: Not Supported (3))"));
}

TEST_F(InventoryMonitorTest, ReportsEveryLook) {
  Start(TwoGpus());
  Look();
  Look();
  EXPECT_EQ(looks_reported_, 3U);
}

TEST_F(InventoryMonitorTest, WithoutTheDriverEveryGpuIsUnhealthyButNoneIsLost) {
  Start(TwoGpus());
  source_->Set(Fail(ErrorCode::kUnavailable, "driver not loaded"));
  Look();
  EXPECT_EQ(monitor_->picture()->inventory.gpus().size(), 2U);
  EXPECT_EQ(ReasonOf(0), "driver not loaded");
  EXPECT_EQ(monitor_->source_error(), "driver not loaded");
  source_->Set(TwoGpus());
  Look();
  EXPECT_EQ(ReasonOf(0), "");
  EXPECT_EQ(monitor_->source_error(), "");
}

TEST_F(InventoryMonitorTest, AnInventoryThatCannotBeReadLeavesEverythingAsItWas) {
  Start(TwoGpus("fan"));
  source_->Set(Fail(ErrorCode::kInvalid, "gpus.yaml:3: no"));
  Look();
  EXPECT_EQ(changes_, 1);
  EXPECT_EQ(ReasonOf(0), "");
  EXPECT_EQ(ReasonOf(1), "fan");
  EXPECT_EQ(monitor_->source_error(), "gpus.yaml:3: no");
}

TEST_F(InventoryMonitorTest, ReportsNothingBeforeTheFirstSuccessfulLook) {
  Start(Fail(ErrorCode::kUnavailable, "libnvidia-ml.so.1 is missing"));
  EXPECT_EQ(changes_, 0);
  EXPECT_EQ(monitor_->picture(), nullptr);
  source_->Set(TwoGpus());
  Look();
  EXPECT_EQ(changes_, 1);
}

TEST_F(InventoryMonitorTest, NewRulesCountAtOnceAndFormerResourcesStayWithNothing) {
  Start(TwoGpus());
  MonitorRules rules;
  rules.advertisement.resource = "nvidia.com/other";
  monitor_->SetRules(rules);
  source_->AwaitLooks(++looks_);
  const auto picture = monitor_->picture();
  EXPECT_EQ(picture->advertisement.resources.at("nvidia.com/other").size(), 2U);
  EXPECT_EQ(picture->advertisement.resources.at("nvidia.com/gpu").size(), 0U);
}

TEST_F(InventoryMonitorTest, ThePauseIsThatOfTheRulesInUse) {
  Start(TwoGpus());
  EXPECT_EQ(monitor_->pause(), MonitorRules().probe_interval);
  MonitorRules rules;
  for (const std::chrono::minutes interval : {std::chrono::minutes(5), std::chrono::minutes(1)}) {
    rules.probe_interval = interval;
    monitor_->SetRules(rules);
    source_->AwaitLooks(++looks_);
    EXPECT_EQ(monitor_->pause(), interval);
  }
}

}  // namespace
}  // namespace synergy::testing
