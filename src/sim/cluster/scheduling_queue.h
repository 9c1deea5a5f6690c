#pragma once

// kube-scheduler's queue (pkg/scheduler/backend/queue): pods of higher priority first, then those
// whose last attempt is longest ago. A pod that failed rests until an event that may help; if that
// comes before its backoff is over (1 s, doubled with each attempt, up to 10 s), it comes after all
// that do not back off. The queue never stands still for a backoff (SchedulerPopFromBackoffQ, on
// since Kubernetes 1.33). What has rested for five minutes is tried again whatever happened.
//
// Pods that are alike are tried together: where one fails the others would. They keep their order,
// as they would if each failed in turn. Of a gang one pod is in the queue, for all of them.
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
    Instant since;  // of the last attempt on its own; before that, of its creation
    uint64_t number = 0;
    std::string uid;

    std::strong_ordering operator<=>(const Turn& other) const {
      return std::tie(other.priority, since, number) <=>
             std::tie(priority, other.since, other.number);
    }
    bool operator==(const Turn& other) const { return (*this <=> other) == 0; }
  };

  // Pods that are alike, and what was found out about them.
  struct Kind {
    Pod model;
    std::set<Turn> turns;
    bool woken = false;   // all of them are to be tried
    uint32_t passes = 0;  // how often all of them have failed
    Instant last_pass{};
    // For whoever tries them: nodes that are as they were in this version of the cluster are no
    // good.
    uint64_t looked_at = 0;
  };

  void Add(const Pod& pod, Instant now);
  void Remove(const std::string& uid);
  // An event that may help every pod, or that changed this one.
  void WakeAll();
  void Wake(const std::string& uid);

  // Who is tried next, none where nobody is. It stays until Remove() or Failed().
  struct Candidate {
    std::string uid;
    Kind* kind = nullptr;
  };
  std::optional<Candidate> Next(Instant now);
  void Failed(const Candidate& candidate, Instant now);
  // When somebody has rested long enough; none where nobody rests.
  std::optional<Instant> RestEnds() const;

  size_t size() const { return members_.size(); }

 private:
  struct Member {
    Kind* kind = nullptr;
    Turn turn;
    uint32_t attempts = 0;  // on its own
    uint32_t joined = 0;    // the kind's passes before it came
    Instant last_attempt{};
    bool active = false;
  };

  static Instant BackoffEnds(const Member& member);
  // When the first of them has rested long enough.
  Instant RestEnds(const Kind& kind) const;

  std::list<Kind> kinds_;
  std::unordered_map<std::string, Member> members_;
  std::set<Turn> active_;  // those to be tried on their own
  uint64_t numbers_ = 0;
};

}  // namespace synergy
