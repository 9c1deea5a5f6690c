#pragma once

// Kueue's objects as the watches report them.
//
// Threading: any thread.

#include <atomic>

#include "controller/cluster/keyed_store.h"
#include "queues/queue_objects.h"

namespace synergy::controller {

// The members are those of QueueObjects.
struct QueueStores : QueueKinds<KeyedStore> {
  std::atomic<bool> watches_train_jobs = false;
  bool elastic = false;  // set before any thread reads it

  QueueObjects Snapshot() const {
    QueueObjects objects;
    ForEach(objects, [](const auto& store, auto& map) { map = store.Snapshot(); });
    objects.watches_train_jobs = watches_train_jobs;
    objects.elastic = elastic;
    return objects;
  }
};

}  // namespace synergy::controller
