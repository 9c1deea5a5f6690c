#include "controller/progress/failure_reports.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "cluster/pod_failure.h"

namespace synergy::controller {
namespace {

// How often old answers are dropped.
constexpr Duration kForgetReports = std::chrono::minutes(1);

// Returns whether the API server could have accepted a container with these names.
bool CanExist(const auto& of_container) {
  return !of_container.uid.empty() && of_container.uid.size() <= kLongestUid &&
         !of_container.container.empty() && of_container.container.size() <= kLongestLabel;
}

}  // namespace

void FailureReports::Observe(const std::string& node, std::vector<EndedRun> runs, Instant now,
                             std::vector<PodXid> xids) {
  if (!kept_) return;
  std::erase_if(runs, [](const EndedRun& run) { return !CanExist(run) || run.run < 0; });
  std::erase_if(xids, [](const PodXid& xid) { return !CanExist(xid); });
  if (runs.size() > kMostOfNode) runs.resize(kMostOfNode);
  for (EndedRun& run : runs) {
    if (run.acts.size() > kMostActs) run.acts.resize(kMostActs);
  }
  if (xids.size() > kMostOfNode) xids.resize(kMostOfNode);
  const std::lock_guard lock(mutex_);
  if (forgot_ == Instant::min() || now - forgot_ > kForgetReports) Forget(now);
  if (runs.empty() && xids.empty()) {
    answers_.erase(node);
  } else {
    answers_[node] = {std::move(runs), std::move(xids), now};
  }
}

std::optional<EndedRun> FailureReports::Of(const std::string& node, const std::string& uid,
                                           const std::string& container, int32_t run) const {
  const std::lock_guard lock(mutex_);
  const auto found = answers_.find(node);
  if (found == answers_.end()) return std::nullopt;
  for (const EndedRun& one : found->second.runs) {
    if (one.uid == uid && one.container == container && one.run == run) return one;
  }
  return std::nullopt;
}

std::vector<PodXid> FailureReports::XidsOf(const std::string& node, const std::string& uid,
                                           const std::string& container) const {
  std::vector<PodXid> xids;
  const std::lock_guard lock(mutex_);
  const auto found = answers_.find(node);
  if (found == answers_.end()) return xids;
  std::copy_if(found->second.xids.begin(), found->second.xids.end(), std::back_inserter(xids),
               [&](const PodXid& xid) { return xid.uid == uid && xid.container == container; });
  return xids;
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
