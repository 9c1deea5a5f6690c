#include "nodeagent/progress/progress_keeper.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "cluster/annotations.h"
#include "core/rounding.h"
#include "nodeagent/cgroups/busy_time.h"
#include "nodeagent/progress/idle_time.h"
#include "nodeagent/progress/log_tail.h"
#include "nodeagent/progress/metrics_page.h"
#include "nodeagent/progress/progress_file.h"
#include "progress/log_progress.h"
#include "progress/rate_meter.h"

namespace synergy::nodeagent {
namespace {

// The interval between two readings of the CPU time of a pod without new progress.
constexpr Duration kCpuInterval = std::chrono::seconds(10);
// A container whose CPU use was not read for longer does not count as idle.
constexpr Duration kLongestCpuAge = 3 * kCpuInterval;
// The interval between two readings of memory use; the profiler evaluates hours of readings.
constexpr Duration kMemoryInterval = std::chrono::seconds(10);
// The amount of text after which the CPU time is checked.
constexpr size_t kPiece = size_t{4} << 10;
// A pod whose log has this much CPU debt gets an event.
constexpr Duration kLongDebt = std::chrono::seconds(1);
// How many counters to read concurrently.
constexpr size_t kAskedAtOnce = 16;
// A larger value cannot be a count of iterations. Doubles represent all whole numbers up to it.
constexpr double kMostCounted = 1e15;

// Limits the remaining time in wall-clock seconds; a longer estimate is meaningless.
constexpr double kMostSeconds = 1e8;

std::optional<Duration> Remaining(const std::optional<int64_t>& iteration,
                                  const std::optional<int64_t>& total,
                                  const std::optional<double>& rate) {
  if (!iteration || !total || !rate || *rate <= 0 || *iteration > *total) return std::nullopt;
  const double left = static_cast<double>(*total - *iteration) / *rate;
  if (!(left < kMostSeconds)) return std::nullopt;
  return ToDuration(Seconds(left));
}

}  // namespace

Duration ProgressSources::UsedByThisThread() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

struct ProgressKeeper::Reported {
  PodProgress progress;
  Instant cpu_read{};  // when the CPU time was last read, even if the read failed
  Instant cpu_at{};    // the time of the present figure
  std::optional<Instant> memory_read;
  std::string memory_of;           // the container's id
  std::set<std::string> failures;  // already reported

  Reported(const wire::ResizeStatus& pod, const wire::ResizeStatus::Container& container) {
    progress.uid = pod.uid;
    progress.pod_namespace = pod.pod_namespace;
    progress.name = pod.name;
    progress.container = container.name;
  }
};

struct ProgressKeeper::Followed {
  Reported reported;
  const std::string pattern;
  LogTail tail;
  LogProgress log;
  int restarts = -1;  // the container's restarts at the last parsed text; -1: none was parsed
  BusyTime busy{};    // used while the log has no progress
  IdleTime idle{};
  Duration debt{};  // CPU time that reading the log took beyond its share
};

struct ProgressKeeper::Counted {
  Reported reported;
  const wire::ResizeStatus::ProgressSource source;
  RateMeter meter;
  std::optional<double> last;
  Instant first_at{};

