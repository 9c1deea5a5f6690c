#include "nodeagent/progress/progress_keeper.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/wall_time.h"
#include "support/fake_clock.h"
#include "support/recorded_events.h"
#include "support/silent_log.h"
#include "support/temporary_folder.h"

namespace synergy::nodeagent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::DoubleNear;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::SizeIs;

struct FakeCpu final : CpuGroups {
  Result<CpuUse> Read(const wire::ResizeStatus&, const wire::ResizeStatus::Container&) override {
    ++reads;
    return use;
  }
  CpuUse use{seconds(7), {}, std::nullopt};
  int reads = 0;
};

struct FakeData final : DataUse {
  std::optional<synergy::MemoryUse> Read(const wire::ResizeStatus&,
                                         const wire::ResizeStatus::Container&) override {
    ++reads;
    return use;
  }
  std::optional<synergy::MemoryUse> use;
  int reads = 0;
};

class ProgressKeeperTest : public ::testing::Test {
 protected:
  wire::ResizeStatus Pod(const std::string& name) {
    wire::ResizeStatus pod;
    pod.uid = "uid-" + name;
    pod.pod_namespace = "team";
    pod.name = name;
    pod.managed = true;
    pod.ip = "10.0.0.7";
    pod.containers.push_back({"train", "containerd://" + name, {}, {}});
    ManagedContainer fungible;
    fungible.container = "train";
    pod.fungible = std::make_shared<const ManagedContainer>(fungible);
    return pod;
  }
  // Appends a line to the pod's log, with the current time.
  void Print(const std::string& name, const std::string& text) {
    const std::string file =
        folder.Path(fmt::format("team_{}_uid-{}/train/{}.log", name, name, restarts));
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    std::ofstream(file, std::ios::app)
        << ToTimeText(clock.WallNow()) << " stderr F " << text << "\n";
  }
  void PrintBar(const std::string& name, int iteration, int total) {
    Print(name, fmt::format("{:3}%|#####     | {}/{} [00:10<00:10,  9.00it/s]",
                            100 * iteration / total, iteration, total));
  }
  PodProgress Of(const std::string& name) {
    for (const PodProgress& pod : keeper.Report("n1").pods) {
      if (pod.name == name) return pod;
    }
    ADD_FAILURE() << "nothing of " << name;
    return {};
  }

  int restarts = 0;
  testing::FakeClock clock;
  testing::SilentSink sink;
  Logger log{sink, clock, LogLevel::kDebug, LogFormat::kText};
  metrics::NodeAgentMetrics metrics;
  testing::TemporaryFolder folder;
  testing::RecordedEvents events;
  FakeCpu cpu;
  FakeData data;
  NodePods pods;
  Result<NodeBusy> busy = Fail(ErrorCode::kNotFound, "no file");
  Duration used{};      // CPU time that was used
  Duration dearness{};  // what each reading costs
  std::string page;
  std::mutex mutex;  // guards the requests for pages
  std::string asked;
  ProgressKeeper keeper{pods,
                        {cpu, data, folder.Path(""), folder.Path("pods"),
                         [this](const std::string& ip, uint16_t port, const std::string& path,
                                const std::stop_token&) -> Result<std::string> {
                           const std::lock_guard lock(mutex);
                           asked = fmt::format("{}:{}{}", ip, port, path);
                           return page;
                         },
                         [this] { return busy; }, [this] { return used += dearness; }},
                        clock,
                        log,
                        events,
                        metrics};
};

