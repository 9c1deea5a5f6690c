#pragma once

// Preempts for waiting gangs: chooses the next gang, and decides when to evict pods of lower
// priority and when to give up. preempting_gangs.h finds the gangs and chooses their victims. An
// attempt for a gang has these phases:
//
//   places   a place is reserved for each member, recorded on the member's pod, so that no other
//            pod takes the room
//   trial    a dry run of all evictions: if one would be refused, none is made
//   eviction of all victims; a refused one is tried again
//   leaving  until the last victim is gone, at most `leave`
//   binding  for `keep`; then the reservations end, bound or not
//
// Several gangs preempt at once if they share no node, so that none waits for the grace periods of
// another's victims. If two share a node, the gang of higher priority gets its places there, and
// the other's attempt ends unless its places also fit. A gang of equal or lower priority waits.
//
// A gang backs off before its next attempt if evictions for it failed or did not help; the backoff
// doubles each time.
//
// The owner runs a loop in which it passes the same moment to all calls:
//
//   Plan() --> carry out each action, OnResult() --> Plan() --> ...
//
// until Plan() returns no more actions. It runs the loop about once a second.
//
// Threading: pure; one owner.
// Failures: a failed first reservation or a refused trial ends the attempt. After the evictions, a
// failed renewal is tried again until the reservations have lapsed. After a crash or a change of
// leader the reservations expire, and the new leader starts from the cluster's state. If a gang was
// evicted only in part, its other members continue to run, as after any loss of a member.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cluster/claims.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "cluster/state/cluster_state.h"
#include "core/clock.h"
#include "core/resources.h"
#include "engine/gangs/preempting_gangs.h"
#include "engine/gangs/preemption_actions.h"

namespace synergy {

struct GangPreemptionSettings {
  GangPreemptionRules rules;
  ResourceVector headroom;
  // How long places stay reserved for a gang that has room; the same as for a single pod.
  Duration keep = kDefaultHold;
  // How soon to search again for a gang for which no victims were found.
  Duration look_again = std::chrono::seconds(10);
  // How long victims may take to leave: `leave`, or the longest grace period plus `keep` if that is
  // longer, but at most `most_leave`.
  Duration leave = std::chrono::minutes(10);
  Duration most_leave = std::chrono::hours(1);
  // The first backoff after a failed attempt, and the longest one.
  Duration rest = std::chrono::minutes(1);
  Duration most_rest = std::chrono::hours(1);
};

class GangPreemption {
 public:
  explicit GangPreemption(GangPreemptionSettings settings) : settings_(std::move(settings)) {}

  // Forgets all attempts and backoffs.
  void StartOver();
  // Returns the actions that are due. `state` must contain the results of earlier actions.
  std::vector<PreemptionAction> Plan(const ClusterState& state, Moment at);
  void OnResult(const PreemptionAction& action, const PreemptionResult& result);

 private:
  enum class Phase : uint8_t { kPlaces, kTrial, kEviction, kLeaving };
  struct Ended {
    PreemptionEnd end = PreemptionEnd::kBound;
    std::string why = {};
  };
  struct Attempt {
    std::shared_ptr<const WaitingGang> gang;
    std::vector<PlannedPlace> members;
    std::set<std::string> nodes;                      // of the members' places and of the victims
    std::vector<std::shared_ptr<const Pod>> asked;    // evicted, not known to be gone
    std::vector<std::shared_ptr<const Pod>> refused;  // to be evicted, for the first time or again
    size_t victims = 0;
    Phase phase = Phase::kPlaces;
    Instant began{};
    Duration leave{};                     // how long the victims may take
    Instant renewed{};                    // when a renewal of the reservations was last requested
    Instant kept{};                       // when they were last renewed on all members
    Instant evicted{};                    // when the evictions were last tried
    std::optional<Instant> room_since{};  // when the last victim left
    std::optional<Ended> ended{};
  };
  struct Rest {
    Instant until{};
    int times = 0;
  };
  using Rests = std::map<std::string, Rest>;

  std::vector<PreemptionAction> AdvanceAll(const ClusterState& state, Moment at);
  // Appends the actions that are due for the attempt, and sets `ended` if it is over.
  void Advance(Attempt& attempt, const ClusterState& state, Moment at,
               std::vector<PreemptionAction>& actions) const;
  // Does the same after the evictions were requested.
  void AdvanceLeaving(Attempt& attempt, const ClusterState& state, Moment at,
                      std::vector<PreemptionAction>& actions) const;
  void KeepPlaces(Attempt& attempt, Moment at, std::vector<PreemptionAction>& actions) const;
  void Finish(const Attempt& attempt, const ClusterState& state, Instant now,
              std::vector<PreemptionAction>& actions);

  // Begins at most one attempt.
  void Look(const ClusterState& state, Moment at);
  // Returns whether no attempt of the same or a higher priority uses these nodes. If so, ends the
  // attempts of lower priority there, unless there is room for both.
  bool Claim(const ClusterSnapshot& snapshot, const ClusterState& state, const WaitingGang& gang,
             const GangVictims& victims, const std::set<std::string>& nodes, WallTime wall);
  // `snapshot`: the snapshot in which the victims were chosen.
  Attempt Begin(const ClusterSnapshot& snapshot, const WaitingGang& gang,
                const GangVictims& victims, std::set<std::string> nodes, Instant now) const;

  const GangPreemptionSettings settings_;
  std::vector<Attempt> attempts_;
  std::optional<Instant> looked_;
  Rests looks_;  // when to look for victims again, by the gang's name
  // The backoffs after failed attempts, by namespace and priority. The gang's name does not count,
  // because a gang that is created again may have another name.
  Rests in_vain_;
};

}  // namespace synergy
