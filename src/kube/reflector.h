#pragma once

// Keeps a copy of one kind of object up to date: a paginated list, then a watch from there, in a
// loop.
//
//   list (limit 500, continue) -> Replace -> watch (bookmarks) -> Upsert/Remove ...
//        ^                                    |   ends or breaks: again from the last version seen
//        +-- 410 Gone, or history runs back --+
//
// An API server whose store was restored from a backup does not report it: it accepts a watch from
// a version of the future, and stays silent until its versions have caught up. Therefore the
// reflector reads the server's present version before it reopens a watch; a version lower than seen
// means a new list.
//
// Threading: each reflector has one thread, which makes all calls of the ObjectStore; status() from
// any thread.
// Failures: waits with backoff and jitter and continues until stopped. The status counts every
// failure; the log has each unless it repeats the one before.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/disruption_budget.h"
#include "cluster/namespace.h"
#include "cluster/namespace_limits.h"
#include "cluster/node.h"
#include "cluster/pod.h"
#include "core/clock.h"
#include "core/log.h"
#include "kube/api_client.h"
#include "profile/profile_object.h"
#include "wire/objects/objects.h"

namespace synergy::kube {

// The destination of the objects that a reflector reads.
template <class T>
class ObjectStore {
 public:
  virtual ~ObjectStore() = default;
  virtual void Replace(std::vector<T> all) = 0;
  virtual void Upsert(T object) = 0;
  virtual void Remove(const T& object) = 0;
  // Returns the object as last stored; none if it is unknown or the store does not keep it. For an
  // object that can no longer be read, which a new list would otherwise remove.
  virtual std::optional<T> Last(const T& /*object*/) const { return std::nullopt; }
};

struct ReflectorStatus {
  bool synced = false;     // one whole list has been stored
  bool watching = false;   // a watch is open now
  bool broken = false;     // the last watch failed, and none has been opened since
  Instant last_contact{};  // last response of the server: a list, or a watch's start,
                           // event, bookmark or regular end
  uint64_t lists = 0;
  uint64_t watch_restarts = 0;  // watches opened after the first
  uint64_t errors = 0;
  uint64_t events = 0;
  uint64_t problems = 0;  // fields that could not be read
  uint64_t unread = 0;    // present objects that are not read (wire::UnreadObject)
};

struct ReflectorOptions {
  std::string path;            // "/api/v1/pods"
  std::string field_selector;  // "status.phase!=Succeeded,status.phase!=Failed"
  std::string label_selector;  // "app.kubernetes.io/component=node-agent"
  int page_size = 500;
  // How long the server is requested to keep a watch open. Short, because a reopened watch proves
  // that the copy is fresh, whereas a silent one does not.
  std::chrono::seconds watch_timeout{45};
  // A watch that is silent for this much longer than its timeout is taken for dead.
  std::chrono::milliseconds silence_margin{15000};
  Duration first_backoff = std::chrono::milliseconds(200);
  Duration backoff_limit = std::chrono::seconds(5);
  uint64_t seed = 1;  // of the jitter
};

// Options of a watch that proves three times within `staleness_limit` that it is alive: a silent
// watch proves nothing, but one that ends in time and is reopened does.
ReflectorOptions WatchWithin(std::chrono::milliseconds staleness_limit, std::string path,
                             std::string field_selector, uint64_t seed);

template <class T>
class Reflector {
 public:
  // All references outlive the reflector.
  static std::unique_ptr<Reflector> Start(ApiClient& client, wire::ObjectReader reader,
                                          ObjectStore<T>& store, const Clock& clock, Logger& log,
                                          ReflectorOptions options);
  virtual ~Reflector() = default;  // stops and joins
  virtual ReflectorStatus status() const = 0;
};

extern template class Reflector<Pod>;
extern template class Reflector<Node>;
extern template class Reflector<DisruptionBudget>;
extern template class Reflector<wire::ResizeStatus>;
extern template class Reflector<wire::AgentPod>;
extern template class Reflector<Namespace>;
extern template class Reflector<LimitRange>;
extern template class Reflector<ResourceQuota>;
extern template class Reflector<ProfileObject>;

}  // namespace synergy::kube
