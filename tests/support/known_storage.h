#pragma once

// A StorageCatalog for tests: the bandwidth by node, and the pods' reads by the name of their
// profile.

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "allocation/storage/storage_catalog.h"

namespace synergy::testing {

class KnownStorage final : public StorageCatalog {
 public:
  double BandwidthOf(const std::string& node) const override {
    const auto found = bandwidths.find(node);
    return found == bandwidths.end() ? 0 : found->second;
  }
  double MostBandwidth() const override {
    double most = 0;
    for (const auto& [node, bandwidth] : bandwidths) most = std::max(most, bandwidth);
    return most;
  }
  std::optional<PodReads> ReadsOf(const Pod& pod) const override {
    const auto found = reads.find(pod.fungible->profile);
    return found == reads.end() ? std::nullopt : std::optional(found->second);
  }

  std::map<std::string, double> bandwidths;
  std::map<std::string, PodReads> reads;
};

}  // namespace synergy::testing
