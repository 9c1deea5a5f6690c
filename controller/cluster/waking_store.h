#pragma once

// Forwards a watch's reports to a store, and then calls `wake`, which wakes the store's reader.
//
// Threading: the same as kube::ObjectStore; the watch's thread calls `wake`.

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "kube/reflector.h"

namespace synergy::controller {

template <class T>
class WakingStore final : public kube::ObjectStore<T> {
 public:
  // `store` must outlive this object.
  WakingStore(kube::ObjectStore<T>& store, std::function<void()> wake)
      : store_(store), wake_(std::move(wake)) {}

  void Replace(std::vector<T> all) override {
    store_.Replace(std::move(all));
    wake_();
  }
  void Upsert(T object) override {
    store_.Upsert(std::move(object));
    wake_();
  }
  void Remove(const T& object) override {
    store_.Remove(object);
    wake_();
  }
  std::optional<T> Last(const T& object) const override { return store_.Last(object); }

 private:
  kube::ObjectStore<T>& store_;
  const std::function<void()> wake_;
};

}  // namespace synergy::controller
