#pragma once

// Places gangs for the extender. Before the filter call of the first member returns, places are
// found and held for all members. No member is bound before the bind calls of all members wait at
// the same time. docs/internals/gangs.md describes what users see.
//
//   filter of a member  not all members exist        -> not yet; refused once they are late
//                       they do not all fit          -> refused
//                       they fit, too far apart      -> not yet, for a while (gang_locality.h)
//                       they fit                     -> holds all places; returns the pod's node
//   bind of a member    waits for the binds of the others. A timeout is an error, after which
//                       kube-scheduler retries; the places stay held. All members are given the
//                       same CPU and memory
//   Look()              releases the places of a gang that lost a member, or whose pods were not
//                       all bound within `hold`. After `hold`, the gang also backs off
//
// A member that passed the filter may still lose its place: if its bind fails, kube-scheduler stops
// counting it on the node and may place other pods there. If kube-scheduler refuses a member's
// node, or another pod has taken the room, the member gets a new place. If possible, the members
// that kube-scheduler counts stay where they are; otherwise all members are placed again.
// gang_refusals.h records the refusals. A new place does not extend the hold.
//
// A gang with a running member need not be complete, because another member may have failed or the
// extender may have been down. The waiting members are placed together, if possible in places that
// are reserved for replacements (cluster/state/replacements.h), or else near the running members.
// All state is in memory: after a restart, bound members count, and the others are planned again.
//
// Threading: one owner.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "allocation/asked_nodes.h"
#include "allocation/best_fit.h"
#include "allocation/gangs/gang_locality.h"
#include "allocation/gangs/gang_plan.h"
#include "cluster/state/cluster_state.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/resources.h"
#include "core/result.h"
#include "engine/gangs/gang_membership.h"
#include "engine/gangs/gang_refusals.h"
#include "engine/gangs/held_places.h"

namespace synergy {

struct GangTimes {
  // How long a gang's places are held while some of its members are not bound.
  Duration hold = std::chrono::seconds(60);
  // How long a bind waits for the binds of the other members. It is longer than the backoff (10 s)
  // after which kube-scheduler retries a member that failed.
  Duration wait = std::chrono::seconds(12);
  // How long the creation of a gang's members may take before missing members count as late. Until
  // then kube-scheduler gets an answer that makes it retry soon.
  Duration creation = std::chrono::seconds(10);
};

// The answer to a filter call for a pod of a gang.
struct GangVerdict {
  enum class Kind { kPlaced, kNotYet, kRefused };

  Kind kind = Kind::kRefused;
  std::string text;            // the node, or the reason
  bool short_of_room = false;  // refused for lack of room: a change of the cluster may help
  bool incomplete = false;     // members are late; some may have Succeeded
  // kNotYet: how long until the gang may be spread further.
  std::optional<Duration> waits_for = std::nullopt;
};

// The current number of gangs in each state.
struct GangCounts {
  size_t held = 0;     // places are held, but not all members are bound
  size_t waiting = 0;  // members wait, and no places are held
  Duration oldest_held{};
  size_t waiting_binds = 0;
  size_t waiting_for_locality = 0;              // part of `waiting`: could run if spread further
  std::array<uint64_t, kSpreadTiers> placed{};  // since the start, by tier
};

// The amounts that all members of a gang get (gang_allocation.h), or the error of a failed bind.
// nullopt: there are no common amounts.
using GangBindOutcome = Result<std::optional<ResourceVector>>;

// A member's bind call that waits for those of the other members.
struct GangBind {
  std::string gang;
  std::string uid;
  Instant until{};
  std::optional<GangBindOutcome> outcome;
};

// For each node, the most GPUs that GPU reservations leave to a gang's waiting members. A node
// without an entry has no limit.
using OpenGpus = std::map<std::string, Gpus>;

class Gangs {
 public:
  // `state`, `clock` and `log` must outlive this object.
  Gangs(ClusterState& state, ReserveRule reserve, std::string gpu_resource, GangTimes times,
        LocalityRules locality, const Clock& clock, Logger& log);

  // Sets the storage that plans take into account; null: it is unknown. `storage` must outlive this
  // object.
  void SetStorage(const StorageNeeds* storage) { storage_ = storage; }

