#pragma once

// The node agents, and when each is asked next. A ready pod of them is asked once an interval, at a
// time of its own, so that all of them are spread over it. One that does not answer is asked less
// often, up to once a minute: those that are gone must not hold up the others. Those of a few nodes
// may be asked more often, for a while.
//
// Threading: from any thread; a watch writes.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "http/client.h"
#include "kube/reflector.h"
#include "wire/objects/agent_pod.h"

namespace synergy::controller {

struct Agent {
  std::string uid;  // its pod's
  std::string node;
  std::string address;
  std::shared_ptr<http::Client> client;  // null: not called yet
  int failures = 0;                      // in a row
};

class AgentDirectory final : public kube::ObjectStore<wire::AgentPod> {
 public:
  // `clock` outlives this.
  AgentDirectory(const Clock& clock, Duration interval)
      : clock_(clock), interval_(interval), short_interval_(std::min(interval, kShortInterval)) {}

  // The only nodes whose agents are asked every kShortInterval from now on.
  static constexpr Duration kShortInterval = std::chrono::seconds(2);
  void WatchClosely(std::set<std::string> nodes);

  void Replace(std::vector<wire::AgentPod> all) override;
  void Upsert(wire::AgentPod pod) override;
  void Remove(const wire::AgentPod& pod) override;

  // The one that is due for longest; nobody else gets it until Done(). None: none is due.
  std::optional<Agent> TakeDue();
  // It has been asked: what its `client` and its `failures` are from now on.
  void Done(Agent agent);

  size_t size() const;

 private:
  struct Entry {
    Agent agent;
    Instant due;
  };

  void Keep(wire::AgentPod pod);
  void Forget(const std::string& uid);

  const Clock& clock_;
  const Duration interval_;
  const Duration short_interval_;
  mutable std::mutex mutex_;
  std::map<std::string, Entry> agents_;                // by uid
  std::set<std::pair<Instant, std::string>> waiting_;  // due, uid; without those being asked
  std::set<std::string> watched_;                      // nodes
};

}  // namespace synergy::controller