TEST_F(ProgressKeeperTest, MeasuresByTheLog) {
  pods.Replace({Pod("a")});
  keeper.FollowLogs();
  EXPECT_EQ(Of("a").format, "");
  CpuUse use = cpu.use;
  use.at = clock.WallNow();
  EXPECT_EQ(Of("a").cpu, use);
  for (int iteration = 10; iteration <= 500; iteration += 10) {
    PrintBar("a", iteration, 1000);
    clock.Advance(seconds(1));
    keeper.FollowLogs();
  }
  const PodProgress progress = Of("a");
  EXPECT_EQ(progress.format, "tqdm");
  EXPECT_EQ(progress.iteration, 500);
  EXPECT_EQ(progress.total, 1000);
  EXPECT_EQ(progress.iterations, 490);
  EXPECT_THAT(progress.rate, Optional(DoubleNear(10, 0.01)));
  EXPECT_EQ(progress.last, clock.WallNow() - seconds(1));
  ASSERT_TRUE(progress.remaining);
  EXPECT_NEAR(Seconds(*progress.remaining).count(), 50, 0.1);
  EXPECT_EQ(progress.container, "train");
  EXPECT_EQ(keeper.Report("n1").node, "n1");
}

TEST_F(ProgressKeeperTest, ReportsARunningProbe) {
  pods.Replace({Pod("a"), Pod("b")});
  keeper.FollowLogs();
  const ProbeReading probe{MilliCpu(75), clock.WallNow(), true};
  const NodeProgress report = keeper.Report("n1", {{"uid-b", probe}});
  ASSERT_THAT(report.pods, SizeIs(2));
  EXPECT_EQ(report.pods[0].probe, std::nullopt);
  EXPECT_EQ(report.pods[1].probe, probe);
}

TEST_F(ProgressKeeperTest, ReadsTheCpuTimeWhenThereIsNewsAndSeldomElse) {
  pods.Replace({Pod("a")});
  for (int i = 0; i < 20; ++i) {
    clock.Advance(seconds(1));
    keeper.FollowLogs();
  }
  EXPECT_LE(cpu.reads, 3);
  PrintBar("a", 1, 100);
  cpu.use.used = seconds(9);
  keeper.FollowLogs();
  EXPECT_EQ(Of("a").cpu->used, seconds(9));
}

TEST_F(ProgressKeeperTest, EstimatesPodsWithoutProgressFromBusyGpus) {
  pods.Replace({Pod("a"), Pod("b")});
  const WallTime since = clock.WallNow();
  const auto train = [&](int looks, double share) {
    for (int i = 0; i < looks; ++i) {
      clock.Advance(seconds(1));
      const double before = busy ? busy->containers[0].seconds : 0;
      busy = NodeBusy{clock.WallNow(), {{"team", "a", "train", before + share, since}}};
      keeper.FollowLogs();
    }
  };
  train(30, 0.8);
  EXPECT_EQ(Of("a").format, "");
  ASSERT_TRUE(Of("a").estimate);
  EXPECT_THAT(Of("a").estimate->rate, Optional(DoubleNear(0.8, 1e-9)));
  EXPECT_NEAR(Of("a").estimate->busy, 29 * 0.8, 1e-9);
  EXPECT_EQ(Of("a").estimate->at, clock.WallNow());
  EXPECT_EQ(Of("a").cpu->at, clock.WallNow());
  EXPECT_EQ(Of("a").iterations, 0);
  EXPECT_EQ(Of("a").rate, std::nullopt);
  EXPECT_EQ(Of("a").remaining, std::nullopt);
  EXPECT_FALSE(Of("b").estimate);
  // The log takes precedence.
  PrintBar("a", 10, 1000);
  train(2, 0.8);
  EXPECT_EQ(Of("a").format, "tqdm");
  EXPECT_FALSE(Of("a").estimate);
}

