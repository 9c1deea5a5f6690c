#include "nodeagent/progress_keeper.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/wall_time.h"
#include "support/fake_clock.h"
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

struct HeardEvents final : kube::EventRecorder {
  void Record(kube::EventRecord event) override { events.push_back(std::move(event)); }
  uint64_t dropped() const override { return 0; }

  std::vector<kube::EventRecord> events;
};

struct FakeCpu final : CpuGroups {
  Result<CpuUse> Read(const wire::ResizeStatus&, const wire::ResizeStatus::Container&) override {
    ++reads;
    return use;
  }
  CpuUse use{seconds(7), {}, std::nullopt};
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
    Fungible fungible;
    fungible.container = "train";
    pod.fungible = std::make_shared<const Fungible>(fungible);
    return pod;
  }
  // A line of the pod's log at this moment.
  void Print(const std::string& name, const std::string& text) {
    const std::string file = folder.Path("team_" + name + "_uid-" + name + "/train/0.log");
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

  testing::FakeClock clock;
  testing::SilentSink sink;
  Logger log{sink, clock, LogLevel::kDebug, LogFormat::kText};
  metrics::NodeAgentMetrics metrics;
  testing::TemporaryFolder folder;
  HeardEvents events;
  FakeCpu cpu;
  NodePods pods;
  std::string page;
  std::string asked;
  ProgressKeeper keeper{pods,
                        cpu,
                        folder.Path(""),
                        [this](const std::string& ip, uint16_t port, const std::string& path,
                               const std::stop_token&) -> Result<std::string> {
                          asked = fmt::format("{}:{}{}", ip, port, path);
                          return page;
                        },
                        clock,
                        log,
                        events,
                        metrics};
};

TEST_F(ProgressKeeperTest, MeasuresByTheLog) {
  pods.Replace({Pod("a")});
  keeper.FollowLogs();
  EXPECT_EQ(Of("a").format, "");
  EXPECT_EQ(Of("a").cpu, cpu.use);
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

TEST_F(ProgressKeeperTest, AnAgentThatStartsAgainKnowsTheRateAtOnce) {
  pods.Replace({Pod("a")});
  for (int iteration = 10; iteration <= 300; iteration += 10) {
    PrintBar("a", iteration, 1000);
    clock.Advance(seconds(1));
  }
  keeper.FollowLogs();
  EXPECT_EQ(Of("a").iteration, 300);
  EXPECT_THAT(Of("a").rate, Optional(DoubleNear(10, 0.01)));
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

TEST_F(ProgressKeeperTest, SaysOnceWhatIsWrongWithAPatternAndTakesTheShippedOnes) {
  wire::ResizeStatus pod = Pod("a");
  pod.progress.pattern = "did (";
  pods.Replace({pod});
  PrintBar("a", 5, 50);
  for (int i = 0; i < 3; ++i) keeper.FollowLogs();
  ASSERT_THAT(events.events, SizeIs(1));
  EXPECT_EQ(events.events[0].reason, "SynergyProgressUnseen");
  EXPECT_THAT(events.events[0].message, HasSubstr("synergy.io/progress-pattern"));
  EXPECT_EQ(Of("a").format, "tqdm");
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
  // The process has begun anew.
  page = "steps_total 20\n";
  keeper.ReadCounters({});
  EXPECT_EQ(Of("a").iterations, 520);
}

TEST_F(ProgressKeeperTest, SaysWhatACounterLacks) {
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
  ASSERT_THAT(events.events, SizeIs(3));
  EXPECT_THAT(events.events[0].message, HasSubstr("synergy.io/progress-port"));
  EXPECT_THAT(events.events[1].message, HasSubstr("use its log"));
  EXPECT_THAT(events.events[2].message, HasSubstr("step_total"));
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

}  // namespace
}  // namespace synergy::nodeagent
