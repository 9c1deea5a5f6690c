// Uses libfake-nvml.so in place of NVIDIA's library. From dlopen on, the code is the same.

#include "deviceplugin/sources/nvml_source.h"

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <mutex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "deviceplugin/sources/inventory_monitor.h"
#include "support/fake_clock.h"
#include "support/fake_nvml.h"
#include "support/fake_nvml_library.h"
#include "support/silent_log.h"
#include "support/temporary_folder.h"

namespace synergy::testing {
namespace {

using deviceplugin::NvmlOptions;
using deviceplugin::NvmlSource;
using deviceplugin::Reading;
using deviceplugin::XidEvent;
using std::chrono::milliseconds;
using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;
using ::testing::Pair;

std::string Uuid(size_t gpu) {
  return "GPU-0000000" + std::to_string(gpu) + "-1111-2222-3333-444444444444";
}

class NvmlSourceTest : public ::testing::Test {
 protected:
  NvmlOptions Options() const {
    return {FakeNvmlLibrary::path(), folder_.Path("pci"), folder_.Path("dev"),
            folder_.Path("mig-minors")};
  }
  Reading Read() {
    auto reading = source_.Read();
    EXPECT_TRUE(reading.has_value()) << reading.error().message;
    return reading.value_or(Reading{});
  }
  std::string FaultOf(size_t gpu) { return Read().probes.at(Uuid(gpu)).fault; }

