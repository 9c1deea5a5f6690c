#include "nodeagent/progress_keeper.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "cluster/annotations.h"
#include "core/rounding.h"
#include "nodeagent/busy_time.h"
#include "nodeagent/counter_page.h"
#include "nodeagent/log_tail.h"
#include "progress/log_progress.h"
#include "progress/rate_meter.h"

namespace synergy::nodeagent {
namespace {

// How often the CPU time of a pod is read that says nothing new.
constexpr Duration kCpuInterval = std::chrono::seconds(10);
// What is done with memory is learnt from hours.
constexpr Duration kMemoryInterval = std::chrono::seconds(10);
// Beyond these a counter is not one of iterations, and a double does not count any more.
constexpr double kMostCounted = 1e15;

// Time is counted by the clock on the wall; what lies so far ahead is not worth a sum.
constexpr double kMostSeconds = 1e8;

std::optional<Duration> Remaining(const std::optional<int64_t>& iteration,
                                  const std::optional<int64_t>& total,
                                  const std::optional<double>& rate) {
  if (!iteration || !total || !rate || *rate <= 0 || *iteration > *total) return std::nullopt;
  const double seconds = static_cast<double>(*total - *iteration) / *rate;
  if (!(seconds < kMostSeconds)) return std::nullopt;
  return ToDuration(Seconds(seconds));
}

const wire::ResizeStatus::Container* MeasuredContainer(const wire::ResizeStatus& pod,
                                                       bool counter) {
  return pod.progress.counter.empty() == counter ? nullptr : TrainingContainer(pod);
}

}  // namespace

struct ProgressKeeper::Told {
  PodProgress progress;
  Instant cpu_read{};
  std::optional<Instant> memory_read;
  std::string memory_of;           // the container's id
  std::set<std::string> failures;  // of which somebody was told

