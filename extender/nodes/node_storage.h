#pragma once

// Keeps what the controller publishes about storage (docs/internals/storage.md, "Placement").
//
// This file is separate because a watch of its own fills it.
//
// Threading: any thread. Failures: without the ConfigMap, or with an unreadable one, nothing is
// known.

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/storage/published_storage.h"
#include "kube/reflector.h"

namespace synergy::extender {

// Adds up the needs of a node's pods again only after a change of the node, because each pod that
// is placed ranks thousands of nodes.
class RememberedNeeds final : public StorageNeeds {
 public:
  explicit RememberedNeeds(PlacementStorage storage) : needs_(std::move(storage)) {}

  const PlacementStorage& storage() const { return needs_.storage(); }

  double BandwidthOf(const std::string& node) const override { return needs_.BandwidthOf(node); }
  double MostBandwidth() const override { return needs_.MostBandwidth(); }
  double NeedOf(const Pod& pod) const override { return needs_.NeedOf(pod); }
  std::optional<double> LeftOn(const NodeState& node) const override;

 private:
  struct Left {
    std::shared_ptr<const NodeDetail> of;
    std::optional<double> amount;
  };

  const PlacementNeeds needs_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::string, Left> left_;  // by node
};

class NodeStorage final : public kube::ObjectStore<PublishedStorage> {
 public:
  // Takes the reports of a watch of that one ConfigMap.
  void Replace(std::vector<PublishedStorage> all) override;
  void Upsert(PublishedStorage published) override;
  void Remove(const PublishedStorage&) override { Upsert({}); }

  // Returns null if no node's storage is known.
  std::shared_ptr<const RememberedNeeds> Known() const;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const RememberedNeeds> known_;
};

}  // namespace synergy::extender