  TemporaryFolder folder_;
  FakeNvmlLibrary nvml_;
  FakeClock clock_;
  NvmlSource source_{Options(), clock_};
};

TEST_F(NvmlSourceTest, EveryFieldOfAGpuIsRead) {
  for (const char* path : {"pci/0000:3b:00.0", "dev"})
    std::filesystem::create_directories(folder_.Path(path));
  folder_.Write("pci/0000:3b:00.0/numa_node", "1\n");
  folder_.Write("dev/nvidiactl", "");
  const Reading reading = Read();
  ASSERT_EQ(reading.inventory.gpus().size(), 4U);
  const Gpu& gpu = reading.inventory.gpus()[0];
  EXPECT_EQ(gpu.uuid, Uuid(0));
  EXPECT_EQ(gpu.product, "NVIDIA A100-SXM4-80GB");
  EXPECT_EQ(gpu.memory, GiB(80));
  EXPECT_EQ(gpu.pci_id, "0000:3b:00.0");
  EXPECT_EQ(gpu.numa_node, 1);
  EXPECT_EQ(gpu.compute_capability, (ComputeCapability{8, 0}));
  EXPECT_THAT(gpu.device_nodes, ElementsAre(folder_.Path("dev") + "/nvidia0"));
  EXPECT_FALSE(gpu.mig_enabled);
  EXPECT_EQ(reading.inventory.gpus()[1].numa_node, kNoNuma);
  EXPECT_EQ(reading.inventory.driver_version, "550.54.15");
  EXPECT_EQ(reading.inventory.cuda_version, "12.4");
  EXPECT_THAT(reading.inventory.shared_device_nodes, ElementsAre(folder_.Path("dev/nvidiactl")));
}

TEST_F(NvmlSourceTest, LinksAreCountedDirectlyAndThroughSwitches) {
  EXPECT_EQ(Read().inventory.link(0, 1), (GpuLink{PciPath::kSingleSwitch, 4}));
  EXPECT_EQ(Read().inventory.link(1, 2), (GpuLink{PciPath::kSystem, 0}));
  nvml_.Set([](FakeNvml& nvml) {
    for (FakeNvmlGpu& gpu : nvml.gpus) gpu.links.assign(12, {true, 0});
    nvml.gpus[3].links.resize(11);
  });
  NvmlSource switched(Options(), clock_);
  const Reading reading = switched.Read().value();
  EXPECT_EQ(reading.inventory.link(0, 2).nvlinks, 12);
  EXPECT_EQ(reading.inventory.link(2, 3).nvlinks, 11);
}

TEST_F(NvmlSourceTest, ALostGpuHasAFaultUntilItIsBack) {
  EXPECT_EQ(FaultOf(2), "");
  nvml_.Set([](FakeNvml& nvml) { nvml.gpus[2].result = 15; });
  EXPECT_EQ(FaultOf(2), "NVML: GPU is lost (15)");
  EXPECT_EQ(FaultOf(1), "");
  EXPECT_EQ(FaultOf(2), "NVML: GPU is lost (15)") << "in a new session as well";
  nvml_.Set([](FakeNvml& nvml) { nvml.gpus[2].result = 0; });
  clock_.Advance(std::chrono::seconds(5));
  EXPECT_EQ(FaultOf(2), "");
  EXPECT_GT(nvml_.sessions(), 1) << "handles from before are of no use";
}

TEST_F(NvmlSourceTest, AGpuThatIsNotListedAnyMoreStaysWithAFault) {
  Read();
  nvml_.Set([](FakeNvml& nvml) {
    nvml.gpus[1].result = 15;
    nvml.gpus[1].listed = false;
  });
  Read();
  const Reading reading = Read();
  EXPECT_EQ(reading.inventory.gpus().size(), 4U);
  EXPECT_EQ(reading.probes.at(Uuid(1)).fault, "NVML: GPU is lost (15)");
  EXPECT_FALSE(reading.probes.at(Uuid(1)).absent) << "NVML counts it";
  EXPECT_TRUE(reading.unreachable.empty()) << "it is known who it is";
  const auto a = reading.inventory.Find(Uuid(0));
  const auto b = reading.inventory.Find(Uuid(1));
  EXPECT_EQ(reading.inventory.link(*a, *b).nvlinks, 4) << "what was known of it is kept";
  nvml_.Set([](FakeNvml& nvml) {
    nvml.gpus[1].result = 0;
    nvml.gpus[1].listed = true;
  });
  clock_.Advance(std::chrono::seconds(5));
  EXPECT_EQ(FaultOf(1), "");
}

TEST_F(NvmlSourceTest, AGpuThatIsNotCountedAnyMoreIsAbsent) {
  Read();
  nvml_.Set([](FakeNvml& nvml) {
    nvml.gpus[0].result = 15;
    nvml.gpus.pop_back();
  });
  Read();
  const Reading reading = Read();
  EXPECT_EQ(reading.probes.at(Uuid(3)).fault, "NVML does not list the GPU any more");
  EXPECT_TRUE(reading.probes.at(Uuid(3)).absent);
}

TEST_F(NvmlSourceTest, ReportsAGpuThatIsLostFromTheStart) {
  nvml_.Set([](FakeNvml& nvml) { nvml.gpus[1].listed = false; });
  const Reading reading = Read();
  EXPECT_EQ(reading.inventory.gpus().size(), 3U);
  EXPECT_THAT(reading.unreachable, ElementsAre(Pair(1, "NVML: GPU is lost (15)")));
  nvml_.Set([](FakeNvml& nvml) { nvml.gpus[1].listed = true; });
  EXPECT_EQ(Read().inventory.gpus().size(), 4U);
  EXPECT_TRUE(Read().unreachable.empty());
}

TEST_F(NvmlSourceTest, OneLostGpuDoesNotRestartNvmlAtEveryLook) {
  Read();
  nvml_.Set([](FakeNvml& nvml) {
    nvml.gpus[2].result = 15;
    nvml.gpus[2].listed = false;
  });
  Read();
  Read();
  EXPECT_EQ(nvml_.sessions(), 2) << "the first time at once";
  for (int look = 0; look < 720; ++look) {
    clock_.Advance(std::chrono::seconds(5));
    Read();
  }
  // This is an hour. The pauses grow to at least half of 5 minutes.
  EXPECT_LE(nvml_.sessions(), 35);
  nvml_.Set([](FakeNvml& nvml) {
    nvml.gpus[2].result = 0;
    nvml.gpus[2].listed = true;
  });
  clock_.Advance(std::chrono::minutes(5));
  EXPECT_EQ(FaultOf(2), "");
  const int sessions = nvml_.sessions();
  nvml_.Set([](FakeNvml& nvml) { nvml.gpus[2].result = 15; });
  Read();
  Read();
  EXPECT_EQ(nvml_.sessions(), sessions + 1) << "well in between: at once again";
}

TEST_F(NvmlSourceTest, AnotherGpuThatIsLostIsNotKeptWaitingForTheFirst) {
  Read();
  nvml_.Set([](FakeNvml& nvml) { nvml.gpus[2].result = 15; });
  for (int look = 0; look < 100; ++look) {
    clock_.Advance(std::chrono::seconds(5));
    Read();
  }
  const int sessions = nvml_.sessions();
  nvml_.Set([](FakeNvml& nvml) { nvml.gpus[1].result = 15; });
  Read();
  Read();
  EXPECT_EQ(nvml_.sessions(), sessions + 1);
}

TEST_F(NvmlSourceTest, AnEventSetThatFailsDoesNotRestartNvmlAtEveryLook) {
  NvmlSource source(Options(), SystemClock());
  ASSERT_TRUE(source.Read());
  nvml_.Set([](FakeNvml& nvml) { nvml.wait_result = 15; });
  for (int look = 0; look < 4; ++look) {
    source.Wait(milliseconds(20), {});
    ASSERT_TRUE(source.Read());
  }
  EXPECT_EQ(nvml_.sessions(), 2);
}

TEST_F(NvmlSourceTest, ReportsGpusWithoutXidEvents) {
  nvml_.Set([](FakeNvml& nvml) { nvml.gpus[1].event_result = 3; });
  EXPECT_THAT(Read().without_events, ElementsAre(Pair(Uuid(1), "NVML: Some Error (3)")));
}

TEST_F(NvmlSourceTest, WithoutTheDriverNothingCanBeUsedUntilItIsThere) {
  nvml_.Set([](FakeNvml& nvml) { nvml.init_result = 9; });
  const auto reading = source_.Read();
  ASSERT_FALSE(reading);
  EXPECT_EQ(reading.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(reading.error().message, HasSubstr("Driver Not Loaded (9)"));
  nvml_.Set([](FakeNvml& nvml) { nvml.init_result = 0; });
  EXPECT_EQ(Read().inventory.gpus().size(), 4U);
}

TEST_F(NvmlSourceTest, AMissingLibraryIsNamed) {
  NvmlSource source({.library = "libno-such-nvml.so.1"}, clock_);
  const auto reading = source.Read();
  ASSERT_FALSE(reading);
  EXPECT_EQ(reading.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(reading.error().message, HasSubstr("libno-such-nvml.so.1"));
}

TEST_F(NvmlSourceTest, ALibraryThatIsNoNvmlIsRefused) {
  NvmlSource source({.library = "libm.so.6"}, clock_);
  EXPECT_THAT(source.Read().error().message, HasSubstr("it lacks nvmlInit_v2"));
}

TEST_F(NvmlSourceTest, XidsComeWithTheirGpu) {
  Read();
  nvml_.RaiseXid(3, 79);
  nvml_.RaiseXid(0, 13);
  const std::vector<XidEvent> events = source_.Wait(milliseconds(10000), {});
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].uuid, Uuid(3));
  EXPECT_EQ(events[0].xid, 79U);
  EXPECT_EQ(events[1].xid, 13U);
}

TEST_F(NvmlSourceTest, AnXidOfALostGpuConcernsThatGpuAlone) {
  Read();
  nvml_.Set([](FakeNvml& nvml) { nvml.gpus[3].result = 15; });
  nvml_.RaiseXid(3, 79);
  const std::vector<XidEvent> events = source_.Wait(milliseconds(10000), {});
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].uuid, Uuid(3));
}

