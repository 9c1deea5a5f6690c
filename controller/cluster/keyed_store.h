#pragma once

// Objects of one kind as a watch reports them, by their Key().
//
// Threading: any thread; the watch writes, the others read. Objects that Find() and Snapshot()
// return are immutable and stay as they are when the object changes.

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kube/reflector.h"
#include "queues/queue_objects.h"

namespace synergy::controller {

template <class T>
class KeyedStore final : public kube::ObjectStore<T> {
 public:
  using Shared = std::shared_ptr<const T>;

  void Replace(std::vector<T> all) override {
    typename ObjectMap<T>::Entries objects;
    for (T& object : all) {
      auto shared = std::make_shared<const T>(std::move(object));
      objects.insert_or_assign(shared->Key(), shared);
    }
    const std::lock_guard lock(mutex_);
    objects_ = std::move(objects);
    snapshot_.reset();
  }
  void Upsert(T object) override {
    auto shared = std::make_shared<const T>(std::move(object));
    const std::lock_guard lock(mutex_);
    objects_.insert_or_assign(shared->Key(), shared);
    snapshot_.reset();
  }
  void Remove(const T& object) override {
    const std::lock_guard lock(mutex_);
    objects_.erase(object.Key());
    snapshot_.reset();
  }

  std::optional<T> Last(const T& object) const override {
    const Shared known = Find(object.Key());
    return known ? std::optional<T>(*known) : std::nullopt;
  }

  // Returns null if there is no object with that key.
  Shared Find(const std::string& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(key);
    return found == objects_.end() ? nullptr : found->second;
  }
  // Copies the entries only if an object has changed since the last call.
  ObjectMap<T> Snapshot() const {
    const std::lock_guard lock(mutex_);
    if (!snapshot_) snapshot_.emplace(objects_);
    return *snapshot_;
  }

 private:
  mutable std::mutex mutex_;
  typename ObjectMap<T>::Entries objects_;
  mutable std::optional<ObjectMap<T>> snapshot_;  // of the present objects
};

}  // namespace synergy::controller
