#include "bench/progress/node.h"

#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/log.h"
#include "core/wall_time.h"
#include "metrics/node_agent_metrics.h"
#include "nodeagent/cgroups/cpu_groups.h"
#include "nodeagent/cgroups/node_pods.h"
#include "nodeagent/memory/data_use.h"
#include "nodeagent/progress/progress_keeper.h"
#include "support/fake_clock.h"
#include "support/recorded_events.h"
#include "support/silent_log.h"
#include "support/temporary_folder.h"

namespace synergy::bench {
namespace {

constexpr int kPods = 8;
constexpr int kLinesPerSecond = 100;
constexpr int kSeconds = 60;

struct NoCpu final : nodeagent::CpuGroups {
  Result<CpuUse> Read(const wire::ResizeStatus&, const wire::ResizeStatus::Container&) override {
    return CpuUse{};
  }
};

struct NoData final : nodeagent::DataUse {
  std::optional<MemoryUse> Read(const wire::ResizeStatus&,
                                const wire::ResizeStatus::Container&) override {
    return std::nullopt;
  }
};

wire::ResizeStatus Pod(int number) {
  wire::ResizeStatus pod;
  pod.uid = fmt::format("uid-{}", number);
  pod.pod_namespace = "team";
  pod.name = fmt::format("train-{}", number);
  pod.containers.push_back({"train", fmt::format("containerd://{}", number), {}, {}});
  ManagedContainer fungible;
  fungible.container = "train";
  pod.fungible = std::make_shared<const ManagedContainer>(fungible);
  return pod;
}

double CpuSeconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace

double PartOfACoreToFollowLogs() {
  testing::TemporaryFolder folder;
  testing::FakeClock clock;
  testing::SilentSink sink;
  Logger log{sink, clock, LogLevel::kInfo, LogFormat::kText};
  metrics::NodeAgentMetrics metrics;
  testing::RecordedEvents events;
  NoCpu cpu;
  NoData data;
  nodeagent::NodePods pods;
  std::vector<std::string> files;
  std::vector<wire::ResizeStatus> all;
  for (int i = 0; i < kPods; ++i) {
    all.push_back(Pod(i));
    files.push_back(folder.Path(fmt::format("team_train-{0}_uid-{0}/train/0.log", i)));
    std::filesystem::create_directories(std::filesystem::path(files.back()).parent_path());
  }
  pods.Replace(std::move(all));
  nodeagent::ProgressKeeper keeper(
      pods,
      {.cpu = cpu,
       .data = data,
       .log_folder = folder.Path(""),
       .pods_folder = "",
       .read_page = [](const auto&...) -> Result<std::string> {
         return Fail(ErrorCode::kNotFound, "no page");
       },
       .read_busy = []() -> Result<NodeBusy> { return Fail(ErrorCode::kNotFound, "no file"); }},
      clock, log, events, metrics);
  double used = 0;
  for (int second = 0; second < kSeconds; ++second) {
    for (const std::string& file : files) {
      std::ofstream out(file, std::ios::app);
      for (int line = 0; line < kLinesPerSecond; ++line) {
        const int iteration = second * kLinesPerSecond + line;
        out << fmt::format(
            "{} stderr F {:3}%|████▌     | {}/20000 [00:12<00:15, 35.20it/s, loss=0.35]\n",
            ToTimeText(clock.WallNow() + line * std::chrono::milliseconds(10)), iteration / 200,
            iteration);
      }
    }
    clock.Advance(std::chrono::seconds(1));
    const double begun = CpuSeconds();
    keeper.FollowLogs();
    used += CpuSeconds() - begun;
  }
  return used / kSeconds;
}

}  // namespace synergy::bench
