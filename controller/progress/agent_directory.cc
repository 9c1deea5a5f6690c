#include "controller/progress/agent_directory.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

namespace synergy::controller {
namespace {

constexpr Duration kLongestPause = std::chrono::minutes(1);

}  // namespace

void AgentDirectory::Replace(std::vector<wire::AgentPod> all) {
  const std::lock_guard lock(mutex_);
  std::set<std::string> there;
  for (wire::AgentPod& pod : all) {
    there.insert(pod.uid);
    Keep(std::move(pod));
  }
  std::vector<std::string> gone;
  for (const auto& [uid, entry] : agents_) {
    if (!there.contains(uid)) gone.push_back(uid);
  }
  for (const std::string& uid : gone) Forget(uid);
}

void AgentDirectory::Upsert(wire::AgentPod pod) {
  const std::lock_guard lock(mutex_);
  Keep(std::move(pod));
}

void AgentDirectory::Remove(const wire::AgentPod& pod) {
  const std::lock_guard lock(mutex_);
  Forget(pod.uid);
}

void AgentDirectory::Keep(wire::AgentPod pod) {
  if (!pod.ready || pod.node.empty() || pod.address.empty()) return Forget(pod.uid);
  const auto known = agents_.find(pod.uid);
  if (known != agents_.end() && known->second.agent.address == pod.address) return;
  Forget(pod.uid);
  const size_t place = std::hash<std::string>()(pod.uid) % static_cast<size_t>(interval_.count());
  const Instant due = clock_.Now() + Duration(static_cast<Duration::rep>(place));
  waiting_.insert({due, pod.uid});
  Agent agent{pod.uid, std::move(pod.node), std::move(pod.address), nullptr};
  agents_.insert_or_assign(std::move(pod.uid), Entry{std::move(agent), due});
}

void AgentDirectory::Forget(const std::string& uid) {
  const auto known = agents_.find(uid);
  if (known == agents_.end()) return;
  waiting_.erase({known->second.due, uid});
  agents_.erase(known);
}

std::optional<Agent> AgentDirectory::TakeDue() {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty() || waiting_.begin()->first > clock_.Now()) return std::nullopt;
  const std::string uid = waiting_.begin()->second;
  waiting_.erase(waiting_.begin());
  return agents_.at(uid).agent;
}

void AgentDirectory::GiveBack(Agent agent) {
  const std::lock_guard lock(mutex_);
  const auto known = agents_.find(agent.uid);
  // The agent is gone, or has a new address.
  if (known == agents_.end() || known->second.agent.address != agent.address) return;
  // The agent was gone for a time, and already waits again.
  if (waiting_.contains({known->second.due, agent.uid})) return;
  const Duration pause = agent.failures == 0 ? IntervalOf(agent.node) : PauseAfter(agent.failures);
  Entry& entry = known->second;
  entry.due = std::max(entry.due + pause, clock_.Now());
  waiting_.insert({entry.due, agent.uid});
  entry.agent = std::move(agent);
}

Duration AgentDirectory::PauseAfter(int failures) const {
  const Duration longest = std::max(kLongestPause, interval_);
  Duration pause = interval_;
  for (int i = 0; i < failures && pause < longest; ++i) pause *= 2;
  return std::min(pause, longest);
}

Duration AgentDirectory::IntervalOf(const std::string& node) const {
  Duration shortest = interval_;
  for (const auto& [purpose, nodes] : watched_) {
    if (nodes.contains(node)) shortest = std::min(shortest, IntervalFor(purpose));
  }
  return shortest;
}

void AgentDirectory::WatchClosely(Purpose purpose, std::set<std::string> nodes) {
  const std::lock_guard lock(mutex_);
  std::set<std::string>& watched = watched_[purpose];
  if (nodes == watched) return;
  const Instant soon = clock_.Now() + std::min(interval_, IntervalFor(purpose));
  for (auto& [uid, entry] : agents_) {
    const std::string& node = entry.agent.node;
    if (!nodes.contains(node) || watched.contains(node) || entry.due <= soon) continue;
    // Skip an agent that does not answer or is being queried.
    if (entry.agent.failures > 0 || waiting_.erase({entry.due, uid}) == 0) continue;
    entry.due = soon;
    waiting_.insert({soon, uid});
  }
  watched = std::move(nodes);
}

size_t AgentDirectory::size() const {
  const std::lock_guard lock(mutex_);
  return agents_.size();
}

}  // namespace synergy::controller
