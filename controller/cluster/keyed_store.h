#pragma once

// Stores objects of one kind, as a watch reports them, by their Key().
//
// Threading: one writer, the watch; any thread reads, and waits at most for the change of one
// entry. Objects that Find() and Snapshot() return are immutable and stay as they are when the
// object changes.

#include <cstddef>
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
    auto entries = std::make_shared<Entries>();
    for (T& object : all) {
      auto shared = std::make_shared<const T>(std::move(object));
      entries->insert_or_assign(shared->Key(), shared);
    }
    Exchange(std::move(entries));
  }
  void Upsert(T object) override {
    auto shared = std::make_shared<const T>(std::move(object));
    Change([&](Entries& entries) { entries.insert_or_assign(shared->Key(), shared); });
  }
  void Remove(const T& object) override {
    Change([&](Entries& entries) { entries.erase(object.Key()); });
  }

  std::optional<T> Last(const T& object) const override {
    const Shared known = Find(object.Key());
    return known ? std::optional<T>(*known) : std::nullopt;
  }

  // Returns null if no object has that key.
  Shared Find(const std::string& key) const {
    const std::lock_guard lock(mutex_);
    const auto found = entries_->find(key);
    return found == entries_->end() ? nullptr : found->second;
  }
  size_t size() const {
    const std::lock_guard lock(mutex_);
    return entries_->size();
  }
  // Copies only a pointer. The first change afterwards makes the writer copy the entries.
  ObjectMap<T> Snapshot() const {
    const std::lock_guard lock(mutex_);
    in_snapshot_ = true;
    return ObjectMap<T>(entries_);
  }

 private:
  using Entries = typename ObjectMap<T>::Entries;

  template <class Edit>
  void Change(Edit edit) {
    std::shared_ptr<const Entries> old;
    {
      const std::lock_guard lock(mutex_);
      if (!in_snapshot_) return edit(*entries_);
      old = entries_;
    }
    auto entries = std::make_shared<Entries>(*old);
    edit(*entries);
    Exchange(std::move(entries));
  }
  // Frees the old entries without the lock.
  void Exchange(std::shared_ptr<Entries> entries) {
    const std::lock_guard lock(mutex_);
    entries_.swap(entries);
    in_snapshot_ = false;
  }

  mutable std::mutex mutex_;
  std::shared_ptr<Entries> entries_ = std::make_shared<Entries>();
  mutable bool in_snapshot_ = false;  // the entries must not change any more
};

}  // namespace synergy::controller