TEST_F(ProgressKeeperTest, StaleOrInvalidBusyTimeGivesNoEstimate) {
  pods.Replace({Pod("a")});
  const WallTime since = clock.WallNow();
  for (int i = 1; i <= 30; ++i) {
    clock.Advance(seconds(1));
    busy = NodeBusy{clock.WallNow(), {{"team", "a", "train", 0.5 * i, since}}};
    keeper.FollowLogs();
  }
  ASSERT_TRUE(Of("a").estimate);
  clock.Advance(seconds(11));  // the plugin has ended
  keeper.FollowLogs();
  EXPECT_FALSE(Of("a").estimate);
  busy->at = clock.WallNow() + seconds(11);  // the plugin's clock differs
  keeper.FollowLogs();
  EXPECT_FALSE(Of("a").estimate);
  busy = Fail(ErrorCode::kInvalid, "not JSON");
  for (int i = 0; i < 3; ++i) keeper.FollowLogs();
  EXPECT_FALSE(Of("a").estimate);
  EXPECT_THAT(metrics.Render(),
              HasSubstr("synergy_node_agent_errors_total{reason=\"gpu_busy_unreadable\"} 3"));
  // The count continues.
  busy = NodeBusy{clock.WallNow(), {{"team", "a", "train", 20, since}}};
  keeper.FollowLogs();
  ASSERT_TRUE(Of("a").estimate);
  EXPECT_NEAR(Of("a").estimate->busy, 19.5, 1e-9);
}

TEST_F(ProgressKeeperTest, AClockThatIsSetBackMakesNoBusyPodIdle) {
  pods.Replace({Pod("a")});
  const WallTime since = clock.WallNow();
  double gpu_seconds = 0;
  const auto look = [&](int times, double gpu, Duration used_cpu) {
    for (int i = 0; i < times; ++i) {
      clock.Advance(seconds(1));
      gpu_seconds += gpu;
      cpu.use.used += used_cpu;
      busy = NodeBusy{clock.WallNow(), {{"team", "a", "train", gpu_seconds, since}}};
      keeper.FollowLogs();
    }
  };
  for (const auto& [gpu, used_cpu] : {std::pair(0.8, milliseconds(0)), {0.0, milliseconds(800)}}) {
    look(1, 0.8, milliseconds(0));
    look(60, 0, milliseconds(0));
    EXPECT_EQ(Of("a").idle->idle, seconds(60));
    clock.SetWall(clock.WallNow() - std::chrono::hours(1));
    look(1, gpu, used_cpu);
    EXPECT_EQ(Of("a").idle->idle, seconds(0));
  }
  look(61, 0.5, milliseconds(0));
  EXPECT_THAT(Of("a").estimate->rate, Optional(DoubleNear(0.5, 1e-9)));
  clock.SetWall(clock.WallNow() - std::chrono::hours(1));
  look(61, 0.8, milliseconds(0));
  EXPECT_THAT(Of("a").estimate->rate, Optional(DoubleNear(0.8, 0.01)));
}

TEST_F(ProgressKeeperTest, PodThatNamesACounterHasNoEstimate) {
  wire::ResizeStatus pod = Pod("a");
  pod.progress = {"", "steps_total", 8000, "/m"};
  pods.Replace({pod});
  const WallTime since = clock.WallNow();
  for (int i = 1; i <= 30; ++i) {
    clock.Advance(seconds(1));
    busy = NodeBusy{clock.WallNow(), {{"team", "a", "train", 0.5 * i, since}}};
    keeper.FollowLogs();
  }
  keeper.ReadCounters({});
  EXPECT_FALSE(Of("a").estimate);
}

TEST_F(ProgressKeeperTest, RestartedAgentHasTheRateAtOnce) {
  pods.Replace({Pod("a")});
  for (int iteration = 10; iteration <= 300; iteration += 10) {
    PrintBar("a", iteration, 1000);
    clock.Advance(seconds(1));
  }
  keeper.FollowLogs();
  EXPECT_EQ(Of("a").iteration, 300);
  EXPECT_THAT(Of("a").rate, Optional(DoubleNear(10, 0.01)));
}

// Smaller batches after the kernel killed it for its memory: the log does not say so.
TEST_F(ProgressKeeperTest, ARestartedContainersBarMayHaveAnotherLength) {
  pods.Replace({Pod("a")});
  for (int iteration = 1; iteration <= 300; ++iteration) PrintBar("a", iteration, 1000);
  keeper.FollowLogs();
  EXPECT_EQ(Of("a").iteration, 300);
  restarts = 1;
  for (int iteration = 1; iteration <= 20; ++iteration) PrintBar("a", iteration, 2000);
  keeper.FollowLogs();
  EXPECT_EQ(Of("a").iteration, 20);
  EXPECT_EQ(Of("a").total, 2000);
  EXPECT_EQ(Of("a").iterations, 318);  // counted from the first lines
}

