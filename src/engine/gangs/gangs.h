#pragma once

// Gangs as the extender places them: the places of all of a gang's members are found and held
// before the first is told its node, and no member is bound before the binds of all of them wait at
// the same moment. docs/gangs.md says what people see of it.
//
//   filter of a member  not all members are there    -> not yet; refused once they are late
//                       they do not all fit          -> refused
//                       they fit, too far apart      -> not yet, for a while (gang_locality.h)
//                       they do                      -> their places are held; this one's node
//   bind of a member    waits for the binds of the others; too long: an error, and kube-scheduler
//                       tries it again. The places stay held. All members are given the same CPU
//                       and memory
//   Look()              gives back the places of a gang that lost a member, or of which not all
//                       pods came within `hold`; such a gang rests before it is tried again
//
// That a member has passed the filter promises nothing: when its bind ends in an error
// kube-scheduler counts it no more, and lets others go where it was. A member that kube-scheduler
// keeps from its place is placed anew, beside those that it counts if that can be, else with all of
// them (gang_refusals.h has what is learned from it). None of that lengthens the hold.
//
// A gang of which a member runs (one has failed, say, or the extender was away) is not held up:
// those who are there are placed together, around the others, and first where members have left
// places vacant (cluster/state/vacant_places.h). All of this is in memory: after a restart members
// that are bound count, the others are planned again.
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
#include "engine/gangs/gang_refusals.h"

namespace synergy {

struct GangTimes {
  // How long places are held for a gang whose pods do not all come to be bound.
  Duration hold = std::chrono::seconds(60);
  // How long a bind waits for those of the other members: longer than kube-scheduler may leave one
  // of them aside after an error (its backoff, 10 s).
  Duration wait = std::chrono::seconds(12);
  // How long the members of a gang may take to be created before it is late: until then
  // kube-scheduler is told to ask again soon.
  Duration creation = std::chrono::seconds(10);
};

// What a filter is to say of a pod of a gang.
struct GangVerdict {
  enum class Kind { kPlaced, kNotYet, kRefused };

  Kind kind = Kind::kRefused;
  std::string text;            // the node, or why not
  bool short_of_room = false;  // refused for that: news of the cluster may help
  bool incomplete = false;     // late members: others may have Succeeded
  // Not yet, for that long: then it may be spread further.
  std::optional<Duration> waits_for = std::nullopt;
};

// What there is of gangs now.
struct GangCounts {
  size_t held = 0;     // have their places, and are not bound yet
  size_t waiting = 0;  // asked for within the last while, and have no places
  Duration oldest_held{};
  size_t waiting_binds = 0;
  size_t waiting_for_locality = 0;              // of `waiting`: could run, if spread further
  std::array<uint64_t, kSpreadTiers> placed{};  // since the beginning, by tier
};

// The amounts that all members of a gang are given (gang_allocation.h), or why a bind failed.
using GangBindOutcome = Result<std::optional<ResourceVector>>;

// A bind of a member, as long as it waits for those of the others.
struct GangBind {
  std::string gang;
  std::string uid;
  Instant until{};
  std::optional<GangBindOutcome> outcome;
};

class Gangs {
 public:
  // `state`, `clock` and `log` outlive this.
  Gangs(ClusterState& state, ReserveRule reserve, std::string gpu_resource, GangTimes times,
        LocalityRules locality, const Clock& clock, Logger& log);

  // For a pod of a gang; `asked`: where kube-scheduler lets it go.
  GangVerdict Place(const Pod& pod, const AskedNodes& asked);
  // A bind to `node` begins. It has an outcome when the pod may be bound, or may not; at once, and
  // without amounts, for one of no gang, or without GPUs. An earlier one of the pod ends with an
  // error.
  std::shared_ptr<GangBind> BeginBind(const std::string& uid, const std::string& node);
  std::optional<GangBindOutcome> OutcomeOf(GangBind& bind);
  // Gives up the places of gangs of lower priority, of a gang all or none, if the pod fits on one
  // of `asked` then; whether it did. For a pod that fits nowhere.
  bool YieldTo(const Pod& pod, const AskedNodes& asked);
  // So many members have Succeeded, which goes for a few seconds, and as long as places are held
  // then. Whether the gang is whole with them.
  bool LearnSucceeded(const Pod& pod, size_t members);
  // To be called every second or so.
  void Look();
  // Ends all binds that wait, and those that come.
  void Stop();
  GangCounts Count() const;

 private:
  // The nodes of members, by uid.
  using Places = std::map<std::string, std::string>;

  struct Record {
    Instant first_asked{};  // as long as it waits; none: nobody has since it was bound
    Instant last_asked{};
    Instant held_since{};          // when places were held, and none before
    Places places;                 // empty: nothing is held
    std::set<std::string> passed;  // of them, those that kube-scheduler counts at their places
    std::map<std::string, std::shared_ptr<GangBind>> binds;  // that wait, by uid
    std::set<std::string> let_go;                            // uids: their binds wait no more
    Instant let_go_at{};
    std::vector<std::string> launchers;  // uids of those for which room is held beside them
    // What all of them are given, found out when the first may be bound.
    std::optional<std::optional<ResourceVector>> allocation;
    GangRefusals refusals;
    // In this hold: what was learned has been given up; members that kube-scheduler counted have
    // been moved, so that all are nearer together.
    bool started_over = false;
    bool moved_nearer = false;
    Instant rests_until{};
    Duration rest{};
    std::string why_it_rests;
    bool waits_for_locality = false;  // as of `last_asked`
    size_t succeeded = 0;
    Instant succeeded_until{};
  };
  // The members of a gang, counted.
  struct Roll {
    std::vector<GangMember> members;
    std::vector<std::shared_ptr<const Pod>> to_place;   // with GPUs, neither bound nor being bound
    std::vector<std::shared_ptr<const Pod>> launchers;  // without GPUs, and not bound
    size_t running = 0;  // those with GPUs that are bound, or being bound
    std::string disagreement;

