#include "controller/cluster/namespace_store.h"

#include <utility>

namespace synergy::controller {

void NamespaceStore::Replace(std::vector<Namespace> all) {
  std::map<std::string, Labels> labels;
  for (Namespace& object : all) labels[std::move(object.name)] = std::move(object.labels);
  const std::lock_guard lock(mutex_);
  labels_ = std::move(labels);
}

void NamespaceStore::Upsert(Namespace object) {
  const std::lock_guard lock(mutex_);
  labels_[std::move(object.name)] = std::move(object.labels);
}

void NamespaceStore::Remove(const Namespace& object) {
  const std::lock_guard lock(mutex_);
  labels_.erase(object.name);
}

std::string NamespaceStore::Label(const std::string& name, std::string_view key) const {
  const std::lock_guard lock(mutex_);
  const auto it = labels_.find(name);
  if (it == labels_.end()) return {};
  return std::string(FindLabel(it->second, key).value_or(""));
}

size_t NamespaceStore::size() const {
  const std::lock_guard lock(mutex_);
  return labels_.size();
}

}  // namespace synergy::controller