TEST_F(NvmlSourceTest, AWakeAndAStopEndTheWait) {
  Read();
  source_.Wake();
  EXPECT_TRUE(source_.Wait(milliseconds(3'600'000), {}).empty());
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(source_.Wait(milliseconds(3'600'000), stop.get_token()).empty());
}

TEST_F(NvmlSourceTest, ErrorCountsAndRepairsAreRead) {
  nvml_.Set([](FakeNvml& nvml) {
    nvml.gpus[0].ecc_errors = 3;
    nvml.gpus[1].remap_pending = true;
    nvml.gpus[2].pages_pending = true;
    nvml.gpus[3].remap_failed = true;
  });
  const Reading reading = Read();
  EXPECT_EQ(reading.probes.at(Uuid(0)).uncorrectable_errors, 3U);
  EXPECT_FALSE(reading.probes.at(Uuid(0)).repair_pending);
  EXPECT_FALSE(reading.probes.at(Uuid(1)).uncorrectable_errors);
  EXPECT_TRUE(reading.probes.at(Uuid(1)).repair_pending);
  EXPECT_TRUE(reading.probes.at(Uuid(2)).repair_pending);
  EXPECT_FALSE(reading.probes.at(Uuid(2)).repair_failed);
  EXPECT_TRUE(reading.probes.at(Uuid(3)).repair_failed);
}