    size_t succeeded = 0;  // as far as that has been asked

    bool IsWhole(const Gang& gang) const {
      return running > 0 || members.size() == static_cast<size_t>(gang.size) ||
             (succeeded > 0 && members.size() + succeeded >= static_cast<size_t>(gang.size));
    }
  };
  // A plan, and what has to be given up for it.
  struct Planned {
    LocalPlan local;
    std::vector<std::string> yielding;        // vacant places, by uid
    std::vector<std::string> yielding_gangs;  // those that places are held for

    // It neither goes anywhere nor waits for a better place.
    bool IsNone() const { return local.plan.places.empty() && !local.waits_until; }
  };
  // How far a plan heeds what is known of kube-scheduler.
  struct Heed {
    bool counted = false;  // members that it counts stay where they are
    bool pods = false;     // those go nowhere that it has kept them from
    bool doubts = false;   // also where that is in doubt
    bool shapes = false;   // nor do more of a shape go to a node
  };

  // When it was first asked about: before this began, by what kube-scheduler wrote on its pods.
  WallTime FirstAsked(const Roll& roll, const Record& record) const;
  Roll Call(const Gang& gang, const Record& record) const;
  GangVerdict PlaceHeld(const Pod& pod, const std::set<std::string_view>& allowed, Record& record);
  // Learns from it that kube-scheduler lets the pod go to `allowed` alone, of the gang's nodes.
  void Learn(const Pod& pod, const std::set<std::string_view>& allowed, const Roll& roll,
             Record& record) const;
  GangVerdict Plan(const Pod& pod, const std::set<std::string_view>& allowed, const Roll& roll,
                   Record& record);
  // With all that is known, else with less of it; `plan` makes a plan.
  static Planned PlanHeeding(bool counted, const GangRefusals& refusals,
                             const std::function<Planned(const Heed&)>& plan);
  static GangTerms TermsOf(const Pod& pod, const std::set<std::string_view>& allowed,
                           const Roll& roll, const Record& record, const ClusterSnapshot& snapshot,
                           Heed heed);
  // Whether it is for room, or for what members keep off each other, that kube-scheduler keeps the
  // pod from the node now, with those on theirs that it counts.
  static bool KeptOff(const std::shared_ptr<const Pod>& pod, NodeIndex node,
                      const ClusterSnapshot& snapshot, const Roll& roll,
                      const std::vector<CountedMember>& counted);
  // Members that kube-scheduler counts, though they are not bound.
  std::vector<CountedMember> Counted(const Roll& roll, const Record& record) const;
  // Holds what is planned; false where that is not free any more.
  bool Take(const Planned& planned, const Roll& roll, const ClusterSnapshot& snapshot,
            Record& record);
  // Holds these places, with room for the launchers whose node is known if it has that.
  bool Hold(const std::vector<GangPlace>& places, const Roll& roll, const ClusterSnapshot& snapshot,
            Record& record);
  // First in the places that its members have left vacant, else where it may go so long after its
  // first ask; else also in those that gangs of lower priority have left.
  Planned PlanAround(const ClusterSnapshot& snapshot, const std::string& gang, const Roll& roll,
                     const GangTerms& terms, Duration waited) const;
  // Gangs for which places are held that yield to a pod of that priority: the lowest first.
  std::vector<std::string> GangsBelow(int32_t priority, const std::string& but) const;
  // Returns the fewest of `gangs` without which it `fits`; none: that is not enough.
  static std::vector<std::string> Fewest(
      const std::vector<std::string>& gangs,
      const std::function<bool(const std::vector<std::string>&)>& fits);
  void Yield(const std::vector<std::string>& gangs, const std::string& to);
  std::set<std::string> HeldFor(const std::vector<std::string>& gangs) const;
  // Why the gang could not run if the cluster were empty; empty: it could.
  std::string TooLarge(const Pod& pod, const Roll& roll, const ClusterSnapshot& snapshot) const;
  std::string DescribeLack(const Roll& roll, const GangPlan& plan,
                           const ClusterSnapshot& snapshot) const;
  // If all binds wait they wait no more.
  void LetGo(Record& record, const Gang& gang);
  static void End(Record& record, const std::string& uid, Error error);
  // How many binds wait, or are going to.
  size_t ExpectedBinds() const;
  // Gives the places back.
  void Release(Record& record);
  // The same, and the gang is not tried again for a while.
  void GiveUp(const std::string& name, const Roll& roll, Record& record);
  void Look(const std::string& name, Record& record, Instant now);

  ClusterState& state_;
  const ReserveRule reserve_;
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
