#include "controller/fair_shares.h"

#include <algorithm>
#include <utility>

#include "allocation/smallest_fair_share.h"

namespace synergy::controller {

std::optional<ResourceVector> FairShares::Find(const NodeSelection& selection, Gpus gpus,
                                               const std::string& gpu_product) {
  const std::shared_ptr<const ClusterSnapshot> snapshot = state_.Snapshot();
  {
    const std::lock_guard lock(mutex_);
    if (snapshot_ != snapshot) {
      entries_.clear();
      snapshot_ = snapshot;
    }
    const auto it = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
      return entry.gpus == gpus && entry.gpu_product == gpu_product && entry.selection == selection;
    });
    if (it != entries_.end()) return it->share;
  }
  const auto share = SmallestFairShare(*snapshot, &selection, gpus, gpu_product);
  const std::lock_guard lock(mutex_);
  if (snapshot_ == snapshot) {
    entries_.push_front({selection, gpus, gpu_product, share});
    if (entries_.size() > kMostEntries) entries_.pop_back();
  }
  return share;
}

}  // namespace synergy::controller
