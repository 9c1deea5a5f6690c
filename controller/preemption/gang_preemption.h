#pragma once

// Evicts gangs and pods of lower priority for a waiting gang (engine/gangs/preempting_gangs.h
// chooses the victims). An attempt has these phases:
//
//   places   reserve a place for each member, recorded on the member's pod, so that no other pod
//            takes the room
//   trial    dry-run the eviction of all victims: if one would be refused, evict none
//   eviction of all victims by the Eviction API; a refused one is tried again
//   leaving  wait until the last victim is gone, at most `leave`
//   binding  for `keep`; then the reservations end, bound or not
//
// Several gangs preempt at once as long as they have no node in common, so that none waits for the
// grace periods of another's victims. If they have one, a gang of higher priority gets its places
// there, and the other's attempt ends unless its places fit beside them; a gang of equal or lower
// priority waits.
//
// A gang for which pods were evicted in vain, or could not be evicted, backs off before the next
// attempt; the backoff doubles each time.
//
// Threading: one owner.
// Failures: a failed reservation or eviction ends the attempt. After a crash or a change of leader
// the reservations expire, and the new leader starts from the cluster's state. If a gang was
// evicted only in part, its other members run on, as after any loss of a member.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/claims.h"
#include "cluster/state/cluster_snapshot.h"
#include "cluster/state/cluster_state.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/resources.h"
#include "engine/gangs/preempting_gangs.h"
#include "kube/apis/events.h"
#include "kube/apis/pod_api.h"
#include "metrics/controller_metrics.h"

namespace synergy::controller {

struct GangPreemptionSettings {
  GangPreemptionRules rules;
  ResourceVector headroom;
  // How long places stay reserved for a gang that has room, as for a single pod.
  Duration keep = kDefaultHold;
  // How soon to look again at a gang for which there was nothing to evict.
  Duration look_again = std::chrono::seconds(10);
  // How long victims may take to leave: this long, or their own grace periods plus `keep`,
  // whichever is longer, but no longer than `most_leave`.
  Duration leave = std::chrono::minutes(10);
  Duration most_leave = std::chrono::hours(1);
  Duration rest = std::chrono::minutes(1);
  Duration most_rest = std::chrono::hours(1);
};

class GangPreemption {
 public:
  // All references outlive this. `may_act` is checked before each call.
  GangPreemption(GangPreemptionSettings settings, ClusterState& state, kube::PodApi& pods,
                 kube::EvictionApi& evictions, kube::EventRecorder& events,
                 std::function<bool()> may_act, const Clock& clock, Logger& log,
                 metrics::ControllerMetrics& metrics);

  // Forgets the attempts under way. Call it on becoming the leader.
  void StartOver();
  // Does what is due now. Call it about every second while the cluster can be seen.
  void Step(const std::stop_token& stop);

 private:
  struct Attempt {
    WaitingGang gang;
    std::vector<PlannedPlace> members;
    std::set<std::string> nodes;                      // of the members' places and of the victims
    std::vector<std::shared_ptr<const Pod>> asked;    // not known to be gone
    std::vector<std::shared_ptr<const Pod>> refused;  // to be evicted again
    size_t victims = 0;
    Instant began{};
    Duration leave{};                     // how long the victims may take
    Instant renewed{};                    // the reservations
    std::optional<Instant> room_since{};  // since the last victim is gone
  };
  struct Rest {
    Instant until{};
    int times = 0;
  };
  using Rests = std::map<std::string, Rest>;
  // How an attempt ended.
  enum class End : uint8_t { kBound, kInVain, kRefused, kGangGone, kYielded };
  static std::string_view ToString(End end);
  struct Ended {
    End end = End::kBound;
    std::string why = {};
  };

  void Look(const std::stop_token& stop);
  // Returns how the attempt has ended; none if it goes on.
  std::optional<Ended> Advance(Attempt& attempt, const std::stop_token& stop);
  // Returns whether no attempt of the same or a higher priority uses these nodes. If so, ends the
  // attempts of lower priority there, unless there is room for both.
  bool Claim(const ClusterSnapshot& snapshot, const WaitingGang& gang, const GangVictims& victims,
             const std::set<std::string>& nodes, const std::stop_token& stop);
  // Returns the places of the members that still wait.
  std::vector<PlannedPlace> NotBound(const Attempt& attempt) const;
  // `snapshot`: the one in which the victims were chosen.
  void Begin(const ClusterSnapshot& snapshot, const WaitingGang& gang, const GangVictims& victims,
             std::set<std::string> nodes, const std::stop_token& stop);
  // Returns whether all places are reserved, until `keep` from now.
  bool KeepPlaces(Attempt& attempt, const std::stop_token& stop);
  // Returns an error if the eviction of any victim would be refused.
  Result<> TryAll(const GangVictims& victims, const std::stop_token& stop);
  // Moves the refused victims to `refused`.
  void EvictAll(Attempt& attempt, const std::stop_token& stop);
  void GiveUpPlaces(const Attempt& attempt, const std::stop_token& stop);
  void Finish(const Attempt& attempt, const Ended& ended, const std::stop_token& stop);
  void Tell(const Pod& pod, std::string type, std::string reason, std::string message);
  bool IsThere(const Pod& pod) const;

  const GangPreemptionSettings settings_;
  ClusterState& state_;
  kube::PodApi& pods_;
  kube::EvictionApi& evictions_;
  kube::EventRecorder& events_;
  const std::function<bool()> may_act_;
  const Clock& clock_;
  Logger& log_;
  metrics::ControllerMetrics& metrics_;
  std::vector<Attempt> attempts_;
  Rests looks_;  // when to look for victims again, by the gang's name
  // Failed attempts, by namespace and priority: a gang that is created again has another name, and
  // the pods evicted for it come back.
  Rests in_vain_;
};

}  // namespace synergy::controller
