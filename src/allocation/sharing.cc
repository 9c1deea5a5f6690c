#include "allocation/sharing.h"

#include <algorithm>
#include <numeric>

#include "core/rounding.h"

namespace synergy {

std::vector<double> MaxMinShares(std::span<const ShareUser> users, double whole) {
  std::vector<size_t> order(users.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto weight = [&](size_t user) { return std::max(users[user].weight, 1e-6); };
  // The user that needs the least per weight is served first; the rest share what is left.
  const auto satisfied_at = [&](size_t user) { return users[user].most / weight(user); };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return satisfied_at(a) < satisfied_at(b); });
  double weights = 0;
  for (size_t user = 0; user < users.size(); ++user) weights += weight(user);
  double left = std::max(whole, 0.0);
  std::vector<double> shares(users.size());
  for (const size_t user : order) {
    shares[user] = std::min(users[user].most, left * weight(user) / weights);
    left -= shares[user];
    weights = std::max(weights - weight(user), 1e-6);
  }
  return shares;
}

std::vector<MilliCpu> ShareCpu(std::span<const CpuUser> users, MilliCpu cpu) {
  std::vector<ShareUser> all;
  all.reserve(users.size());
  for (const CpuUser& user : users)
    all.push_back({user.weight, static_cast<double>(user.most.count())});
  std::vector<MilliCpu> shares;
  shares.reserve(users.size());
  for (const double share : MaxMinShares(all, static_cast<double>(cpu.count())))
    shares.emplace_back(ToWhole(share));
  return shares;
}

MilliCpu UsefulCpu(const JobProfile& profile, Bytes memory) {
  const double best = profile.ThroughputAt(profile.cpus().back(), memory);
  for (const MilliCpu cpu : profile.cpus()) {
    if (profile.ThroughputAt(cpu, memory) >= best * (1 - 1e-9)) return cpu;
  }
  return profile.cpus().back();
}

}  // namespace synergy