  // Places a pod of a gang. `asked`: the nodes that kube-scheduler allows. `avoided`: the names of
  // nodes that no member gets if the gang fits on others. `open`: the limits that GPU reservations
  // set.
  GangVerdict Place(const Pod& pod, const AskedNodes& asked, const NodeSet& avoided = {},
                    const OpenGpus& open = {});
  // Begins a bind to `node`. Its outcome is set once the pod may be bound, or once the bind has
  // failed. For a pod without a gang or without GPUs the outcome is set at once, without amounts.
  // An earlier bind of the same pod ends with an error.
  std::shared_ptr<GangBind> BeginBind(const std::string& uid, const std::string& node);
  // Returns the outcome of the bind, or nullopt while the bind waits. Ends a bind that has waited
  // too long with an error.
  std::optional<GangBindOutcome> OutcomeOf(GangBind& bind);
  // Gives up places that gangs hold or the tuner keeps for lower priorities, if the pod then fits
  // on one of the `asked` nodes. A gang gives up all of its places or none. Returns whether any
  // places were given up. REQUIRES: the pod fits on none of these nodes now.
  bool YieldTo(const Pod& pod, const AskedNodes& asked);
  // Records how many members have Succeeded. The record expires after some seconds, but not while
  // places are held. Returns whether these members make the gang complete.
  bool NoteSucceeded(const Pod& pod, size_t members);
  // Holds places for the waiting members of gangs of which other members run: an earlier extender
  // may have been binding all of them when it ended. Considers each gang once at most, and only
  // before its first filter call. Takes no place from another pod. Call it once the cluster state
  // is complete, before the other functions, and then about once a second.
  void Resume();
  // Releases places whose gang is bound, has lost a member or has held them for too long, and
  // forgets gangs without pods. Call it about once a second.
  void Look();
  // Fails all waiting binds, and all binds that begin later.
  void Stop();
  GangCounts Count() const;

 private:
  // The nodes of members, by uid.
  using Places = std::map<std::string, std::string>;

  struct Record {
    Instant first_asked{};  // when the current wait began; zero: no filter call since the bind
    Instant last_asked{};
    Instant held_since{};          // when the first places of this hold were taken
    Places places;                 // empty: nothing is held
    std::set<std::string> passed;  // members in `places` that kube-scheduler counts there
    std::map<std::string, std::shared_ptr<GangBind>> binds;  // waiting binds, by uid
    std::set<std::string> let_go;  // uids of members whose binds may proceed
    Instant let_go_at{};
    bool resumed = false;                // Resume() took the places
    std::vector<std::string> launchers;  // uids of launchers for which room is held as well
    // The amounts for all members, computed once the first member may be bound.
    std::optional<std::optional<ResourceVector>> allocation;
    GangRefusals refusals;
    // In this hold: whether all known refusals were dropped once, and whether members that
    // kube-scheduler counted were moved once to bring all members closer together.
    bool started_over = false;
    bool moved_nearer = false;
    Instant rests_until{};
    Duration rest{};
    std::string why_it_rests;
    bool waits_for_locality = false;  // as of `last_asked`
    size_t succeeded = 0;
    Instant succeeded_until{};
  };
  // A plan, and the places of others that it needs.
  struct Planned {
    LocalPlan local;
    std::vector<std::string> yielding;  // uids of lost pods whose places it takes
    std::vector<HeldPlaces> held;       // places of waiting pods that yield

    // Returns whether the plan neither places the gang nor waits for a better place.
    bool IsNone() const { return local.plan.places.empty() && !local.waits_until; }
    bool TakesOthersPlaces() const { return !yielding.empty() || !held.empty(); }
  };
  // The arguments of Place(), with the names of the asked nodes as a set.
  struct Question {
    const Pod& pod;
    std::set<std::string_view> allowed;
    const NodeSet& avoided;
    const OpenGpus& open;
  };
  // Selects the known decisions of kube-scheduler that a plan respects.
  struct Heed {
    bool counted = false;  // members that kube-scheduler counts stay where they are
    bool pods = false;     // no pod goes to a node that kube-scheduler refused for it
    bool doubts = false;   // ... even if that refusal is in doubt
    bool shapes = false;   // no more pods of a shape go to a node than its bound allows
  };