TEST_F(ProgressKeeperTest, GoesByTheUsersOwnPattern) {
  wire::ResizeStatus pod = Pod("a");
  pod.progress.pattern = "did (?P<iteration>[0-9]+) of (?P<total>[0-9]+)";
  pods.Replace({pod});
  Print("a", "did 5 of 50");
  keeper.FollowLogs();
  EXPECT_EQ(Of("a").format, "pattern");
  EXPECT_EQ(Of("a").total, 50);
}

TEST_F(ProgressKeeperTest, ReportsABadPatternOnceAndUsesTheShippedOnes) {
  wire::ResizeStatus pod = Pod("a");
  pod.progress.pattern = "did (";
  pods.Replace({pod});
  PrintBar("a", 5, 50);
  for (int i = 0; i < 3; ++i) keeper.FollowLogs();
  ASSERT_THAT(events.lines(), SizeIs(1));
  EXPECT_EQ(events.all[0].reason, "SynergyProgressUnseen");
  EXPECT_THAT(events.all[0].message, HasSubstr("synergy.io/progress-pattern"));
  EXPECT_EQ(Of("a").format, "tqdm");
}

TEST_F(ProgressKeeperTest, ALogThatTakesTooMuchCpuTimeIsReadLessOften) {
  pods.Replace({Pod("a"), Pod("b")});
  PrintBar("a", 1, 100);
  keeper.FollowLogs();
  dearness = seconds(1);
  PrintBar("a", 2, 100);
  keeper.FollowLogs();
  EXPECT_EQ(Of("a").iteration, 2);
  dearness = {};
  ASSERT_THAT(events.lines(), SizeIs(1));
  EXPECT_THAT(events.all[0].message, HasSubstr("too much CPU time"));
  PrintBar("a", 3, 100);
  PrintBar("b", 3, 100);
  const int64_t looks = seconds(1) / ProgressKeeper::kMostCpu;
  for (int64_t look = 1; look < looks; ++look) keeper.FollowLogs();
  EXPECT_EQ(Of("a").iteration, 2);
  EXPECT_EQ(Of("b").iteration, 3) << "others are read meanwhile";
  keeper.FollowLogs();
  EXPECT_EQ(Of("a").iteration, 3);
}

TEST_F(ProgressKeeperTest, ReportsALogOutsideTheFolder) {
  pods.Replace({Pod("a")});
  const std::filesystem::path file = folder.Path("team_a_uid-a/train/0.log");
  std::filesystem::create_directories(file.parent_path());
  std::filesystem::create_symlink("/var/lib/docker/containers/1/1-json.log", file);
  keeper.FollowLogs();
  keeper.FollowLogs();
  ASSERT_THAT(events.lines(), SizeIs(1));
  EXPECT_EQ(events.all[0].reason, "SynergyProgressUnseen");
  EXPECT_THAT(events.all[0].message, HasSubstr(file.string() + " is a link to /var/lib/docker/"));
  EXPECT_THAT(events.all[0].message, HasSubstr("synergy.io/progress-counter"));
  EXPECT_THAT(metrics.Render(),
              HasSubstr("synergy_node_agent_errors_total{reason=\"log_elsewhere\"} 2"));
}

