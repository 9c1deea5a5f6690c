#include "controller/progress/failure_reports.h"

#include <utility>

#include "cluster/pod_failure.h"

namespace synergy::controller {
namespace {

// How often old answers are dropped.
constexpr Duration kForgetReports = std::chrono::minutes(1);

}  // namespace

void FailureReports::Observe(const std::string& node, std::vector<EndedRun> runs, Instant now) {
  if (!kept_) return;
  std::erase_if(runs, [](const EndedRun& run) {
    return run.uid.empty() || run.uid.size() > kLongestUid || run.container.empty() ||
           run.container.size() > kLongestLabel || run.run < 0;
  });
  if (runs.size() > kMostOfNode) runs.resize(kMostOfNode);
  const std::lock_guard lock(mutex_);
  if (forgot_ == Instant::min() || now - forgot_ > kForgetReports) Forget(now);
  if (runs.empty()) {
    answers_.erase(node);
  } else {
    answers_[node] = {std::move(runs), now};
  }
}

std::optional<LogEvidence> FailureReports::Of(const std::string& node, const std::string& uid,
                                              const std::string& container, int32_t run) const {
  const std::lock_guard lock(mutex_);
  const auto found = answers_.find(node);
  if (found == answers_.end()) return std::nullopt;
  for (const EndedRun& one : found->second.runs) {
    if (one.uid == uid && one.container == container && one.run == run) return one.log;
  }
  return std::nullopt;
}

std::map<std::string, std::vector<EndedRun>> FailureReports::All(Instant now) {
  const std::lock_guard lock(mutex_);
  Forget(now);
  std::map<std::string, std::vector<EndedRun>> all;
  for (const auto& [node, answer] : answers_) all[node] = answer.runs;
  return all;
}

size_t FailureReports::size() const {
  const std::lock_guard lock(mutex_);
  return answers_.size();
}

void FailureReports::Forget(Instant now) {
  forgot_ = now;
  std::erase_if(answers_, [now](const auto& entry) { return now - entry.second.at > kKept; });
}

}  // namespace synergy::controller
