#include "deviceplugin/gauges.h"

#include <condition_variable>
#include <mutex>

#include <gtest/gtest.h>

#include "support/fake_clock.h"
#include "support/silent_log.h"
#include "support/temporary_folder.h"
#include "unit/inventory/inventory_fixture.h"
#include "unit/kubelet/fake_pod_resources.h"

namespace synergy::testing {
namespace {

using deviceplugin::DeviceUse;
using deviceplugin::InventoryMonitor;
using deviceplugin::Reading;
using ::synergy::kubelet::PodResources;
using Allocated = metrics::AllocatedGpu;

// A source with GPU-0, and with GPU-1 in MIG mode with one part.
class StillSource final : public deviceplugin::DeviceSource {
 public:
  Result<Reading> Read() override {
    std::vector<Gpu> gpus = MakeGpus(2, 1);
    gpus[1].mig_enabled = true;
    gpus[1].mig_devices = {{"MIG-7", "1g.10gb", GiB(10), {}}};
    Reading reading;
    reading.inventory = GpuInventory(gpus);
    reading.unreachable[2] = "GPU is lost";
    reading.without_events["GPU-0"] = "Not Supported";
    return reading;
  }
  std::vector<deviceplugin::XidEvent> Wait(std::chrono::milliseconds /*longest*/,
                                           const std::stop_token& stop) override {
    SystemClock().SleepFor(std::chrono::hours(1), stop);
    return {};
  }
  void Wake() override {}
  std::map<std::string, DeviceUse> ReadUse() override {
    return {{"GPU-0", {.utilization = 0.75, .memory_used = GiB(40)}},
            {"GPU-1", {.utilization = 0.5, .memory_used = GiB(10)}},
            {"MIG-7", {.memory_used = GiB(2)}}};
  }
};

TEST(GaugesTest, ReportsGpuUseByPodWithUuid) {
  const TemporaryFolder folder;
  const FakeClock clock;
  SilentLog log;
  metrics::DeviceMetrics metrics;
  FakePodResources kubelet(folder.Path("s"),
                           {"GPU-0", "MIG-7", "GPU-gone", "GPU-1::0", "GPU-1::1"});
  PodResources resources(folder.Path("s"), clock, kPatience);
  std::mutex mutex;
  std::condition_variable looked;
  bool done = false;
  InventoryMonitor monitor(std::make_unique<StillSource>(), {},
                           {.on_look =
                                [&] {
                                  const std::lock_guard lock(mutex);
                                  done = true;
                                  looked.notify_all();
                                }},
                           clock, log.log, metrics);
  monitor.Start();
  {
    std::unique_lock lock(mutex);
    looked.wait(lock, [&] { return done; });
  }
  const metrics::DeviceGauges gauges =
      ReadGauges(monitor, {{"nvidia.com/gpu", true}}, resources, true);
  ASSERT_TRUE(gauges.allocated);
  ASSERT_EQ(gauges.allocated->size(), 4U);
  const Allocated& whole = (*gauges.allocated)[0];
  EXPECT_EQ(whole.uuid, "GPU-0");
  EXPECT_EQ(whole.mig_uuid, "");
  EXPECT_EQ(whole.pod, "train");
  EXPECT_EQ(whole.container, "main");
  EXPECT_EQ(whole.utilization, 0.75);
  EXPECT_EQ(whole.memory_used, GiB(40));
  const Allocated& part = (*gauges.allocated)[1];
  EXPECT_EQ(part.uuid, "GPU-1");
  EXPECT_EQ(part.mig_uuid, "MIG-7");
  EXPECT_FALSE(part.utilization);
  EXPECT_EQ(part.memory_used, GiB(2));
  EXPECT_EQ((*gauges.allocated)[2].uuid, "GPU-gone");
  // A container has two slices of the same GPU.
  const Allocated& shared = (*gauges.allocated)[3];
  EXPECT_EQ(shared.uuid, "GPU-1");
  EXPECT_FALSE(shared.utilization);
  EXPECT_FALSE(shared.memory_used);
  EXPECT_EQ(gauges.unreachable, 1U);
  EXPECT_EQ(gauges.without_events, 1U);
  EXPECT_EQ(gauges.left_out, 1U);
}

}  // namespace
}  // namespace synergy::testing
