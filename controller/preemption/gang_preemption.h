#pragma once

// Evicts gangs and pods of lower priority for a gang that waits (engine/gangs/preempting_gangs.h
// says whom):
//
//   places   are kept for all of its members, on their own pods, so that nobody else takes the room
//   trial    all victims are evicted on trial: where one would be refused, none is evicted
//   eviction of all of them, by the Eviction API; who is refused now is asked again
//   leaving  until the last of them is gone, at most `leave`
//   binding  for `keep`; then the places are given up, bound or not
//
// Several gangs at once, as long as they have no node in common: none waits for the grace periods
// of another's victims. Where they have one, a gang of higher priority gets its places there, and
// the other's attempt ends unless it has room beside them; else it waits.
//
// A gang for which others were evicted in vain, or could not be, rests before the next time, twice
// as long after each.
//
// Threading: one owner.
// Failures: what is not kept or evicted ends the attempt. After a crash, or where somebody else
// leads meanwhile, the places end by themselves, and whoever leads next looks anew; of a gang that
// was evicted in part the rest runs on, as after any loss of a member.

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
#include "kube/apis/eviction_api.h"
#include "kube/apis/pod_api.h"
#include "metrics/controller_metrics.h"

namespace synergy::controller {

struct GangPreemptionSettings {
  GangPreemptionRules rules;
  ResourceVector headroom;
  // How long places are kept for a gang that has room, as for a single pod.
  Duration keep = kDefaultHold;
  // How soon a gang is looked at again for which nobody was to be evicted.
  Duration look_again = std::chrono::seconds(10);
  // How long victims may take to leave: so long, or their own grace periods and as long as a place
  // is kept, whichever is longer, but no longer than `most_leave`.
  Duration leave = std::chrono::minutes(10);
  Duration most_leave = std::chrono::hours(1);
  Duration rest = std::chrono::minutes(1);
  Duration most_rest = std::chrono::hours(1);
};

class GangPreemption {
 public:
  // All references outlive this. `may_act` is asked before each call.
  GangPreemption(GangPreemptionSettings settings, ClusterState& state, kube::PodApi& pods,
                 kube::EvictionApi& evictions, kube::EventRecorder& events,
                 std::function<bool()> may_act, const Clock& clock, Logger& log,
                 metrics::ControllerMetrics& metrics);

  // Forgets what was under way: to be called on becoming the leader.
  void StartOver();
  // Does what is to be done now: to be called every second or so while the cluster can be seen.
  void Step(const std::stop_token& stop);

 private:
  struct Attempt {
    WaitingGang gang;
    std::vector<PlannedPlace> members;
    std::set<std::string> nodes;                      // of the members' places and of the victims
    std::vector<std::shared_ptr<const Pod>> asked;    // not gone yet, as far as is known
    std::vector<std::shared_ptr<const Pod>> refused;  // to be asked again
    size_t victims = 0;
    Instant began{};
    Duration leave{};                     // how long the victims may take
    Instant renewed{};                    // the places
    std::optional<Instant> room_since{};  // the last of them is gone
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
  // How the attempt has ended; none: it goes on.
  std::optional<Ended> Advance(Attempt& attempt, const std::stop_token& stop);
  // Whether nobody of its priority or a higher one is at work on these nodes; then whoever is gives
  // way, unless there is room for both.
  bool Claim(const ClusterSnapshot& snapshot, const WaitingGang& gang, const GangVictims& victims,
             const std::set<std::string>& nodes, const std::stop_token& stop);
  // The places of its members that wait still.
  std::vector<PlannedPlace> NotBound(const Attempt& attempt) const;
  // `snapshot`: the one that the victims were chosen in.
  void Begin(const ClusterSnapshot& snapshot, const WaitingGang& gang, const GangVictims& victims,
             std::set<std::string> nodes, const std::stop_token& stop);
  // Whether all of them are kept, until `keep` from now.
  bool KeepPlaces(Attempt& attempt, const std::stop_token& stop);
  // An error where one would be refused.
  Result<> TryAll(const GangVictims& victims, const std::stop_token& stop);
  // Who is refused is left in `refused`.
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
  Rests looks_;  // when next to look for victims, by the gang's name
  // Attempts that came to nothing, by namespace and priority: a gang that is made anew has another
  // name, and those that it has had evicted come back.
  Rests in_vain_;
};

}  // namespace synergy::controller