  // `value`: the counter's value; `more`: iterations since the last time.
  void Add(Moment at, double value, double more) {
    if (!last) first_at = at.now;
    last = value;
    // A counter that falls repeatedly must not add up to more than a meter can represent.
    reported.progress.iterations = std::min(reported.progress.iterations + more, kMostCounted);
    // The meter needs only differences of times, and the wall clock may jump.
    meter.Add(WallTime(at.now.time_since_epoch()), ToNearest(reported.progress.iterations));
    reported.progress.iteration = ToNearest(value);
    reported.progress.rate = meter.Rate();
    const double counted_for = Seconds(at.now - first_at).count();
    if (counted_for > 0)
      reported.progress.overall_rate = reported.progress.iterations / counted_for;
    reported.progress.last = at.wall;
  }
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

const wire::ResizeStatus::Container* ProgressKeeper::Measured(const wire::ResizeStatus& pod,
                                                              Source source) const {
  const bool file = pod.progress.file && !sources_.pods_folder.empty();
  const Source own = file                           ? Source::kFile
                     : pod.progress.counter.empty() ? Source::kLog
                                                    : Source::kCounter;
  return own == source ? TrainingContainer(pod) : nullptr;
}

void ProgressKeeper::ReportUnreadFile(const wire::ResizeStatus& pod, Reported& reported) {
  if (!pod.progress.file || !sources_.pods_folder.empty()) return;
  Report(pod, reported, "file_unread",
         fmt::format("annotation {}: the node agent does not read such files; the administrator "
                     "can allow it (the chart's value nodeAgent.progressFiles). Until then the "
                     "pod's counter or log is used",
                     annotations::kProgressFile),
         true);
}

ProgressKeeper::Counted& ProgressKeeper::Keep(const wire::ResizeStatus& pod,
                                              const wire::ResizeStatus::Container& container,
                                              std::map<std::string, Counted>& from,
                                              std::map<std::string, Counted>& to) {
  auto node = from.extract(pod.uid);
  if (!node.empty() && node.mapped().source == pod.progress)
    return to.insert(std::move(node)).position->second;
  return to
      .try_emplace(pod.uid, Counted{.reported = Reported(pod, container),
                                    .source = pod.progress,
                                    .meter = {},
                                    .last = {},
                                    .first_at = {}})
      .first->second;
}

std::optional<ProgressKeeper::FreshBusy> ProgressKeeper::ReadFreshBusy() {
  const Result<NodeBusy> busy = sources_.read_busy();
  std::string problem;
  if (!busy && busy.error().code != ErrorCode::kNotFound) {
    metrics_.CountError("gpu_busy_unreadable");
    problem = busy.error().message;
    if (problem != busy_problem_)
      log_.Warn("cannot read how busy the node's GPUs are", {{"error", problem}});
  }
  busy_problem_ = std::move(problem);
  if (!busy) return std::nullopt;
  const Duration longest = std::max(kLongestBusyAge, busy->interval * kLateIntervals);
  const Moment now = clock_.Present();
  const Duration age = now.wall - busy->at;
  if (std::chrono::abs(age) > longest) return std::nullopt;
  if (busy->at != busy_at_.wall) busy_at_ = {now.now - std::max(age, Duration::zero()), busy->at};
  return FreshBusy{*busy, busy_at_};
}

void ProgressKeeper::FollowLogs() {
  const std::optional<FreshBusy> busy = ReadFreshBusy();
  std::map<std::string, Followed> followed;
  const std::vector<PodPointer> pods = pods_.All();
  const SharedStorage shared(pods);
  for (const PodPointer& pod : pods) {
    const auto* const container = Measured(*pod, Source::kLog);
    if (container == nullptr) continue;
    auto node = followed_.extract(pod->uid);
    if (node.empty() || node.mapped().pattern != pod->progress.pattern) {
      Reported reported(*pod, *container);
      std::optional<OwnPattern> own;
      if (const std::string& pattern = pod->progress.pattern; !pattern.empty()) {
        const Result<OwnPattern> parsed = OwnPattern::Parse(pattern);
        if (parsed) {
          own = *parsed;
        } else {
          Report(*pod, reported, "bad_pattern",
                 fmt::format("annotation {}: {}", annotations::kProgressPattern,
                             parsed.error().message),
                 true);
        }
      }
      // The kubelet's name for the pod's folder of logs.
      LogTail tail(std::filesystem::path(sources_.log_folder) /
                   fmt::format("{}_{}_{}", pod->pod_namespace, pod->name, pod->uid) /
                   container->name);
      ReportUnreadFile(*pod, reported);
      const auto made = followed.try_emplace(
          pod->uid, Followed{std::move(reported), pod->progress.pattern, std::move(tail),
                             LogProgress(ContainerLog::Form::kCri, std::move(own))});
      Follow(*pod, *container, busy, made.first->second);
      continue;
    }
    const auto kept = followed.insert(std::move(node)).position;
    Follow(*pod, *container, busy, kept->second);
    ReadMemory(*pod, *container, shared, kept->second.reported);
  }
  followed_ = std::move(followed);
  Publish(followed_, by_logs_);
}

void ProgressKeeper::Follow(const wire::ResizeStatus& pod,
                            const wire::ResizeStatus::Container& container,
                            const std::optional<FreshBusy>& busy, Followed& followed) {
  followed.log.Pause(sources_.time_suspended(pod.uid));
  const Result<size_t> read = ReadLog(pod, followed);
  if (!read) ReportLog(pod, followed.reported, read.error());
  PodProgress& progress = followed.reported.progress;
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
    // Read the memory use now, because it peaks during a checkpoint.
    if (now.checkpoint != progress.checkpoint) followed.reported.memory_read.reset();
    progress.checkpoint = now.checkpoint;
  }
  const ContainerBusy* const reported =
      busy ? FindBusy(busy->busy, pod.pod_namespace, pod.name, container.name) : nullptr;
  const Moment busy_at = busy ? busy->at : Moment{};
  progress.estimate.reset();
  bool is_busier = false;
  if (!progress.format.empty()) {
    followed.busy = {};
  } else if (reported != nullptr) {
    is_busier = followed.busy.Observe(*reported, busy_at);
    progress.estimate = followed.busy.Estimate();
  }
  // Read the CPU time often while a pod is idle, so that it quickly gets its amounts back when it
  // becomes busy.
  const bool may_wake = progress.idle.has_value();
  if (news || is_busier || may_wake || clock_.Now() - followed.reported.cpu_read >= kCpuInterval)
    ReadCpu(pod, container, followed.reported);
  const Instant now = clock_.Now();
  const Instant cpu_at = followed.reported.cpu_at;
  const bool cpu_known = progress.cpu && now - cpu_at <= kLongestCpuAge;
  followed.idle.Observe(reported, busy_at.now, cpu_known ? progress.cpu : std::nullopt, cpu_at,
                        now);
  progress.idle = followed.idle.reading();
}

Result<size_t> ProgressKeeper::ReadLog(const wire::ResizeStatus& pod, Followed& followed) {
  followed.debt = std::max(followed.debt - kMostCpu, Duration(0));
  if (followed.debt > Duration(0)) return 0;
  const Duration begin = sources_.cpu_time();
  Duration used(0);
  Result<size_t> read = followed.tail.Read([&](std::string_view text) {
    const int before = std::exchange(followed.restarts, followed.tail.restarts());
    if (before >= 0 && before != followed.restarts) followed.log.NoteRestart();
    while (!text.empty() && used < kMostCpu) {
      const std::string_view piece = text.substr(0, text.find('\n', kPiece));
      followed.log.Feed(piece);
      text.remove_prefix(piece.size());
      used = sources_.cpu_time() - begin;
    }
  });
  if (used > kMostCpu) followed.debt = used;
  if (followed.debt >= kLongDebt) {
    Report(pod, followed.reported, "too_dear",
           "its log takes too much CPU time to read, and only part of it is read: use a simpler "
           "pattern, or shorter lines",
           true);
  }
  return read;
}

void ProgressKeeper::ReportLog(const wire::ResizeStatus& pod, Reported& reported,
                               const Error& error) {
  if (error.code == ErrorCode::kNotFound) return;  // the container has just started
  if (error.code != ErrorCode::kInvalid)
    return Report(pod, reported, "log_unreadable", error.message, false);
  Report(pod, reported, "log_elsewhere",
         fmt::format("{}, and logs outside of {} are not read, as those of Docker's json-file "
                     "driver (docs/compatibility.md): name a counter instead (annotation {})",
                     error.message, sources_.log_folder, annotations::kProgressCounter),
         true);
}

void ProgressKeeper::ReadCounters(const std::stop_token& stop) {
  std::map<std::string, Counted> all;
  const std::vector<PodPointer> pods = pods_.All();
  const SharedStorage shared(pods);
  const auto pages = ReadPages(pods, stop);
  for (const PodPointer& pod : pods) {
    const auto* const container = Measured(*pod, Source::kCounter);
    if (container == nullptr) continue;
    Counted& counted = Keep(*pod, *container, counted_, all);
    ReportUnreadFile(*pod, counted.reported);
    const auto page = pages.find(pod->uid);
    Count(*pod, *container, page == pages.end() ? nullptr : &page->second, counted);
    ReadMemory(*pod, *container, shared, counted.reported);
  }
  counted_ = std::move(all);
  Publish(counted_, by_counters_);
}

std::map<std::string, Result<std::string>> ProgressKeeper::ReadPages(
    const std::vector<PodPointer>& pods, const std::stop_token& stop) const {
  std::vector<PodPointer> asked;
  for (const PodPointer& pod : pods) {
    if (Measured(*pod, Source::kCounter) != nullptr && pod->progress.port && !pod->ip.empty())
      asked.push_back(pod);
  }
  std::map<std::string, Result<std::string>> pages;
  std::mutex mutex;
  std::condition_variable all_read;
  std::stop_source over;
  const std::stop_callback on_stop(stop, [&over] { over.request_stop(); });
  std::atomic<size_t> next = 0;
  std::vector<std::jthread> threads;
  for (size_t thread = 0; thread < std::min(asked.size(), kAskedAtOnce); ++thread) {
    threads.emplace_back([&] {
      for (size_t index = next++; index < asked.size(); index = next++) {
        const wire::ResizeStatus& pod = *asked[index];
        Result<std::string> page = Fail(ErrorCode::kTimeout, "not asked in time");
        if (!over.stop_requested()) {
          page =
              sources_.read_page(pod.ip, *pod.progress.port, pod.progress.path, over.get_token());
        }
        const std::lock_guard lock(mutex);
        pages.emplace(pod.uid, std::move(page));
        all_read.notify_one();
      }
    });
  }
  {
    std::unique_lock lock(mutex);
    all_read.wait_for(lock, kMostWait, [&] { return pages.size() == asked.size(); });
  }
  over.request_stop();
  threads.clear();
  return pages;
}

void ProgressKeeper::Count(const wire::ResizeStatus& pod,
                           const wire::ResizeStatus::Container& container,
                           const Result<std::string>* page, Counted& counted) {
  ReadCpu(pod, container, counted.reported);
  if (!pod.progress.port) {
    return Report(pod, counted.reported, "no_port",
                  fmt::format("annotation {} needs {}, a port's number",
                              annotations::kProgressCounter, annotations::kProgressPort),
                  true);
  }
  if (pod.ip.empty()) {
    return Report(pod, counted.reported, "no_address",
                  fmt::format("annotation {}: a pod in the node's network has no address of its "
                              "own; use its log instead",
                              annotations::kProgressCounter),
                  true);
  }
  if (page == nullptr) return;
  if (!*page) return Report(pod, counted.reported, "no_page", page->error().message, false);
  const Result<double> value = FindCounter(**page, pod.progress.counter);
  if (!value || *value > kMostCounted) {
    return Report(pod, counted.reported, "no_counter",
                  value ? fmt::format("counter {} is too large", pod.progress.counter)
                        : value.error().message,
                  true);
  }
  // A counter whose value falls has restarted at zero.
  const double before = counted.last.value_or(*value);
  counted.reported.progress.format = "counter";
  counted.meter.Pause(sources_.time_suspended(pod.uid));
  counted.Add(clock_.Present(), *value, *value >= before ? *value - before : *value);
}

void ProgressKeeper::ReadFiles() {
  std::map<std::string, Counted> all;
  const std::vector<PodPointer> pods = pods_.All();
  const SharedStorage shared(pods);
  for (const PodPointer& pod : pods) {
    const auto* const container = Measured(*pod, Source::kFile);
    if (container == nullptr) continue;
    Counted& counted = Keep(*pod, *container, by_file_, all);
    ReadFile(*pod, *container, counted);
    ReadMemory(*pod, *container, shared, counted.reported);
  }
  by_file_ = std::move(all);
  Publish(by_file_, by_files_);
}

void ProgressKeeper::ReadFile(const wire::ResizeStatus& pod,
                              const wire::ResizeStatus::Container& container, Counted& counted) {
  if (container.id.empty()) return;  // its volumes may not be there yet
  const Result<FileCount> read = ReadProgressFile(sources_.pods_folder, pod.uid);
  const bool ending = pod.deleting || pod.terminal;  // the kubelet removes its volumes
  if (!read && read.error().code != ErrorCode::kNotFound && !ending) {
    const bool pods_fault = read.error().code != ErrorCode::kUnavailable;
    Report(pod, counted.reported, pods_fault ? "bad_file" : "file_unreadable",
           fmt::format("annotation {}: {}", annotations::kProgressFile, read.error().message),
           pods_fault);
  }
  const bool news = read && counted.last != static_cast<double>(read->iteration);
  if (news) {
    // A count that falls means that the training resumed at its last checkpoint.
    const auto value = static_cast<double>(read->iteration);
    counted.meter.Pause(sources_.time_suspended(pod.uid));
    counted.Add(clock_.Present(), value, std::max(value - counted.last.value_or(value), 0.0));
    PodProgress& progress = counted.reported.progress;
    progress.format = "file";
    progress.total = read->total;
    progress.remaining = Remaining(progress.iteration, progress.total, progress.rate);
  }
  if (news || clock_.Now() - counted.reported.cpu_read >= kCpuInterval)
    ReadCpu(pod, container, counted.reported);
}

void ProgressKeeper::ReadCpu(const wire::ResizeStatus& pod,
                             const wire::ResizeStatus::Container& container, Reported& reported) {
  reported.cpu_read = clock_.Now();
  const Result<CpuUse> use = sources_.cpu.Read(pod, container);
  if (use) {
    reported.progress.cpu = *use;
    reported.progress.cpu->at = clock_.WallNow();
    reported.cpu_at = reported.cpu_read;
  } else if (use.error().code != ErrorCode::kNotFound) {
    Report(pod, reported, "cpu_unreadable", use.error().message, false);
  }
}

void ProgressKeeper::ReadMemory(const wire::ResizeStatus& pod,
                                const wire::ResizeStatus::Container& container,
                                const SharedStorage& shared, Reported& reported) {
  std::optional<synergy::MemoryUse>& known = reported.progress.memory;
  if (reported.memory_of != container.id) {
    reported.memory_of = container.id;
    reported.memory_read.reset();
    known.reset();
  }
  const bool due = !reported.memory_read || clock_.Now() - *reported.memory_read >= kMemoryInterval;
  if (reported.progress.format.empty() || !due) return;
  reported.memory_read = clock_.Now();
  auto use = sources_.data.Read(pod, container);
  if (!use) return;
  use->at = clock_.WallNow();
  use->shared = shared.IsReadBy(pod);
  if (known) use->process = std::max(use->process, known->process);
  known = *use;
}

void ProgressKeeper::Report(const wire::ResizeStatus& pod, Reported& reported,
                            std::string_view reason, const std::string& message, bool pods_fault) {
  metrics_.CountError(reason);
  if (!reported.failures.emplace(reason).second) return;
  log_.Warn("the progress of a pod cannot be seen",
            {{"pod", pod.Key()}, {"reason", reason}, {"error", message}});
  if (!pods_fault) return;
  events_.Record(kube::AboutPod(pod, "Warning", "SynergyProgressUnseen", message));
}

template <class Kept>
void ProgressKeeper::Publish(const std::map<std::string, Kept>& kept,
                             std::map<std::string, PodProgress>& known) {
  std::map<std::string, PodProgress> fresh;
  for (const auto& [uid, one] : kept) fresh.emplace(uid, one.reported.progress);
  const std::lock_guard lock(mutex_);
  known = std::move(fresh);
}

NodeProgress ProgressKeeper::Report(std::string node,
                                    const std::map<std::string, ProbeReading>& probes) const {
  NodeProgress report{
      .node = std::move(node), .since = since_, .at = clock_.WallNow(), .pods = {}, .ended = {}};
  const std::lock_guard lock(mutex_);
  for (const auto* const known : {&by_logs_, &by_files_, &by_counters_}) {
    for (const auto& [uid, progress] : *known) {
      PodProgress& pod = report.pods.emplace_back(progress);
      if (const auto probe = probes.find(uid); probe != probes.end()) pod.probe = probe->second;
    }
  }
  return report;
}

}  // namespace synergy::nodeagent