TEST_F(ProgressKeeperTest, MeasuresByACounter) {
  wire::ResizeStatus pod = Pod("a");
  pod.progress = {"", "steps_total", 8000, "/m"};
  pods.Replace({pod});
  for (int i = 0; i <= 10; ++i) {
    page = fmt::format("steps_total {}\n", 1000 + 50 * i);
    keeper.ReadCounters({});
    clock.Advance(seconds(10));
  }
  EXPECT_EQ(asked, "10.0.0.7:8000/m");
  EXPECT_EQ(Of("a").format, "counter");
  EXPECT_EQ(Of("a").iteration, 1500);
  EXPECT_EQ(Of("a").iterations, 500);
  EXPECT_THAT(Of("a").rate, Optional(DoubleNear(5, 0.01)));
  EXPECT_THAT(Of("a").overall_rate, Optional(DoubleNear(5, 0.01)));
  clock.SetWall(clock.WallNow() - seconds(90));
  page = "steps_total 1550\n";
  keeper.ReadCounters({});
  EXPECT_THAT(Of("a").overall_rate, Optional(DoubleNear(5, 0.01)));
  // The process has restarted.
  page = "steps_total 20\n";
  keeper.ReadCounters({});
  EXPECT_EQ(Of("a").iterations, 570);
}

TEST_F(ProgressKeeperTest, MeasuresByAFile) {
  wire::ResizeStatus pod = Pod("a");
  pod.progress.file = true;
  pod.progress.counter = "steps_total";
  pods.Replace({pod});
  PrintBar("a", 1, 50);
  const std::filesystem::path volume =
      folder.Path("pods/uid-a/volumes/kubernetes.io~empty-dir/synergy-progress");
  std::filesystem::create_directories(volume);
  const auto look = [&] {
    keeper.FollowLogs();
    keeper.ReadFiles();
    keeper.ReadCounters({});
    clock.Advance(seconds(1));
  };
  look();
  EXPECT_EQ(Of("a").format, "") << "neither its log nor its counter is used";
  for (int i = 0; i <= 60; ++i) {
    std::ofstream(volume / "progress") << fmt::format("{}/2000", 1000 + 5 * i);
    look();
  }
  const auto last = Of("a").last;
  EXPECT_EQ(Of("a").format, "file");
  EXPECT_EQ(Of("a").iteration, 1300);
  EXPECT_EQ(Of("a").total, 2000);
  EXPECT_EQ(Of("a").iterations, 300);
  EXPECT_THAT(Of("a").rate, Optional(DoubleNear(5, 0.01)));
  EXPECT_THAT(Of("a").remaining, Optional(seconds(140)));
  look();
  EXPECT_EQ(Of("a").last, last) << "the same count is no progress";
  // Resumes at a checkpoint.
  std::ofstream(volume / "progress") << "1200/2000";
  look();
  EXPECT_EQ(Of("a").iteration, 1200);
  EXPECT_EQ(Of("a").iterations, 300);
  EXPECT_THAT(keeper.Report("n1").pods, SizeIs(1));
  EXPECT_THAT(events.lines(), IsEmpty());
}

TEST_F(ProgressKeeperTest, ABadFileIsReportedOnceAndHarmsNoOtherPod) {
  for (const std::string name : {"a", "b"}) {
    const std::filesystem::path volume =
        folder.Path("pods/uid-" + name + "/volumes/kubernetes.io~empty-dir/synergy-progress");
    std::filesystem::create_directories(volume);
    std::ofstream(volume / "progress") << (name == "a" ? "lies" : "7");
  }
  std::vector<wire::ResizeStatus> both{Pod("a"), Pod("b")};
  for (wire::ResizeStatus& pod : both) pod.progress.file = true;
  pods.Replace(both);
  for (int i = 0; i < 3; ++i) keeper.ReadFiles();
  ASSERT_THAT(events.lines(), SizeIs(1));
  EXPECT_THAT(events.all[0].message, HasSubstr("synergy.io/progress-file"));
  EXPECT_EQ(Of("a").format, "");
  EXPECT_EQ(Of("b").iteration, 7);
  EXPECT_THAT(metrics.Render(),
              HasSubstr("synergy_node_agent_errors_total{reason=\"bad_file\"} 3"));
}

