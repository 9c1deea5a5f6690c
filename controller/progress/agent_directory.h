#pragma once

// Lists the node agents, and when to query each next. A ready agent is queried once per interval,
// at its own offset, which spreads the queries over the interval. The interval doubles for an agent
// that does not answer, up to a minute, so that dead agents do not hold up the others. The agents
// of a few nodes may be queried more often for a while.
//
// Threading: a watch writes; any thread may call it.

#include <chrono>
#include <cstddef>
#include <cstdint>
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
#include "wire/objects/resize_status.h"

namespace synergy::controller {

struct Agent {
  std::string uid;  // uid of its pod
  std::string node;
  std::string address;
  std::shared_ptr<http::Client> client;  // null until the first query
  int failures = 0;                      // consecutive
};

class AgentDirectory final : public kube::ObjectStore<wire::AgentPod> {
 public:
  // `clock` must outlive this object.
  AgentDirectory(const Clock& clock, Duration interval) : clock_(clock), interval_(interval) {}

  // Why to query the agents of some nodes more often.
  enum class Purpose : uint8_t { kProbes, kLoans };
  // Returns the interval at which to query the agents on the `nodes` of WatchClosely().
  static constexpr Duration IntervalFor(Purpose purpose) {
    return std::chrono::seconds(purpose == Purpose::kLoans ? 1 : 2);
  }
  // Replaces the nodes that were named for that purpose earlier.
  void WatchClosely(Purpose purpose, std::set<std::string> nodes);

  void Replace(std::vector<wire::AgentPod> all) override;
  void Upsert(wire::AgentPod pod) override;
  void Remove(const wire::AgentPod& pod) override;

  // Returns the agent that has been due longest; nullopt if none is due. No other caller gets that
  // agent until GiveBack().
  std::optional<Agent> TakeDue();
  // Hands back the agent that TakeDue() gave out, with its new `client` and `failures`.
  void GiveBack(Agent agent);

  size_t size() const;

 private:
  struct Entry {
    Agent agent;
    Instant due;
  };

  void Keep(wire::AgentPod pod);
  void Forget(const std::string& uid);
  Duration PauseAfter(int failures) const;
  Duration IntervalOf(const std::string& node) const;

  const Clock& clock_;
  const Duration interval_;
  mutable std::mutex mutex_;
  std::map<std::string, Entry> agents_;                // by uid
  std::set<std::pair<Instant, std::string>> waiting_;  // due time and uid; not those being queried
  std::map<Purpose, std::set<std::string>> watched_;   // nodes
};

}  // namespace synergy::controller
