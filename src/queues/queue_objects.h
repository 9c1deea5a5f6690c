#pragma once

// A snapshot of Kueue's objects and of those that belong to them.
//
// Threading: values. A copy shares its objects, which are immutable; any thread may read it.

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "queues/kueue.h"
#include "queues/queued_job.h"
#include "queues/round_policy.h"

namespace synergy {

// Objects of one kind in the order of their Key(). Copying costs a pointer, a change costs a copy
// of all entries.
template <class T>
class ObjectMap {
 public:
  using Shared = std::shared_ptr<const T>;
  using Entries = std::map<std::string, Shared, std::less<>>;

  ObjectMap() : entries_(std::make_shared<const Entries>()) {}
  explicit ObjectMap(Entries entries)
      : entries_(std::make_shared<const Entries>(std::move(entries))) {}

  // Iterates over pairs of key and object.
  auto begin() const { return entries_->begin(); }
  auto end() const { return entries_->end(); }
  size_t size() const { return entries_->size(); }

  // Returns null if there is no object with that key.
  Shared Find(const std::string& key) const {
    const auto found = entries_->find(key);
    return found == entries_->end() ? nullptr : found->second;
  }

  void Upsert(T object) {
    Entries entries = *entries_;
    auto shared = std::make_shared<const T>(std::move(object));
    entries.insert_or_assign(shared->Key(), shared);
    *this = ObjectMap(std::move(entries));
  }
  void Remove(const T& object) {
    Entries entries = *entries_;
    entries.erase(object.Key());
    *this = ObjectMap(std::move(entries));
  }

 private:
  std::shared_ptr<const Entries> entries_;
};

struct QueueObjects {
  ObjectMap<RoundPolicy> policies;
  ObjectMap<Workload> workloads;
  ObjectMap<ClusterQueue> cluster_queues;
  ObjectMap<LocalQueue> local_queues;
  ObjectMap<QueuePart> flavors;
  ObjectMap<QueuePart> checks;
  ObjectMap<QueuePart> cohorts;
  ObjectMap<QueuedPod> pods;
  // Empty unless `elastic`.
  ObjectMap<QueuedJob> jobs;
  // Empty unless the controller reads the progress of TrainJobs.
  ObjectMap<QueuedJob> train_jobs;
  // `train_jobs` is current. Kubeflow Trainer need not be installed.
  bool knows_train_jobs = false;
  // The controller may change the number of workers of Jobs.
  bool elastic = false;
};

}  // namespace synergy
