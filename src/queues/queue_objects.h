#pragma once

// A snapshot of Kueue's objects, and of RoundPolicies, jobs and pods.
//
// Threading: values. A copy shares its objects, which are immutable; any thread may read it.

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "queues/kueue.h"
#include "queues/round_policy.h"

namespace synergy {

// Objects of one kind in the order of their Key(). A copy of the map copies a pointer; a change
// copies all entries.
template <class T>
class ObjectMap {
 public:
  using Shared = std::shared_ptr<const T>;
  using Entries = std::map<std::string, Shared, std::less<>>;

  ObjectMap() : entries_(std::make_shared<const Entries>()) {}
  explicit ObjectMap(std::shared_ptr<const Entries> entries) : entries_(std::move(entries)) {}

  // Iterates over pairs of key and object.
  auto begin() const { return entries_->begin(); }
  auto end() const { return entries_->end(); }
  size_t size() const { return entries_->size(); }

  // Returns null if no object has that key.
  Shared Find(const std::string& key) const {
    const auto found = entries_->find(key);
    return found == entries_->end() ? nullptr : found->second;
  }

  void Upsert(T object) {
    auto entries = std::make_shared<Entries>(*entries_);
    auto shared = std::make_shared<const T>(std::move(object));
    entries->insert_or_assign(shared->Key(), shared);
    entries_ = std::move(entries);
  }
  void Remove(const T& object) { RemoveKey(object.Key()); }
  void RemoveKey(const std::string& key) {
    auto entries = std::make_shared<Entries>(*entries_);
    entries->erase(key);
    entries_ = std::move(entries);
  }

 private:
  std::shared_ptr<const Entries> entries_;
};

// The kinds of objects, each in its own container.
template <template <class> class In>
struct QueueKinds {
  In<RoundPolicy> policies;
  In<Workload> workloads;
  In<ClusterQueue> cluster_queues;
  In<LocalQueue> local_queues;
  In<ResourceFlavor> flavors;
  In<AdmissionCheck> checks;
  In<Cohort> cohorts;
  In<QueuedPod> pods;
  // Empty unless the controller may change the number of workers of Jobs.
  In<QueuedJob> jobs;
  // Empty unless the controller reads the progress of TrainJobs.
  In<QueuedJob> train_jobs;

  // Calls `each` with every container of this object and its counterpart in `other`.
  template <class Other, class Each>
  void ForEach(Other& other, Each each) const {
    each(policies, other.policies);
    each(workloads, other.workloads);
    each(cluster_queues, other.cluster_queues);
    each(local_queues, other.local_queues);
    each(flavors, other.flavors);
    each(checks, other.checks);
    each(cohorts, other.cohorts);
    each(pods, other.pods);
    each(jobs, other.jobs);
    each(train_jobs, other.train_jobs);
  }
};

struct QueueObjects : QueueKinds<ObjectMap> {
  // Whether `train_jobs` is current. Kubeflow Trainer may not be installed.
  bool watches_train_jobs = false;
  // Whether the controller may change the number of workers of Jobs.
  bool elastic = false;
};

}  // namespace synergy