  // Returns when kube-scheduler first tried to place the gang. A time before the start of this
  // process comes from the conditions that kube-scheduler wrote on the pods.
  WallTime FirstAsked(const GangMembership& membership, const Record& record) const;
  // Counts the members, including those that are known to have Succeeded.
  GangMembership Read(const Gang& gang, const Record& record) const;
  GangVerdict PlaceHeld(const Pod& pod, const std::set<std::string_view>& allowed, Record& record);
  // Records that, of the gang's nodes, kube-scheduler allows the pod only those in `allowed`.
  void NoteRefusals(const Pod& pod, const std::set<std::string_view>& allowed,
                    const GangMembership& membership, Record& record) const;
  GangVerdict Plan(const Question& question, const GangMembership& membership, Record& record);
  // Calls `plan` with all constraints, then with fewer and fewer until one call finds places.
  static Planned PlanHeeding(bool counted, const GangRefusals& refusals,
                             const std::function<Planned(const Heed&)>& plan);
  static GangTerms TermsOf(const Question& question, const GangMembership& membership,
                           const Record& record, const ClusterSnapshot& snapshot, Heed heed);
  // Returns whether the extender can see a reason to refuse `node` for the pod: the node has no
  // room, or the members' rules of separation forbid it. `counted`: the members that kube-scheduler
  // counts on nodes.
  static bool KeptOff(const std::shared_ptr<const Pod>& pod, NodeIndex node,
                      const ClusterSnapshot& snapshot, const GangMembership& membership,
                      const std::vector<CountedMember>& counted);
  // Members that kube-scheduler counts although they are not bound.
  std::vector<CountedMember> Counted(const GangMembership& membership, const Record& record) const;
  // Holds the planned places. Returns false if they are no longer free.
  bool Take(const Planned& planned, const GangMembership& membership,
            const ClusterSnapshot& snapshot, Record& record);
  // Reserves these places. If there is enough room, also reserves room for the launchers whose node
  // is known.
  bool Reserve(const std::vector<GangPlace>& places, const GangMembership& membership,
               const ClusterSnapshot& snapshot, Record& record);
  // Plans the gang first in the places reserved for its replacements, then where locality allows it
  // after `waited`, and finally also in places that yield to it.
  Planned PlanAround(const ClusterSnapshot& snapshot, const std::string& gang,
                     const GangMembership& membership, const GangTerms& terms,
                     Duration waited) const;
  // Returns the held places, except those of gang `but`, that yield to a pod of this priority,
  // lowest priority first.
  std::vector<HeldPlaces> HeldBelow(int32_t priority, const std::string& but) const;
  void Yield(const std::vector<HeldPlaces>& held, const std::string& to);
  void Resume(const std::string& name, const GangMembership& membership, Record& record);
  // Returns why the gang could not run even in an empty cluster; empty if it could.
  std::string TooLarge(const Pod& pod, const GangMembership& membership,
                       const ClusterSnapshot& snapshot) const;
  std::string DescribeLack(const GangMembership& membership, const GangPlan& plan,
                           const ClusterSnapshot& snapshot) const;
  // Lets the gang's binds proceed if all of its members wait and still have room.
  void LetGo(Record& record, const Gang& gang);
  static void End(Record& record, const std::string& uid, Error error);
  // Returns how many binds wait or will soon wait.
  size_t ExpectedBinds() const;
  // Releases the gang's places.
  void Release(Record& record);
  // Releases the places and starts a backoff before the gang is tried again.
  void GiveUp(const std::string& name, const GangMembership& membership, Record& record);
  void Look(const std::string& name, Record& record, Instant now);

  ClusterState& state_;
  const ReserveRule reserve_;
  const StorageNeeds* storage_ = nullptr;
  const std::string gpu_resource_;
  const GangTimes times_;
  const LocalityRules locality_;
  const Clock& clock_;
  const WallTime began_;
  Logger& log_;
  std::map<std::string, Record> records_;  // by the gang's name
  bool stopped_ = false;
  std::array<uint64_t, kSpreadTiers> placed_{};
};

}  // namespace synergy