TEST_F(ProgressKeeperTest, AMissingVolumeIsReportedUnlessThePodIsEnding) {
  std::filesystem::create_directories(folder.Path("pods"));
  wire::ResizeStatus pod = Pod("a");
  pod.progress.file = true;
  pod.deleting = true;
  pods.Replace({pod});
  keeper.ReadFiles();
  EXPECT_THAT(events.lines(), IsEmpty());
  pod.deleting = false;
  pods.Replace({pod});
  keeper.ReadFiles();
  ASSERT_THAT(events.lines(), SizeIs(1));
  EXPECT_THAT(events.all[0].message, HasSubstr("no emptyDir volume synergy-progress"));
}

// A tenant's counter may go up and down for ever.
TEST_F(ProgressKeeperTest, HugeCountsStayWithinWhatCanBeHeld) {
  wire::ResizeStatus pod = Pod("a");
  pod.progress.file = true;
  pods.Replace({pod});
  const std::filesystem::path volume =
      folder.Path("pods/uid-a/volumes/kubernetes.io~empty-dir/synergy-progress");
  std::filesystem::create_directories(volume);
  for (int i = 0; i < 20; ++i) {
    std::ofstream(volume / "progress") << (i % 2 == 0 ? "0" : "999999999999999");
    keeper.ReadFiles();
    clock.Advance(seconds(1));
  }
  EXPECT_GT(Of("a").iterations, 9e14);
  EXPECT_LE(Of("a").iterations, 1e15);
}

TEST_F(ProgressKeeperTest, WithoutTheRightToReadFilesTheLogIsUsedAndTheCureNamed) {
  ProgressKeeper without{pods,
                         {cpu, data, folder.Path(""), "",
                          [](const std::string&, uint16_t, const std::string&,
                             const std::stop_token&) -> Result<std::string> {
                            return Fail(ErrorCode::kNotFound, "none");
                          },
                          [this] { return busy; }, [this] { return used; }},
                         clock,
                         log,
                         events,
                         metrics};
  wire::ResizeStatus pod = Pod("a");
  pod.progress.file = true;
  pods.Replace({pod});
  PrintBar("a", 5, 50);
  for (int i = 0; i < 3; ++i) {
    without.FollowLogs();
    without.ReadFiles();
  }
  ASSERT_THAT(without.Report("n1").pods, SizeIs(1));
  EXPECT_EQ(without.Report("n1").pods[0].format, "tqdm");
  ASSERT_THAT(events.lines(), SizeIs(1));
  EXPECT_THAT(events.all[0].message, HasSubstr("nodeAgent.progressFiles"));
}

TEST_F(ProgressKeeperTest, ReportsWhatACounterLacks) {
  wire::ResizeStatus no_port = Pod("a");
  no_port.progress.counter = "steps_total";
  wire::ResizeStatus no_address = Pod("b");
  no_address.progress = {"", "steps_total", 8000, "/metrics"};
  no_address.ip.clear();
  wire::ResizeStatus misspelt = Pod("c");
  misspelt.progress = {"", "step_total", 8000, "/metrics"};
  page = "steps_total 20\n";
  pods.Replace({no_port, no_address, misspelt});
  for (int i = 0; i < 3; ++i) keeper.ReadCounters({});
  ASSERT_THAT(events.lines(), SizeIs(3));
  EXPECT_THAT(events.all[0].message, HasSubstr("synergy.io/progress-port"));
  EXPECT_THAT(events.all[1].message, HasSubstr("use its log"));
  EXPECT_THAT(events.all[2].message, HasSubstr("step_total"));
  EXPECT_EQ(Of("c").format, "");
}

TEST_F(ProgressKeeperTest, ForgetsPodsThatAreGoneAndLeavesOthersAlone) {
  wire::ResizeStatus not_managed = Pod("other");
  not_managed.fungible = nullptr;
  wire::ResizeStatus waiting = Pod("waiting");
  waiting.containers[0].id.clear();
  pods.Replace({Pod("a"), not_managed, waiting});
  keeper.FollowLogs();
  EXPECT_THAT(keeper.Report("n1").pods, SizeIs(1));
  pods.Remove(Pod("a"));
  keeper.FollowLogs();
  EXPECT_THAT(keeper.Report("n1").pods, IsEmpty());
}

