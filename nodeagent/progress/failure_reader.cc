#include "nodeagent/progress/failure_reader.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "failure/log_findings.h"
#include "failure/log_tail.h"
#include "nodeagent/cgroups/cgroup_files.h"

namespace synergy::nodeagent {
namespace {

// How often to look for a due run while there is none.
constexpr Duration kIdleLook = std::chrono::milliseconds(500);
// Reading may use at most 1/kPartOfCore of a core.
constexpr int kPartOfCore = 10;
// Returns whether the kubelet has rotated the log: its beginning is then in another file, whose
// name begins with the name of this file. Returns true if the folder cannot be read.
bool WasRotated(const std::filesystem::path& file) {
  std::error_code error;
  for (const auto& other : std::filesystem::directory_iterator(file.parent_path(), error)) {
    if (other.path().filename().string().starts_with(file.filename().string() + ".")) return true;
  }
  return static_cast<bool>(error);
}

constexpr auto kMostRead = static_cast<off_t>(synergy::LogTail::kMostBytes);

}  // namespace

Result<LogEvidence> ReadLogEnd(const std::string& file) {
  const OpenFile log(file, O_RDONLY | O_NONBLOCK);
  if (log.fd() < 0 && errno == ELOOP)
    return Fail(ErrorCode::kInvalid, fmt::format("{} is a link", file));
  struct stat now{};
  if (log.fd() < 0 || ::fstat(log.fd(), &now) != 0) return Fail(CgroupError(file, errno));
  if (!S_ISREG(now.st_mode))
    return Fail(ErrorCode::kInvalid, fmt::format("{} is not a file", file));
  off_t at = std::max<off_t>(now.st_size - kMostRead, 0);
  bool mid_line = at > 0;
  const bool whole = at == 0 && !WasRotated(file);
  synergy::LogTail tail(ContainerLog::Form::kCri);
  std::array<char, size_t{32} << 10> piece;
  while (at < now.st_size) {
    const ssize_t got = ::pread(log.fd(), piece.data(), piece.size(), at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Fail(CgroupError(file, errno));
    if (got == 0) break;
    at += got;
    std::string_view text(piece.data(), static_cast<size_t>(got));
    if (mid_line) {
      const size_t end = text.find('\n');
      if (end == std::string_view::npos) continue;
      text.remove_prefix(end + 1);
      mid_line = false;
    }
    tail.Feed(text);
  }
  tail.End();
  const LogReading reading = ReadLog(tail);
  LogEvidence evidence{.finished = reading.finished,
                       .iterations = reading.iterations,
                       .since_iteration = reading.since_iteration,
                       .checkpoint = reading.checkpoint};
  if (whole) evidence.first_iteration = reading.first_iteration;
  if (reading.finding) {
    evidence.rule = reading.finding->rule->name;
    evidence.evidence = reading.finding->evidence;
    evidence.time = reading.finding->time;
  }
  return evidence;
}

FailureReader::FailureReader(std::string log_folder, std::function<Duration()> cpu_time,
                             const PodActs& acts, const Clock& clock)
    : log_folder_(std::move(log_folder)),
      cpu_time_(std::move(cpu_time)),
      acts_(acts),
      clock_(clock) {}

void FailureReader::Replace(std::vector<wire::ResizeStatus> all) {
  const std::lock_guard lock(mutex_);
  std::set<std::string> present;
  for (const wire::ResizeStatus& pod : all) present.insert(pod.uid);
  std::vector<std::string> gone;
  for (const auto& [uid, pod] : watched_) {
    if (!present.contains(uid)) gone.push_back(uid);
  }
  for (const std::string& uid : gone) Leave(uid);
  for (const wire::ResizeStatus& pod : all) Keep(pod);
}

void FailureReader::Upsert(wire::ResizeStatus pod) {
  const std::lock_guard lock(mutex_);
  Keep(pod);
}

void FailureReader::Remove(const wire::ResizeStatus& pod) {
  const std::lock_guard lock(mutex_);
  Leave(pod.uid);
}

void FailureReader::Keep(const wire::ResizeStatus& pod) {
  if (!pod.fungible && !(pod.is_launcher && !pod.containers.empty())) return;
  const std::string& name = pod.fungible ? pod.fungible->container : pod.containers.front().name;
  for (const wire::ResizeStatus::Container& container : pod.containers) {
    if (container.name != name) continue;
    const Watched watched{pod.pod_namespace, pod.name, container.name, container.restarts};
    if (container.ended_run && container.exit_code != 0)
      Enqueue(pod.uid, watched, *container.ended_run);
    watched_.insert_or_assign(pod.uid, watched);
  }
}

// Queues the present run of a pod that has left the watch. The watch's last copy of the pod
// predates its end or, if the pod ended at once, even its start.
void FailureReader::Leave(const std::string& uid) {
  const auto found = watched_.find(uid);
  if (found == watched_.end()) return;
  Enqueue(uid, found->second, found->second.run);
  watched_.erase(found);
}

void FailureReader::Enqueue(const std::string& uid, const Watched& pod, int32_t run) {
  const Instant now = clock_.Now();
  if (!taken_.emplace(RunKey{uid, pod.container, run}, now).second) return;
  std::deque<Ended>& waiting = waiting_[pod.pod_namespace];
  if (waiting.size() >= kMostWaiting) waiting.pop_front();
  // The kubelet's name for the pod's folder of logs.
  const std::filesystem::path folder = std::filesystem::path(log_folder_) /
                                       fmt::format("{}_{}_{}", pod.pod_namespace, pod.name, uid) /
                                       pod.container;
  waiting.push_back(
      {{uid, pod.container, run, {}, acts_.Of(uid)}, pod.pod_namespace, folder.string(), now, now});
}

std::optional<FailureReader::Ended> FailureReader::TakeDue() {
  const Instant now = clock_.Now();
  // Begin after the namespace that was served last.
  for (size_t i = 0; i < waiting_.size(); ++i) {
    auto next = waiting_.upper_bound(served_);
    if (next == waiting_.end()) next = waiting_.begin();
    served_ = next->first;
    std::deque<Ended>& waiting = next->second;
    const auto due = std::find_if(waiting.begin(), waiting.end(),
                                  [now](const Ended& one) { return one.due <= now; });
    if (due == waiting.end()) continue;
    Ended taken = std::move(*due);
    waiting.erase(due);
    if (waiting.empty()) waiting_.erase(next);
    return taken;
  }
  return std::nullopt;
}

void FailureReader::Forget() {
  const Instant old = clock_.Now() - kKept;
  while (!reports_.empty() && (reports_.front().at < old || reports_.size() > kMostReports))
    reports_.pop_front();
  std::erase_if(taken_, [&](const auto& entry) {
    const std::string& uid = std::get<0>(entry.first);
    return entry.second < old && !watched_.contains(uid);
  });
}

Duration FailureReader::Step() {
  std::optional<Ended> ended;
  {
    const std::lock_guard lock(mutex_);
    Forget();
    ended = TakeDue();
  }
  if (!ended) return kIdleLook;
  const Duration begin = cpu_time_();
  const Result<LogEvidence> log =
      ReadLogEnd((std::filesystem::path(ended->folder) / fmt::format("{}.log", ended->run.run)));
  const Duration used = cpu_time_() - begin;
  const std::lock_guard lock(mutex_);
  const Instant now = clock_.Now();
  if ((!log || log->rule.empty()) && now - ended->at < kSettle) {
    ended->due = now + kReadAgain;
    waiting_[ended->pod_namespace].push_back(*std::move(ended));
  } else if (log) {
    ended->run.log = *log;
    reports_.push_back({std::move(ended->run), now});
  }
  return std::max(used * (kPartOfCore - 1), Duration(std::chrono::milliseconds(1)));
}

std::vector<EndedRun> FailureReader::Report() const {
  const std::lock_guard lock(mutex_);
  std::vector<EndedRun> runs;
  runs.reserve(reports_.size());
  const Instant due = clock_.Now() - kXidDelay;
  for (const Reported& reported : reports_) {
    if (reported.at <= due) runs.push_back(reported.run);
  }
  return runs;
}

}  // namespace synergy::nodeagent
