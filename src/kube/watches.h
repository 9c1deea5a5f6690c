#pragma once

// The watches of a program: each keeps a copy of one kind of object, and no copy is staler than a
// limit. Health reports whether the program is ready: its copies are complete and fresh, and it is
// not shutting down.
//
// Threading: one thread calls Start() and Stop(), before and after all other calls. Any thread may
// call the others, the functions in resources(), and Health.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/log.h"
#include "kube/api_client.h"
#include "kube/reflector.h"
#include "wire/objects/objects.h"

namespace synergy::kube {

struct WatchedResource {
  std::string name;  // "nodes"
  std::function<ReflectorStatus()> status;
};

class Health {
 public:
  Health(std::vector<WatchedResource> resources, const Clock& clock,
         std::chrono::milliseconds staleness_limit);

  // Returns why the program is not ready; empty if it is.
  std::string NotReadyReason() const;
  void ShutDown() { stopping_ = true; }

 private:
  const std::vector<WatchedResource> resources_;
  const Clock& clock_;
  const std::chrono::milliseconds staleness_limit_;
  std::atomic<bool> stopping_ = false;
};

class Watches {
 public:
  // All references must outlive this object.
  Watches(ApiClient& client, wire::ObjectReader reader, std::chrono::milliseconds staleness_limit,
          const Clock& clock, Logger& log);

  // `name` names the kind in health and metrics; `store` must live until Stop() or longer than this
  // object.
  template <class T>
  void Start(std::string name, std::string path, ObjectStore<T>& store,
             std::string field_selector = {}, std::string label_selector = {}) {
    ReflectorOptions options = WatchWithin(staleness_limit_, std::move(path),
                                           std::move(field_selector), seed_ + reflectors_.size());
    options.label_selector = std::move(label_selector);
    // Retry soon, because few decisions can be made with the old copy until the watch is open
    // again.
    options.backoff_limit = std::chrono::seconds(1);
    std::unique_ptr<const Reflector> reflector =
        Reflector::Start(client_, reader_, store, clock_, log_, std::move(options));
    resources_.push_back({std::move(name), [&watched = *reflector] { return watched.status(); }});
    reflectors_.push_back(std::move(reflector));
  }
  void Stop() { reflectors_.clear(); }

  // Returns whether each watch has stored a whole list.
  bool Complete() const;
  // Returns whether the copies are complete and no watch is broken: changes since a break are
  // unknown until the watch continues.
  bool Current() const;
  // Returns the watches in the order of Start().
  const std::vector<WatchedResource>& resources() const { return resources_; }

 private:
  ApiClient& client_;
  const wire::ObjectReader reader_;
  const std::chrono::milliseconds staleness_limit_;
  const Clock& clock_;
  Logger& log_;
  const uint64_t seed_;  // of the jitter
  std::vector<std::unique_ptr<const Reflector>> reflectors_;
  std::vector<WatchedResource> resources_;
};

}  // namespace synergy::kube