TEST_F(ProgressKeeperTest, ReportsMemoryAtIntervals) {
  data.use = synergy::MemoryUse{.process = GiB(8), .cache = GiB(1), .read = 100, .fetched = 50};
  pods.Replace({Pod("a")});
  keeper.FollowLogs();
  keeper.FollowLogs();
  EXPECT_EQ(data.reads, 0) << "nobody asks for the memory of one that tells no progress";
  PrintBar("a", 1, 100);
  keeper.FollowLogs();
  keeper.FollowLogs();
  EXPECT_EQ(data.reads, 1);
  auto expected = *data.use;
  expected.at = clock.WallNow();
  EXPECT_EQ(Of("a").memory, expected);

  // The peak stays: one missing reading does not change it.
  data.use->process = GiB(6);
  data.use->read = 200;
  clock.Advance(seconds(10));
  keeper.FollowLogs();
  ASSERT_TRUE(Of("a").memory);
  EXPECT_EQ(Of("a").memory->process, GiB(8));
  EXPECT_EQ(Of("a").memory->read, 200);
  data.use.reset();
  clock.Advance(seconds(10));
  keeper.FollowLogs();
  EXPECT_EQ(data.reads, 3);
  EXPECT_EQ(Of("a").memory->at + seconds(10), clock.WallNow());
}

TEST_F(ProgressKeeperTest, LooksAtTheMemoryWhenACheckpointIsWritten) {
  data.use = synergy::MemoryUse{.process = GiB(8)};
  pods.Replace({Pod("a")});
  PrintBar("a", 1, 100);
  keeper.FollowLogs();
  keeper.FollowLogs();
  ASSERT_EQ(data.reads, 1);
  EXPECT_EQ(Of("a").checkpoint, std::nullopt);
  clock.Advance(seconds(1));
  Print("a", "Saving model checkpoint to out/checkpoint-1");
  const WallTime written = clock.WallNow();
  clock.Advance(seconds(1));
  data.use->process = GiB(9);
  keeper.FollowLogs();
  EXPECT_EQ(Of("a").checkpoint, written);
  EXPECT_EQ(data.reads, 2);
  EXPECT_EQ(Of("a").memory->process, GiB(9));
  clock.Advance(seconds(1));
  PrintBar("a", 2, 100);
  keeper.FollowLogs();
  EXPECT_EQ(Of("a").checkpoint, written) << "it stays known";
  EXPECT_EQ(data.reads, 2) << "and others are read now and then, as ever";
}

TEST_F(ProgressKeeperTest, AnotherContainerHasItsOwnPeak) {
  data.use = synergy::MemoryUse{.process = GiB(8)};
  wire::ResizeStatus pod = Pod("a");
  pods.Replace({pod});
  PrintBar("a", 1, 100);
  keeper.FollowLogs();
  keeper.FollowLogs();
  pod.containers.front().id = "containerd://next";
  data.use->process = GiB(2);
  pods.Replace({pod});
  keeper.FollowLogs();
  ASSERT_TRUE(Of("a").memory);
  EXPECT_EQ(Of("a").memory->process, GiB(2));
}

TEST_F(ProgressKeeperTest, MarksStorageThatPodsShare) {
  data.use = synergy::MemoryUse{.process = GiB(8)};
  std::vector<wire::ResizeStatus> all{Pod("a"), Pod("b"), Pod("c")};
  all[0].storage = all[1].storage = {"claim team/data"};
  all[2].storage = {"claim team/own"};
  for (const wire::ResizeStatus& pod : all) PrintBar(pod.name, 1, 100);
  pods.Replace(all);
  keeper.FollowLogs();
  keeper.FollowLogs();
  EXPECT_TRUE(Of("a").memory->shared);
  EXPECT_TRUE(Of("b").memory->shared);
  EXPECT_FALSE(Of("c").memory->shared);
}

}  // namespace
}  // namespace synergy::nodeagent
