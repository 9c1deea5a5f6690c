#pragma once

// Places gangs for the extender. Before it answers the filter call of the first member, it finds
// and holds places for all members. It binds no member before the bind calls of all of them wait at
// the same time. docs/internals/gangs.md describes what users see.
//
//   filter of a member  not all members exist        -> not yet; refused once they are late
//                       they do not all fit          -> refused
//                       they fit, too far apart      -> not yet, for a while (gang_locality.h)
//                       they fit                     -> holds all places; returns the pod's node
//   bind of a member    waits for the binds of the others. A timeout is an error, after which
//                       kube-scheduler retries; the places stay held. All members are given the
//                       same CPU and memory
//   Look()              releases the places of a gang that lost a member, or whose pods did not all
//                       arrive within `hold`; such a gang backs off before it is tried again
//
// A member that passed the filter may still not be bound: when its bind fails, kube-scheduler no
// longer counts it and may place other pods where it was. If kube-scheduler keeps a member from its
// place, or another pod has taken the room, the member is placed again: next to the members that
// kube-scheduler counts if possible, otherwise together with all of them (gang_refusals.h keeps
// what such refusals reveal). None of this extends the hold.
//
// A gang with a running member need not be complete, because another member may have failed or the
// extender may have been away. The members that exist are placed together around the running ones,
// first in places that are reserved for replacements (cluster/state/replacements.h). All state is
// in memory: after a restart, bound members count, and the others are planned again.
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
  // How long a gang's places are held while not all of its pods have arrived to be bound.
  Duration hold = std::chrono::seconds(60);
  // How long a bind waits for the binds of the other members. It is longer than the backoff (10 s)
  // after which kube-scheduler retries a member that failed.
  Duration wait = std::chrono::seconds(12);
  // How long the creation of a gang's members may take before the members count as late. Until then
  // kube-scheduler gets an answer that makes it retry soon.
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

// The amounts that all members of a gang get (gang_allocation.h), or why a bind failed.
using GangBindOutcome = Result<std::optional<ResourceVector>>;

// A member's bind call that waits for those of the other members.
struct GangBind {
  std::string gang;
  std::string uid;
  Instant until{};
  std::optional<GangBindOutcome> outcome;
};

// By node: the most of its GPUs that GPU reservations leave to a gang's waiting members. Nodes that
// are absent have no bound.
using OpenGpus = std::map<std::string, Gpus>;

class Gangs {
 public:
  // `state`, `clock` and `log` must outlive this object.
  Gangs(ClusterState& state, ReserveRule reserve, std::string gpu_resource, GangTimes times,
        LocalityRules locality, const Clock& clock, Logger& log);

  // Makes plans take into account the storage that members read from. `storage` must outlive this
  // object.
  void SetStorage(const StorageCatalog* storage) { storage_ = storage; }

  // Places a pod of a gang. `asked`: the nodes that kube-scheduler allows. `avoided`: names of
  // those that no member gets if the gang fits without them.
  GangVerdict Place(const Pod& pod, const AskedNodes& asked, const NodeSet& avoided = {},
                    const OpenGpus& open = {});
  // Begins a bind to `node`. Its outcome is set once the pod may be bound, or the bind has failed.
  // For a pod without a gang or without GPUs it is set at once, without amounts. An earlier bind of
  // the same pod ends with an error.
  std::shared_ptr<GangBind> BeginBind(const std::string& uid, const std::string& node);
  std::optional<GangBindOutcome> OutcomeOf(GangBind& bind);
  // Gives up places of lower priority, of gangs as a whole, if the pod then fits on one of `asked`:
  // those that are held here, and those that the tuner keeps. Returns whether it did. Call it for a
  // pod that fits nowhere.
  bool YieldTo(const Pod& pod, const AskedNodes& asked);
  // Records that this number of members has Succeeded. The record expires after a few seconds, but
  // not while places are held. Returns whether they make the gang complete.
  bool NoteSucceeded(const Pod& pod, size_t members);
  // Holds places for the waiting members of gangs that run in part, because an extender that has
  // ended may have let them all be bound. Does this once for each gang, and only until a filter
  // call asks about it; no other place yields. Call it when the cluster is known, before the other
  // functions, and then about once a second.
  void Resume();
  // Does the periodic work. Call it about once a second.
  void Look();
  // Ends all waiting binds, and fails those that come later.
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
    std::set<std::string> let_go;                            // uids whose binds no longer wait
    Instant let_go_at{};
    bool resumed = false;                // Resume() took the places
    std::vector<std::string> launchers;  // uids of launchers for which room is held as well
    // The amounts for all members, computed when the first may be bound.
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
    std::vector<HeldPlaces> held;       // that yield

    // Returns whether the plan neither places the gang nor waits for a better place.
    bool IsNone() const { return local.plan.places.empty() && !local.waits_until; }
    bool TakesOthersPlaces() const { return !yielding.empty() || !held.empty(); }
  };
  // A filter call: the pod, the nodes that it may go to, and what Place() says of the rest.
  struct Question {
    const Pod& pod;
    std::set<std::string_view> allowed;
    const NodeSet& avoided;
    const OpenGpus& open;
  };
  // How closely a plan follows what is known of kube-scheduler.
  struct Heed {
    bool counted = false;  // members that it counts stay where they are
    bool pods = false;     // no pod goes to a node that kube-scheduler refused for it
    bool doubts = false;   // ... even if that refusal is in doubt
    bool shapes = false;   // no more pods of a shape go to a node than its bound allows
  };

  // Returns when kube-scheduler first tried to place the gang. If that was before the start of this
  // process, the time comes from what kube-scheduler wrote on the pods.
  WallTime FirstAsked(const GangMembership& membership, const Record& record) const;
  // Counts the members, including those that are known to have Succeeded.
  GangMembership Read(const Gang& gang, const Record& record) const;
  GangVerdict PlaceHeld(const Pod& pod, const std::set<std::string_view>& allowed, Record& record);
  // Records that, of the gang's nodes, kube-scheduler allows the pod only those in `allowed`.
  void NoteRefusals(const Pod& pod, const std::set<std::string_view>& allowed,
                    const GangMembership& membership, Record& record) const;
  GangVerdict Plan(const Question& question, const GangMembership& membership, Record& record);
  // Calls `plan` with all constraints, then with fewer and fewer until it finds a plan.
  static Planned PlanHeeding(bool counted, const GangRefusals& refusals,
                             const std::function<Planned(const Heed&)>& plan);
  static GangTerms TermsOf(const Question& question, const GangMembership& membership,
                           const Record& record, const ClusterSnapshot& snapshot, Heed heed);
  // Returns whether the refusal has a visible reason: the node has no room for the pod, or the
  // members' rules of separation forbid it, given the counted members on their nodes.
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
  // Plans the gang first in the places reserved for its replacements, then anywhere that is allowed
  // after waiting for `waited`, and then also in places that yield to it.
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
  // Lets the binds proceed if all of them wait.
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
  const StorageCatalog* storage_ = nullptr;
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
