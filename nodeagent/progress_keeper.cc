#include "nodeagent/progress_keeper.h"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "cluster/annotations.h"
#include "nodeagent/counter_page.h"
#include "nodeagent/log_tail.h"
#include "progress/log_progress.h"
#include "progress/rate_meter.h"

namespace synergy::nodeagent {
namespace {

// How often the CPU time of a pod is read that says nothing new.
constexpr Duration kCpuInterval = std::chrono::seconds(10);
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
  return std::chrono::duration_cast<Duration>(Seconds(seconds));
}

const wire::ResizeStatus::Container* MeasuredContainer(const wire::ResizeStatus& pod,
                                                       bool counter) {
  return pod.progress.counter.empty() == counter ? nullptr : TrainingContainer(pod);
}

}  // namespace

struct ProgressKeeper::Told {
  PodProgress progress;
  Instant cpu_read{};
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
};

struct ProgressKeeper::Counted {
  Told told;
  const wire::ResizeStatus::ProgressSource source;
  RateMeter meter;
  std::optional<double> last;
  WallTime first_at{};
};

ProgressKeeper::ProgressKeeper(const NodePods& pods, CpuGroups& cpu, std::string log_folder,
                               ReadPage read_page, const Clock& clock, Logger& log,
                               kube::EventRecorder& events, metrics::NodeAgentMetrics& metrics)
    : pods_(pods),
      cpu_(cpu),
      log_folder_(std::move(log_folder)),
      read_page_(std::move(read_page)),
      clock_(clock),
      log_(log),
      events_(events),
      metrics_(metrics),
      since_(clock.WallNow()) {}

ProgressKeeper::~ProgressKeeper() = default;

void ProgressKeeper::FollowLogs() {
  std::map<std::string, Followed> followed;
  for (const PodPointer& pod : pods_.All()) {
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
      LogTail tail(fmt::format("{}/{}_{}_{}/{}", log_folder_, pod->pod_namespace, pod->name,
                               pod->uid, container->name));
      const auto made = followed.try_emplace(
          pod->uid, Followed{std::move(told), pod->progress.pattern, std::move(tail),
                             LogProgress(ContainerLog::Form::kCri, std::move(own))});
      Follow(*pod, *container, made.first->second);
      continue;
    }
    const auto kept = followed.insert(std::move(node)).position;
    Follow(*pod, *container, kept->second);
  }
  followed_ = std::move(followed);
  Publish(followed_, by_logs_);
}

void ProgressKeeper::Follow(const wire::ResizeStatus& pod,
                            const wire::ResizeStatus::Container& container, Followed& followed) {
  const Result<size_t> read =
      followed.tail.Read([&followed](std::string_view text) { followed.log.Feed(text); });
  // A container that has just been started has none.
  if (!read && read.error().code != ErrorCode::kNotFound)
    Report(pod, followed.told, "log_unreadable", read.error().message, false);
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
  }
  if (news || clock_.Now() - followed.told.cpu_read >= kCpuInterval)
    ReadCpu(pod, container, followed.told);
}

void ProgressKeeper::ReadCounters(const std::stop_token& stop) {
  std::map<std::string, Counted> all;
  for (const PodPointer& pod : pods_.All()) {
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
  const Result<std::string> page = read_page_(pod.ip, *pod.progress.port, pod.progress.path, stop);
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
  counted.meter.Add(now, std::llround(progress.iterations));
  progress.format = "counter";
  progress.iteration = std::llround(*value);
  progress.rate = counted.meter.Rate();
  const double seconds = Seconds(now - counted.first_at).count();
  if (seconds > 0) progress.overall_rate = progress.iterations / seconds;
  progress.last = now;
}

void ProgressKeeper::ReadCpu(const wire::ResizeStatus& pod,
                             const wire::ResizeStatus::Container& container, Told& told) {
  told.cpu_read = clock_.Now();
  const Result<CpuUse> use = cpu_.Read(pod, container);
  if (use) {
    told.progress.cpu = *use;
  } else if (use.error().code != ErrorCode::kNotFound) {
    Report(pod, told, "cpu_unreadable", use.error().message, false);
  }
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

NodeProgress ProgressKeeper::Report(std::string node) const {
  NodeProgress report{.node = std::move(node), .since = since_, .at = clock_.WallNow(), .pods = {}};
  const std::lock_guard lock(mutex_);
  for (const auto* const known : {&by_logs_, &by_counters_}) {
    for (const auto& [uid, progress] : *known) report.pods.push_back(progress);
  }
  return report;
}

}  // namespace synergy::nodeagent
