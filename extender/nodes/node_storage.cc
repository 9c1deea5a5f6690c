#include "extender/nodes/node_storage.h"

namespace synergy::extender {

std::optional<double> RememberedNeeds::LeftOn(const NodeState& node) const {
  const std::lock_guard lock(mutex_);
  Left& left = left_[node.detail->name];
  if (left.of != node.detail) left = {node.detail, needs_.LeftOn(node)};
  return left.amount;
}

void NodeStorage::Replace(std::vector<PublishedStorage> all) {
  Upsert(all.empty() ? PublishedStorage() : std::move(all.front()));
}

void NodeStorage::Upsert(PublishedStorage published) {
  auto known = std::make_shared<const RememberedNeeds>(std::move(published.storage));
  if (known->MostBandwidth() <= 0) known = nullptr;
  const std::lock_guard lock(mutex_);
  known_ = std::move(known);
}

std::shared_ptr<const RememberedNeeds> NodeStorage::Known() const {
  const std::lock_guard lock(mutex_);
  return known_;
}

}  // namespace synergy::extender
