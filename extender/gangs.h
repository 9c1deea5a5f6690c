#pragma once

// Gangs in the extender: the places of all of a gang's members are found and held before the first
// is told its node, and no member is bound before every one of them has passed kube-scheduler's
// filters. docs/gangs.md says what people see of it.
//
//   filter of a member  not all members are there    -> not yet; refused once they are late
//                       they do not all fit          -> refused
//                       they fit, too far apart      -> not yet, for a while (gang_locality.h)
//                       they do                      -> their places are held; this one's node
//   bind of a member    waits for those whose filter has not passed; too long: an error, and
//                       kube-scheduler tries it again. The places stay held. All members are
//                       given the same CPU and memory
//   Look()              gives back the places of a gang that lost a member, or of which not all
//                       pods came within `hold`; such a gang rests before it is tried again
//
// A gang of which a member runs (one has failed, say, or the extender was away) is not held up:
// those who are there are placed together, around the others, and first where members have left
// places vacant (cluster/vacant_places.h). All of this is in memory: after a restart members that
// are bound count, the others are planned again.
//
// Threading: from any thread. Await blocks. Nothing here talks to the API server.

#include <array>
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

#include "allocation/asked_nodes.h"
#include "allocation/best_fit.h"
#include "allocation/gang_locality.h"
#include "allocation/gang_plan.h"
#include "cluster/cluster_state.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/resources.h"
#include "core/result.h"

namespace synergy::extender {

struct GangTimes {
  // How long places are held for a gang whose pods do not all come to be bound.
  Duration hold = std::chrono::seconds(60);
  // How long a bind waits for the other members.
  Duration wait = std::chrono::seconds(3);
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

class Gangs {
 public:
  // `state`, `clock` and `log` outlive this.
  Gangs(ClusterState& state, ReserveRule reserve, std::string gpu_resource, GangTimes times,
        LocalityRules locality, const Clock& clock, Logger& log);

  // For a pod of a gang; `asked`: where kube-scheduler lets it go.
  GangVerdict Place(const Pod& pod, const AskedNodes& asked);
  // Returns when the pod may be bound, at once for one of no gang.
  // What all members of its gang are given (gang_allocation.h); none for one of no gang.
  Result<std::optional<ResourceVector>> Await(const std::string& uid);
  // To be called every second or so.
  void Look();
  GangCounts Count() const;

 private:
  struct Record {
    Instant first_asked{};  // as long as it waits; none: nobody has since it was bound
    Instant last_asked{};
    Instant held_since{};
    std::vector<std::string> held;       // uids; empty: nothing is held
    std::set<std::string> passed;        // of them, those that kube-scheduler has let through
    std::vector<std::string> launchers;  // uids of those for which room is held beside them
    bool may_bind = false;               // all of them, when the last one passed
    // What all of them are given, found out when the first may be bound.
    std::optional<std::optional<ResourceVector>> allocation;
    // Nodes that kube-scheduler does not let a member go to, by its uid.
    std::set<std::pair<std::string, std::string>> refused;
    Instant rests_until{};
    Duration rest{};
    std::string why_it_rests;
    bool waits_for_locality = false;  // as of `last_asked`
  };
  // The members of a gang, counted.
  struct Roll {
    std::vector<GangMember> members;
    std::vector<std::shared_ptr<const Pod>> to_place;   // with GPUs, neither bound nor being bound
    std::vector<std::shared_ptr<const Pod>> launchers;  // without GPUs, and not bound
    size_t running = 0;  // those with GPUs that are bound, or being bound
    std::string disagreement;

    bool IsWhole(const Gang& gang) const {
      return running > 0 || members.size() == static_cast<size_t>(gang.size);
    }
  };

  // When it was first asked about: before this began, by what kube-scheduler wrote on its pods.
  WallTime FirstAsked(const Roll& roll, const Record& record) const;
  Roll Call(const Gang& gang) const;
  GangVerdict PlaceHeld(const Pod& pod, const AskedNodes& asked, Record& record);
  GangVerdict Plan(const Pod& pod, const AskedNodes& asked, const Roll& roll, Record& record);
  // Holds these places, with room for the launchers whose node is known if it has that.
  bool Hold(const std::vector<GangPlace>& places, const Roll& roll, const ClusterSnapshot& snapshot,
            Record& record);
  // First in the places that its members have left vacant, else where it may go so long after its
  // first ask; else also in those that gangs of lower priority have left, which are then given up.
  LocalPlan PlanAround(const ClusterSnapshot& snapshot, const std::string& gang, const Roll& roll,
                       const MayGo& may_go, Duration waited) const;
  // Why the gang could not run if the cluster were empty; empty: it could.
  std::string TooLarge(const Pod& pod, const Roll& roll, const ClusterSnapshot& snapshot) const;
  std::string DescribeLack(const Roll& roll, const GangPlan& plan,
                           const ClusterSnapshot& snapshot) const;
  std::vector<std::string> Missing(const Roll& roll, const Record& record) const;
  void Release(Record& record);
  void Look(const std::string& name, Record& record, Instant now);

  ClusterState& state_;
  const ReserveRule reserve_;
  const std::string gpu_resource_;
  const GangTimes times_;
  const LocalityRules locality_;
  const Clock& clock_;
  const WallTime began_;
  Logger& log_;
  mutable std::mutex mutex_;
  std::map<std::string, Record> records_;  // by the gang's name
  size_t waiting_binds_ = 0;
  std::array<uint64_t, kSpreadTiers> placed_{};
};

}  // namespace synergy::extender
