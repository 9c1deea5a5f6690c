#include "controller/cluster/fair_share_cache.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "allocation/fair_share.h"

namespace synergy::controller {

std::optional<ResourceVector> FairShareCache::Find(const NodeSelection& selection,
                                                   const GpuAmount& gpus,
                                                   const std::string& gpu_product) {
  const Instant now = clock_.Now();
  Key key{selection, gpus, gpu_product};
  const std::shared_ptr<const ClusterSnapshot> snapshot = state_.Snapshot();
  {
    const std::lock_guard lock(mutex_);
    const auto it = std::find_if(entries_.begin(), entries_.end(),
                                 [&key](const Entry& entry) { return entry.key == key; });
    if (it != entries_.end()) {
      it->asked = now;
      if (it->version == snapshot->version() || (it->share && now - it->at <= kMostAge))
        return it->share;
    }
  }
  // Do this without the lock, because it may take a millisecond.
  const auto share = Calculate(*snapshot, key);
  Remember({std::move(key), share, snapshot->version(), now, now});
  return share;
}

void FairShareCache::Refresh() {
  const Instant now = clock_.Now();
  const std::shared_ptr<const ClusterSnapshot> snapshot = state_.Snapshot();
  std::vector<Entry> outdated;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(entries_, [&](const Entry& entry) { return now - entry.asked > kForgetAfter; });
    for (Entry& entry : entries_) {
      if (entry.version == snapshot->version()) {
        entry.at = now;
      } else {
        outdated.push_back(entry);
      }
    }
  }
  for (Entry& entry : outdated) {
    entry.share = Calculate(*snapshot, entry.key);
    entry.version = snapshot->version();
    entry.at = now;
    Remember(std::move(entry));
  }
}

std::optional<ResourceVector> FairShareCache::Calculate(const ClusterSnapshot& snapshot,
                                                        const Key& key) const {
  std::optional<ResourceVector> share =
      LeastFairShare(snapshot, &key.selection, key.gpus, key.gpu_product, headroom_);
  if (!share) return share;
  const ResourceVector most = PartOf(least_pool_, key.gpus.gpus, Gpus(1));
  ResourceVector::ForEachDivided([&](auto member) {
    using Amount = std::remove_cvref_t<decltype(most.*member)>;
    if (most.*member > Amount(0)) (*share).*member = std::min((*share).*member, most.*member);
  });
  return share;
}

void FairShareCache::Remember(Entry entry) {
  const std::lock_guard lock(mutex_);
  const auto it = std::find_if(entries_.begin(), entries_.end(),
                               [&entry](const Entry& other) { return other.key == entry.key; });
  if (it != entries_.end()) {
    entry.asked = std::max(entry.asked, it->asked);
    entries_.erase(it);
  }
  entries_.push_front(std::move(entry));
  if (entries_.size() > kMostEntries) entries_.pop_back();
}

}  // namespace synergy::controller
