#pragma once

// Whether the extender may be asked: its copy of the cluster is whole and fresh, and it is not on
// its way out.
//
// Threading: from any thread.

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "core/clock.h"
#include "kube/reflector.h"

namespace synergy::kube {

struct WatchedResource {
  std::string name;  // "nodes"
  std::function<ReflectorStatus()> status;
};

class Health {
 public:
  Health(std::vector<WatchedResource> resources, const Clock& clock,
         std::chrono::milliseconds staleness_limit);

  // Empty when ready, else why not.
  std::string NotReadyReason() const;
  void ShutDown() { stopping_ = true; }

 private:
  const std::vector<WatchedResource> resources_;
  const Clock& clock_;
  const std::chrono::milliseconds staleness_limit_;
  std::atomic<bool> stopping_ = false;
};

}  // namespace synergy::kube
