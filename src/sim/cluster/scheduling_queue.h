#pragma once

// Models kube-scheduler's queue (pkg/scheduler/backend/queue): pods of higher priority come first,
// then those whose last attempt is the oldest. A pod that failed rests until an event that may
// help. A pod's backoff is 1 s, doubled with each attempt, up to 10 s. If the event comes before
// the backoff is over, the pod comes after all pods that are not in backoff. The queue never idles
// because of a backoff (SchedulerPopFromBackoffQ, on since Kubernetes 1.33). A pod that has rested
// for five minutes is tried again in any case.
//
// Pods that are alike are tried together, because if one fails, the others would fail, too. They
// keep their order, as if each had failed in turn. One pod represents a gang in the queue.
//
// Threading: one owner.

#include <compare>
#include <cstdint>
#include <list>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>

#include "cluster/pod.h"
#include "core/clock.h"

namespace synergy {

class SchedulingQueue {
 public:
  static constexpr Duration kFirstBackoff = std::chrono::seconds(1);
  static constexpr Duration kMostBackoff = std::chrono::seconds(10);
  static constexpr Duration kMostRest = std::chrono::minutes(5);

  struct Turn {
    int64_t priority = 0;
    Instant since;  // its last own attempt; before that, its creation
    uint64_t number = 0;
    std::string uid;

    std::strong_ordering operator<=>(const Turn& other) const {
      return std::tie(other.priority, since, number) <=>
             std::tie(priority, other.since, other.number);
    }
    bool operator==(const Turn& other) const { return (*this <=> other) == 0; }
  };

  // Pods that are alike, and the outcome of their attempts.
  struct Kind {
    Pod model;
    std::string likeness;  // the argument of Add()
    std::set<Turn> turns;
    bool woken = false;   // all of them must be tried
    uint32_t passes = 0;  // number of times that all of them failed
    Instant last_pass{};
    // For the caller: nodes unchanged since this version of the cluster are known to be unsuitable.
    uint64_t looked_at = 0;
  };

  // Adds a pod; pods are alike only if their `likeness` is equal.
  void Add(const Pod& pod, Instant now, const std::string& likeness = {});
  void Remove(const std::string& uid);
  // Reports an event that may help every pod, or one that changed this pod.
  void WakeAll();
  // Does what WakeAll() does, for an event that changes no node: all nodes are searched again.
  void LookAgain();
  void Wake(const std::string& uid);

  // The next pod to try; Next() returns nullopt if there is none. It stays in the queue until
  // Remove() or Failed().
  struct Candidate {
    std::string uid;
    Kind* kind = nullptr;
  };
  std::optional<Candidate> Next(Instant now);
  void Failed(const Candidate& candidate, Instant now);
  // Returns when the next pod has rested long enough; nullopt if none rests.
  std::optional<Instant> RestEnds() const;

  size_t size() const { return members_.size(); }

 private:
  struct Member {
    Kind* kind = nullptr;
    Turn turn;
    uint32_t attempts = 0;  // its own attempts
    uint32_t joined = 0;    // the kind's passes before the pod joined
    Instant last_attempt{};
    bool active = false;
  };

  static Instant BackoffEnds(const Member& member);
  // Returns when the first pod of the kind will have rested long enough.
  Instant RestEnds(const Kind& kind) const;

  std::list<Kind> kinds_;
  std::unordered_map<std::string, Member> members_;
  std::set<Turn> active_;  // pods to be tried on their own
  uint64_t numbers_ = 0;
};

}  // namespace synergy
