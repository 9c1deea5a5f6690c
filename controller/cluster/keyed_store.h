#pragma once

// The objects of one kind as a watch reports them, by their Key().
//
// Threading: from any thread; a watch writes, all threads read. The results of All() and Find() are
// immutable and do not follow later changes of the object.

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kube/reflector.h"

namespace synergy::controller {

template <class T>
class KeyedStore final : public kube::ObjectStore<T> {
 public:
  using Shared = std::shared_ptr<const T>;

  void Replace(std::vector<T> all) override {
    std::unordered_map<std::string, Shared> objects;
    for (T& object : all) {
      auto shared = std::make_shared<const T>(std::move(object));
      objects.insert_or_assign(shared->Key(), shared);
    }
    const std::lock_guard lock(mutex_);
    objects_ = std::move(objects);
    ++version_;
  }
  void Upsert(T object) override {
    auto shared = std::make_shared<const T>(std::move(object));
    const std::lock_guard lock(mutex_);
    objects_.insert_or_assign(shared->Key(), shared);
    ++version_;
  }
  void Remove(const T& object) override {
    const std::lock_guard lock(mutex_);
    objects_.erase(object.Key());
    ++version_;
  }

  std::optional<T> Last(const T& object) const override {
    const Shared known = Find(object.Key());
    return known ? std::optional<T>(*known) : std::nullopt;
  }

  // Returns all objects, in no order.
  std::vector<Shared> All() const {
    const std::lock_guard lock(mutex_);
    std::vector<Shared> all;
    all.reserve(objects_.size());
    for (const auto& [key, object] : objects_) all.push_back(object);
    return all;
  }
  // Returns null if there is no such object.
  Shared Find(const std::string& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(key);
    return found == objects_.end() ? nullptr : found->second;
  }
  // Increases with every change.
  uint64_t version() const {
    const std::lock_guard lock(mutex_);
    return version_;
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::string, Shared> objects_;
  uint64_t version_ = 0;
};

}  // namespace synergy::controller
