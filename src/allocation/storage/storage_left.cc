#include "allocation/storage/storage_left.h"

#include <algorithm>
#include <limits>
#include <map>

#include "allocation/sharing.h"

namespace synergy {

std::vector<double> StorageParts(std::span<const double> needs, double bandwidth) {
  if (bandwidth <= 0) return {needs.begin(), needs.end()};
  std::vector<ShareUser> users;
  users.reserve(needs.size());
  for (const double need : needs) users.push_back({.weight = 1, .most = need});
  return MaxMinShares(users, bandwidth);
}

double StorageLeftTo(size_t user, std::vector<double> needs, double bandwidth) {
  needs[user] = std::numeric_limits<double>::infinity();
  return StorageParts(needs, bandwidth)[user];
}

bool UseStorage(std::span<const PodShare> shares) {
  return std::any_of(shares.begin(), shares.end(),
                     [](const PodShare& share) { return share.storage.has_value(); });
}

double StorageNeedOf(const PodShare& share, const ResourceVector& amounts) {
  return share.storage ? share.storage->reads.NeedOf(*share.profile, amounts) : 0;
}

std::vector<PodShare> WithStorageLeft(std::span<const PodShare> shares,
                                      std::span<const ResourceVector> amounts) {
  std::vector<PodShare> with(shares.begin(), shares.end());
  struct Users {
    std::vector<size_t> shares;
    std::vector<double> needs;
  };
  std::map<size_t, Users> storages;
  for (size_t i = 0; i < with.size(); ++i) {
    if (!with[i].storage) continue;
    Users& users = storages[with[i].storage->number];
    users.shares.push_back(i);
    users.needs.push_back(StorageNeedOf(with[i], amounts[i]));
  }
  for (const auto& [number, users] : storages) {
    for (size_t user = 0; user < users.shares.size(); ++user) {
      OnStorage& storage = *with[users.shares[user]].storage;
      storage.left = StorageLeftTo(user, users.needs, storage.bandwidth);
    }
  }
  return with;
}

std::vector<PodShare> AloneOnStorage(std::span<const PodShare> shares) {
  std::vector<PodShare> alone(shares.begin(), shares.end());
  for (PodShare& share : alone) {
    if (share.storage) share.storage->left = share.storage->bandwidth;
  }
  return alone;
}

std::vector<double> ThroughputsTogether(std::span<const PodShare> shares,
                                        std::span<const ResourceVector> amounts) {
  if (!UseStorage(shares)) return ThroughputsOf(shares, amounts);
  return ThroughputsOf(WithStorageLeft(shares, amounts), amounts);
}

}  // namespace synergy