TEST_F(NvmlSourceTest, TheRecoveryActionThatTheDriverWantsIsRead) {
  nvml_.Set([](FakeNvml& nvml) {
    for (unsigned action : {0, 1, 9}) nvml.gpus[action % 4].recovery_action = action;
  });
  EXPECT_EQ(Read().probes.at(Uuid(1)).recovery_action, "recovery action 9 of NVML");
  nvml_.Set([](FakeNvml& nvml) { nvml.gpus[1].recovery_action = 1; });
  const Reading reading = Read();
  EXPECT_EQ(reading.probes.at(Uuid(0)).recovery_action, "");
  EXPECT_EQ(reading.probes.at(Uuid(1)).recovery_action, "a reset of the GPU");
  EXPECT_FALSE(reading.probes.at(Uuid(2)).recovery_action) << "a driver that knows of none";
}

TEST_F(NvmlSourceTest, MigDevicesAreReadEachTime) {
  EXPECT_FALSE(Read().inventory.gpus()[0].mig_enabled);
  nvml_.Set([](FakeNvml& nvml) {
    nvml.gpus[0].mig = true;
    nvml.gpus[0].parts = {{"MIG-a", "NVIDIA A100-SXM4-80GB MIG 1g.10gb", 10'737'418'240}};
  });
  const Gpu gpu = Read().inventory.gpus()[0];
  EXPECT_TRUE(gpu.mig_enabled);
  EXPECT_THAT(gpu.mig_devices, ElementsAre(MigDevice{"MIG-a", "1g.10gb", GiB(10), {}}))
      << "without nodes where the driver does not tell them";
}

// With the strategy "single", one whole GPU on the node would withdraw all MIG devices.
TEST_F(NvmlSourceTest, AGpuThatFailsKeepsItsMigDevicesUntilItIsBack) {
  nvml_.Set([](FakeNvml& nvml) {
    for (FakeNvmlGpu& gpu : nvml.gpus) {
      gpu.mig = true;
      gpu.parts = {{"MIG-" + gpu.uuid, "A MIG 1g.10gb", 1}};
    }
  });
  const GpuInventory before = Read().inventory;
  for (const bool whole : {true, false}) {
    nvml_.Set(
        [&](FakeNvml& nvml) { (whole ? nvml.gpus[2].result : nvml.gpus[2].mig_result) = 15; });
    for (int look = 0; look < 3; ++look) {
      const Reading reading = Read();
      EXPECT_EQ(reading.probes.at(Uuid(2)).fault, "NVML: GPU is lost (15)");
      ASSERT_EQ(reading.inventory.gpus().size(), 4U);
      for (const Gpu& gpu : reading.inventory.gpus())
        EXPECT_EQ(gpu, before.gpus()[*before.Find(gpu.uuid)]) << whole;
      EXPECT_EQ(reading.inventory.link(*reading.inventory.Find(Uuid(2)),
                                       *reading.inventory.Find(Uuid(3))),
                before.link(2, 3));
    }
    nvml_.Set([](FakeNvml& nvml) { nvml.gpus[2].result = nvml.gpus[2].mig_result = 0; });
    clock_.Advance(std::chrono::minutes(5));
    EXPECT_EQ(FaultOf(2), "");
  }
}

TEST_F(NvmlSourceTest, AGpuWhoseModeIsUnknownFromTheStartIsNotTakenForAWholeOne) {
  nvml_.Set([](FakeNvml& nvml) { nvml.gpus[2].mig_result = 15; });
  const Reading reading = Read();
  EXPECT_FALSE(reading.inventory.Find(Uuid(2)));
  EXPECT_THAT(reading.unreachable, ElementsAre(Pair(2, "NVML: GPU is lost (15)")));
  nvml_.Set([](FakeNvml& nvml) { nvml.gpus[2].mig_result = 0; });
  EXPECT_TRUE(Read().inventory.Find(Uuid(2)));
}

TEST_F(NvmlSourceTest, AMigDeviceHasTheCapabilityFilesOfItsInstances) {
  folder_.Write("mig-minors", "config 1\nmonitor 2\ngpu0/gi7/access 66\ngpu0/gi7/ci0/access 67\n");
  nvml_.Set([](FakeNvml& nvml) {
    nvml.gpus[0].mig = true;
    nvml.gpus[0].parts = {{"MIG-a", "A MIG 1g.10gb", 1, 7, 0}, {"MIG-b", "A MIG 1g.10gb", 1, 8, 0}};
  });
  const Gpu gpu = Read().inventory.gpus()[0];
  const std::string caps = folder_.Path("dev") + "/nvidia-caps/nvidia-cap";
  EXPECT_THAT(gpu.mig_devices[0].device_nodes, ElementsAre(caps + "66", caps + "67"));
  EXPECT_TRUE(gpu.mig_devices[1].device_nodes.empty());
}

TEST_F(NvmlSourceTest, AnXidOfAnInstanceIsOfItsMigDevicesAlone) {
  nvml_.Set([](FakeNvml& nvml) {
    nvml.gpus[0].mig = true;
    nvml.gpus[0].parts = {{"MIG-a", "A MIG 1g.10gb", 1, 7, 0},
                          {"MIG-b", "A MIG 1c.2g.20gb", 1, 8, 0},
                          {"MIG-c", "A MIG 1c.2g.20gb", 1, 8, 1}};
    nvml.events = {{0, 8, 94, 8, 1}, {0, 8, 94, 8}, {0, 8, 79}};
  });
  Read();
  const std::vector<XidEvent> events = source_.Wait(milliseconds(10000), {});
  ASSERT_EQ(events.size(), 3U);
  EXPECT_THAT(events[0].mig_uuids, ElementsAre("MIG-c"));
  EXPECT_THAT(events[1].mig_uuids, ElementsAre("MIG-b", "MIG-c"));
  EXPECT_THAT(events[2].mig_uuids, ElementsAre());
  EXPECT_EQ(events[0].uuid, Uuid(0));
}

TEST_F(NvmlSourceTest, ReportsMigCapabilityBeforeMigIsOn) {
  nvml_.Set([](FakeNvml& nvml) { nvml.gpus[1].mig_capable = false; });
  const Reading reading = Read();
  EXPECT_TRUE(reading.inventory.gpus()[0].mig_capable);
  EXPECT_FALSE(reading.inventory.gpus()[0].mig_enabled);
  EXPECT_FALSE(reading.inventory.gpus()[1].mig_capable);
}

TEST_F(NvmlSourceTest, UseIsReadInBaseUnits) {
  EXPECT_TRUE(source_.ReadUse().empty()) << "before the first look";
  Read();
  nvml_.Set([](FakeNvml& nvml) {
    nvml.gpus[0].utilization = 75;
    nvml.gpus[0].memory_used = 1 << 20;
    nvml.gpus[0].temperature = 61;
    nvml.gpus[0].milliwatts = 312'500;
    nvml.gpus[1].result = 15;
  });
  auto use = source_.ReadUse();
  EXPECT_EQ(use[Uuid(0)].utilization, 0.75);
  EXPECT_EQ(use[Uuid(0)].memory_used, MiB(1));
  EXPECT_EQ(use[Uuid(0)].temperature, 61);
  EXPECT_EQ(use[Uuid(0)].power, 312.5);
  EXPECT_FALSE(use[Uuid(1)].temperature);
}

TEST_F(NvmlSourceTest, UtilizationIsTheMeanOfTheLastSecondsSamples) {
  Read();
  constexpr unsigned long long kNow = 1'795'783'875'013'720;
  nvml_.Set([&](FakeNvml& nvml) {
    nvml.gpus[0].utilization = 46;
    nvml.gpus[1].utilization = 46;
    for (const unsigned value : {100U, 100U, 27U, 29U, 24U, 27U, 28U}) {
      const unsigned long long before = 6 - nvml.gpus[0].samples.size();
      nvml.gpus[0].samples.push_back({kNow - before * 200'000, value});
    }
    nvml.gpus[2].samples = {{kNow, 1000}};
    nvml.gpus[2].utilization = 12;
  });
  auto use = source_.ReadUse();
  EXPECT_THAT(use[Uuid(0)].utilization, Optional(DoubleEq(0.27)));
  EXPECT_THAT(use[Uuid(1)].utilization, Optional(DoubleEq(0.46))) << "the driver has no samples";
  EXPECT_THAT(use[Uuid(2)].utilization, Optional(DoubleEq(0.12))) << "a sample out of range";
}

// Tests the complete sequence: an event of the driver, the verdict, and the end of the verdict.
TEST_F(NvmlSourceTest, AnXidMakesAGpuUnhealthyAndQuietMakesItHealthyAgain) {
  SilentLog log;
  metrics::DeviceMetrics metrics;
  std::mutex mutex;
  std::condition_variable changed;
  std::string reason = "not looked at";
  // The judge's clock is the test's. The source's waits are real, and end when it is woken.
  auto source = std::make_unique<NvmlSource>(Options(), SystemClock());
  NvmlSource* driven = source.get();
  deviceplugin::InventoryMonitor monitor(
      std::move(source), {},
      {.on_change =
           [&](const std::shared_ptr<const deviceplugin::Picture>& picture) {
             const std::lock_guard lock(mutex);
             reason = picture->health[2].reason;
             changed.notify_all();
           }},
      clock_, log.log, metrics);
  const auto becomes = [&](const std::string& expected) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::minutes(2), [&] { return reason == expected; });
  };
  monitor.Start();
  ASSERT_TRUE(becomes(""));
  nvml_.RaiseXid(2, 32);
  ASSERT_TRUE(becomes("Xid 32"));
  clock_.Advance(std::chrono::minutes(1));
  driven->Wake();
  EXPECT_TRUE(becomes(""));
  nvml_.Set([](FakeNvml& nvml) {
    nvml.init_result = 9;
    nvml.gpus[2].result = 15;
  });
  driven->Wake();
  EXPECT_TRUE(becomes("NVML: GPU is lost (15)"));
  nvml_.Set([](FakeNvml& nvml) { nvml.gpus[2].result = 0; });
  driven->Wake();
  EXPECT_TRUE(becomes("NVML does not start: Driver Not Loaded (9)"));
  nvml_.Set([](FakeNvml& nvml) { nvml.init_result = 0; });
  driven->Wake();
  EXPECT_TRUE(becomes(""));
  driven->Wake();
}

}  // namespace
}  // namespace synergy::testing
