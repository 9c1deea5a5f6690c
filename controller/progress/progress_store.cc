#include "controller/progress/progress_store.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace synergy::controller {

void ProgressStore::Observe(const std::string& node, WallTime since, std::vector<PodProgress> pods,
                            Moment now) {
  const std::lock_guard lock(mutex_);
  for (PodProgress& pod : pods) {
    std::string uid = pod.uid;
    if (keeps_news_) news_.insert(uid);
    entries_.insert_or_assign(std::move(uid),
                              Entry{{std::move(pod), node, since, now.wall, {}}, now.now});
  }
}

KnownProgress ProgressStore::WithAge(const Entry& entry, Instant now) {
  KnownProgress known = entry.known;
  known.age = now - entry.observed;
  return known;
}

std::optional<KnownProgress> ProgressStore::Of(const std::string& uid, Instant now) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(uid);
  if (found == entries_.end() || now - found->second.observed > kLongest) return std::nullopt;
  return WithAge(found->second, now);
}

ClusterProgress ProgressStore::Read(const std::string& pod_namespace, Instant now) const {
  ClusterProgress progress;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [uid, entry] : entries_) {
      if (now - entry.observed > kLongest) continue;
      if (pod_namespace.empty() || entry.known.pod.pod_namespace == pod_namespace)
        progress.pods.push_back(WithAge(entry, now));
    }
  }
  std::sort(progress.pods.begin(), progress.pods.end(), [](const auto& a, const auto& b) {
    return std::tie(a.pod.pod_namespace, a.pod.name, a.pod.uid) <
           std::tie(b.pod.pod_namespace, b.pod.name, b.pod.uid);
  });
  return progress;
}

std::map<std::string, IdlePod> ProgressStore::Idle(Duration least, Instant now) const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, IdlePod> idle;
  for (const auto& [uid, entry] : entries_) {
    const std::optional<IdleReading>& reading = entry.known.pod.idle;
    if (!reading || reading->idle < least || now - entry.observed > kLongest) continue;
    idle[uid] = {entry.known.node, reading->idle, reading->most_cpu, entry.observed};
  }
  return idle;
}

void ProgressStore::Forget(const ClusterSnapshot& cluster, Instant now) {
  const auto there = [&cluster](const KnownProgress& known) {
    const auto node = cluster.Find(known.node);
    if (!node) return false;
    const auto& pods = cluster.node(*node).detail->pods;
    return std::any_of(pods.begin(), pods.end(),
                       [&known](const auto& pod) { return pod->uid == known.pod.uid; });
  };
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [&](const auto& entry) {
    return now - entry.second.observed > kLongest || !there(entry.second.known);
  });
}

void ProgressStore::KeepNews(bool keep) {
  const std::lock_guard lock(mutex_);
  keeps_news_ = keep;
  news_.clear();
}

std::vector<KnownProgress> ProgressStore::TakeNews(Instant now) {
  const std::lock_guard lock(mutex_);
  std::vector<KnownProgress> news;
  news.reserve(news_.size());
  for (const std::string& uid : std::exchange(news_, {})) {
    const auto found = entries_.find(uid);
    if (found != entries_.end()) news.push_back(WithAge(found->second, now));
  }
  return news;
}

ProgressStore::Extent ProgressStore::extent(Instant now) const {
  const std::lock_guard lock(mutex_);
  Extent extent{.pods = entries_.size()};
  for (const auto& [uid, entry] : entries_)
    extent.oldest = std::max(extent.oldest, now - entry.observed);
  return extent;
}

}  // namespace synergy::controller