  Told(const wire::ResizeStatus& pod, const wire::ResizeStatus::Container& container) {
    progress.uid = pod.uid;
    progress.pod_namespace = pod.pod_namespace;
    progress.name = pod.name;
    progress.container = container.name;
  }
};

struct ProgressKeeper::Followed {
  Told told;
  const std::string pattern;
  LogTail tail;
  LogProgress log;
  BusyTime busy{};  // as long as the log says nothing
};

struct ProgressKeeper::Counted {
  Told told;
  const wire::ResizeStatus::ProgressSource source;
  RateMeter meter;
  std::optional<double> last;
  WallTime first_at{};
};

ProgressKeeper::ProgressKeeper(const NodePods& pods, ProgressSources sources, const Clock& clock,
                               Logger& log, kube::EventRecorder& events,
                               metrics::NodeAgentMetrics& metrics)
    : pods_(pods),
      sources_(std::move(sources)),
      clock_(clock),
      log_(log),
      events_(events),
      metrics_(metrics),
      since_(clock.WallNow()) {}

ProgressKeeper::~ProgressKeeper() = default;

std::optional<NodeBusy> ProgressKeeper::ReadFreshBusy() {
  const Result<NodeBusy> busy = sources_.read_busy();
  std::string problem;
  if (!busy && busy.error().code != ErrorCode::kNotFound) {
    metrics_.CountError("gpu_busy_unreadable");
    problem = busy.error().message;
    if (problem != busy_problem_)
      log_.Warn("nobody tells how busy the node's GPUs are", {{"error", problem}});
  }
  busy_problem_ = std::move(problem);
  if (!busy || std::chrono::abs(clock_.WallNow() - busy->at) > kLongestBusyAge) return std::nullopt;
  return *busy;
}

void ProgressKeeper::FollowLogs() {
  const std::optional<NodeBusy> busy = ReadFreshBusy();
  std::map<std::string, Followed> followed;
  const std::vector<PodPointer> pods = pods_.All();
  const SharedStorage shared(pods);
  for (const PodPointer& pod : pods) {
    const auto* const container = MeasuredContainer(*pod, false);
    if (container == nullptr) continue;
    auto node = followed_.extract(pod->uid);
    if (node.empty() || node.mapped().pattern != pod->progress.pattern) {
      Told told(*pod, *container);
      std::optional<OwnPattern> own;
      if (const std::string& pattern = pod->progress.pattern; !pattern.empty()) {
        const Result<OwnPattern> parsed = OwnPattern::Parse(pattern);
        if (parsed) {
          own = *parsed;
        } else {
          Report(*pod, told, "bad_pattern",
                 fmt::format("annotation {}: {}", annotations::kProgressPattern,
                             parsed.error().message),
                 true);
        }
      }
      // As the kubelet names its folders.
      LogTail tail(std::filesystem::path(sources_.log_folder) /
                   fmt::format("{}_{}_{}", pod->pod_namespace, pod->name, pod->uid) /
                   container->name);
      const auto made = followed.try_emplace(
          pod->uid, Followed{std::move(told), pod->progress.pattern, std::move(tail),
                             LogProgress(ContainerLog::Form::kCri, std::move(own))});
      Follow(*pod, *container, busy, made.first->second);
      continue;
    }
    const auto kept = followed.insert(std::move(node)).position;
    Follow(*pod, *container, busy, kept->second);
    ReadMemory(*pod, *container, shared, kept->second.told);
  }
  followed_ = std::move(followed);
  Publish(followed_, by_logs_);
}

void ProgressKeeper::Follow(const wire::ResizeStatus& pod,
                            const wire::ResizeStatus::Container& container,
                            const std::optional<NodeBusy>& busy, Followed& followed) {
  const Result<size_t> read =
      followed.tail.Read([&followed](std::string_view text) { followed.log.Feed(text); });
  if (!read) ReportLog(pod, followed.told, read.error());
  PodProgress& progress = followed.told.progress;
  const bool news = read && *read > 0;
  if (news) {
    const TrainingProgress now = followed.log.Current();
    progress.format = now.format;
    progress.iteration = now.iteration;
    progress.total = now.total;
    progress.epoch = now.epoch;
    progress.loss = now.loss;
    progress.rate = now.rate;
    progress.overall_rate = now.overall_rate;
    progress.iterations = static_cast<double>(now.counted);
    progress.last = now.last_training;
    progress.remaining = Remaining(now.iteration, now.total, now.rate);
    // Its memory is at its peak now.
    if (now.checkpoint != progress.checkpoint) followed.told.memory_read.reset();
    progress.checkpoint = now.checkpoint;
  }
  progress.estimate.reset();
  bool is_busier = false;
  if (!progress.format.empty()) {
    followed.busy = {};
  } else if (const ContainerBusy* const told =
                 busy ? FindBusy(*busy, pod.pod_namespace, pod.name, container.name) : nullptr) {
    is_busier = followed.busy.Hear(*told, busy->at);
    progress.estimate = followed.busy.Estimate();
  }
  if (news || is_busier || clock_.Now() - followed.told.cpu_read >= kCpuInterval)
    ReadCpu(pod, container, followed.told);
}

void ProgressKeeper::ReportLog(const wire::ResizeStatus& pod, Told& told, const Error& error) {
  if (error.code == ErrorCode::kNotFound) return;  // it has just been started
  if (error.code != ErrorCode::kInvalid)
    return Report(pod, told, "log_unreadable", error.message, false);
  Report(pod, told, "log_elsewhere",
         fmt::format("{}, and logs outside of {} are not read, as those of Docker's json-file "
                     "driver (docs/compatibility.md): name a counter instead (annotation {})",
                     error.message, sources_.log_folder, annotations::kProgressCounter),
         true);
}

void ProgressKeeper::ReadCounters(const std::stop_token& stop) {
  std::map<std::string, Counted> all;
  const std::vector<PodPointer> pods = pods_.All();
  const SharedStorage shared(pods);
  for (const PodPointer& pod : pods) {
    const auto* const container = MeasuredContainer(*pod, true);
    if (container == nullptr) continue;
    auto node = counted_.extract(pod->uid);
    const bool known = !node.empty() && node.mapped().source == pod->progress;
    const auto kept =
        known
            ? all.insert(std::move(node)).position
            : all.try_emplace(pod->uid, Counted{Told(*pod, *container), pod->progress, {}, {}, {}})
                  .first;
    Count(*pod, *container, kept->second, stop);
    ReadMemory(*pod, *container, shared, kept->second.told);
  }
  counted_ = std::move(all);
  Publish(counted_, by_counters_);
}

void ProgressKeeper::Count(const wire::ResizeStatus& pod,
                           const wire::ResizeStatus::Container& container, Counted& counted,
                           const std::stop_token& stop) {
  ReadCpu(pod, container, counted.told);
  if (!pod.progress.port) {
    return Report(pod, counted.told, "no_port",
                  fmt::format("annotation {} needs {}, a port's number",
                              annotations::kProgressCounter, annotations::kProgressPort),
                  true);
  }
  if (pod.ip.empty()) {
    return Report(pod, counted.told, "no_address",
                  fmt::format("annotation {}: a pod in the node's network has no address of its "
                              "own; use its log instead",
                              annotations::kProgressCounter),
                  true);
  }
  const Result<std::string> page =
      sources_.read_page(pod.ip, *pod.progress.port, pod.progress.path, stop);
  if (!page) return Report(pod, counted.told, "no_page", page.error().message, false);
  const Result<double> value = FindCounter(*page, pod.progress.counter);
  if (!value || *value > kMostCounted) {
    return Report(pod, counted.told, "no_counter",
                  value ? fmt::format("counter {} is too large", pod.progress.counter)
                        : value.error().message,
                  true);
  }
  const WallTime now = clock_.WallNow();
  PodProgress& progress = counted.told.progress;
  if (!counted.last) counted.first_at = now;
  // What falls has begun anew, at nothing.
  const double before = counted.last.value_or(*value);
  progress.iterations += *value >= before ? *value - before : *value;
  counted.last = *value;
  counted.meter.Add(now, ToNearest(progress.iterations));
  progress.format = "counter";
  progress.iteration = ToNearest(*value);
  progress.rate = counted.meter.Rate();
  const double seconds = Seconds(now - counted.first_at).count();
  if (seconds > 0) progress.overall_rate = progress.iterations / seconds;
  progress.last = now;
}

void ProgressKeeper::ReadCpu(const wire::ResizeStatus& pod,
                             const wire::ResizeStatus::Container& container, Told& told) {
  told.cpu_read = clock_.Now();
  const Result<CpuUse> use = sources_.cpu.Read(pod, container);
  if (use) {
    told.progress.cpu = *use;
    told.progress.cpu->at = clock_.WallNow();
  } else if (use.error().code != ErrorCode::kNotFound) {
    Report(pod, told, "cpu_unreadable", use.error().message, false);
  }
}

void ProgressKeeper::ReadMemory(const wire::ResizeStatus& pod,
                                const wire::ResizeStatus::Container& container,
                                const SharedStorage& shared, Told& told) {
  std::optional<synergy::MemoryUse>& known = told.progress.memory;
  if (told.memory_of != container.id) {
    told.memory_of = container.id;
    told.memory_read.reset();
    known.reset();
  }
  const bool due = !told.memory_read || clock_.Now() - *told.memory_read >= kMemoryInterval;
  if (told.progress.format.empty() || !due) return;
  told.memory_read = clock_.Now();
  auto use = sources_.data.Read(pod, container);
  if (!use) return;
  use->at = clock_.WallNow();
  use->shared = shared.IsReadBy(pod);
  if (known) use->process = std::max(use->process, known->process);
  known = *use;
}

void ProgressKeeper::Report(const wire::ResizeStatus& pod, Told& told, std::string_view reason,
                            const std::string& message, bool pods_fault) {
  metrics_.CountError(reason);
  if (!told.failures.emplace(reason).second) return;
  log_.Warn("the progress of a pod cannot be seen",
            {{"pod", pod.Key()}, {"reason", reason}, {"error", message}});
  if (!pods_fault) return;
  events_.Record(
      {pod.pod_namespace, pod.name, pod.uid, "Warning", "SynergyProgressUnseen", message});
}

template <class Kept>
void ProgressKeeper::Publish(const std::map<std::string, Kept>& kept,
                             std::map<std::string, PodProgress>& known) {
  std::map<std::string, PodProgress> fresh;
  for (const auto& [uid, one] : kept) fresh.emplace(uid, one.told.progress);
  const std::lock_guard lock(mutex_);
  known = std::move(fresh);
}

NodeProgress ProgressKeeper::Report(std::string node,
                                    const std::map<std::string, ProbeReading>& probes) const {
  NodeProgress report{.node = std::move(node), .since = since_, .at = clock_.WallNow(), .pods = {}};
  const std::lock_guard lock(mutex_);
  for (const auto* const known : {&by_logs_, &by_counters_}) {
    for (const auto& [uid, progress] : *known) {
      PodProgress& pod = report.pods.emplace_back(progress);
      if (const auto probe = probes.find(uid); probe != probes.end()) pod.probe = probe->second;
    }
  }
  return report;
}

}  // namespace synergy::nodeagent
