#pragma once

// Models kube-scheduler with the extender: the next pod to try, its node, and its allocation.
//
// kube-scheduler checks requests first. If some node suits the pod, the extender's filter, ranking
// and bind decide (extender/scheduler_extender.cc, allocations.cc, binder.cc), with the same
// functions on the same ClusterState. The extender's own Gangs filters and binds the members of a
// gang one after another, all at the time of the first. The extender is not called for pods
// without GPUs; kube-scheduler places these by its own count of requests, ignoring reserved places.
//
// Threading: one owner.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "allocation/best_fit.h"
#include "allocation/gangs/gang_locality.h"
#include "allocation/storage/storage_catalog.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "cluster/state/cluster_state.h"
#include "core/clock.h"
#include "core/log.h"
#include "engine/gangs/gangs.h"
#include "sim/cluster/drivers/reservation_driver.h"
#include "sim/cluster/pod_preemption.h"
#include "sim/cluster/scheduling_queue.h"
#include "sim/cluster/simulated_clock.h"
#include "sim/cluster/simulated_pods.h"
#include "sim/node_order.h"

namespace synergy {

// An experiment with the choice between nodes that have room for a pod: how much the GPUs that stay
// free on the node matter.
enum class WholeNodes : uint8_t {
  kByCost,     // as in the product: a part of the cost (allocation/best_fit.h)
  kAfterRoom,  // the fewest among nodes with room for its demand; then the cost
  kFirst,      // the fewest; then the cost
};

class SimulatedScheduler final : public PodWatcher {
 public:
  // `state` must outlive this object. `began`: when the extender started. `order`: if set,
  // kube-scheduler scores nodes on its own, without the extender, which still places gangs.
  SimulatedScheduler(ClusterState& state, LocalityRules locality, std::optional<NodeOrder> order,
                     Moment began);

  // Also reports assumed pods to this state, which must outlive this object.
  void AddState(ClusterState& state) { other_state_ = &state; }
  // `reservations`: must outlive this object; null: there are none.
  void SetReservations(const ReservationDriver* reservations) { reservations_ = reservations; }
  // `storage`: must outlive this object; null: the storage is unknown.
  void SetStorage(const StorageNeeds* storage) {
    storage_ = storage;
    gangs_.SetStorage(storage);
  }
  void SetWholeNodes(WholeNodes whole) { whole_nodes_ = whole; }
  // Records that pods that were refused may pass now.
  void ReservationsChanged() { queue_.LookAgain(); }
  // Ranks a node for a pod with GPUs, with precedence over the extender's rank; lower is better.
  // Returns nullopt if the pod may not go there. Not used for gang members.
  using RankNode = std::function<std::optional<double>(const Pod& pod, const std::string& node)>;
  void SetRank(RankNode rank) { rank_node_ = std::move(rank); }

  // Lets pods that train alone replace pods of lower priority.
  void SetPreemption() { preemption_.emplace(!order_); }

  // Adds a waiting pod that was created. For a gang, call it for each member once all members are
  // known.
  void Add(const Pod& pod, Instant now);
  // Does the same for a pod that replaces a lost member of a gang.
  void AddReplacement(const Pod& pod, Instant now);
  // Records that the bind of a pod failed, so the pod waits again.
  void BindFailed(const Pod& pod, Instant now);
  // Keeps the waiting pod off these nodes until `until`, unless no other node suits it.
  void Avoid(const std::string& uid, std::vector<std::string> nodes, Instant until);
  // Forgets a deleted pod that waited or was about to be bound. A gang's pods are all deleted
  // together.
  void Forget(const Pod& pod);
  // Records that pods of a job were deleted before its end, and may be created again.
  void PodsDeleted(Instant now);
  // Records that a node has become schedulable.
  void NodeReturned() { queue_.WakeAll(); }
  void PodWritten(const SimulatedPod& pod, const SimulatedPods& all) override;
  void RoomMade(const SimulatedPod& pod) override;

  // HasWork() returns whether a pod must be tried now; NextWork(), when one will be if nothing
  // happens.
  bool HasWork(Instant now);
  std::optional<Instant> NextWork() const;

  struct Attempt {
    std::vector<std::string> uids;  // one pod, or a whole gang
    // The pods as they should be bound; the ClusterState assumes them there. Empty: the pods are
    // Unschedulable, or wait for a better place.
    std::vector<Pod> planned;
    bool waits_for_locality = false;
    // The pods to evict for the pod, which is nominated to their node. It is never set together
    // with `planned`.
    std::optional<PodEvictions> evictions = std::nullopt;
    // Whether nothing relevant has changed since similar pods failed. Such an attempt takes no
    // time.
    bool known = false;
  };
  // Tries the next pod; nullopt if there is none. `pods` holds the waiting ones.
  std::optional<Attempt> Try(const SimulatedPods& pods, Instant now);

  // Returns the GPUs of gangs that could run now if they were spread further.
  Gpus kept_waiting() const;

 private:
  struct Choice {
    std::optional<NodeIndex> node;
    bool looked = false;  // some node had to be searched
  };
  Choice Choose(const Pod& pod, const ClusterSnapshot& snapshot, const SimulatedPods& pods,
                uint64_t looked_at, Instant now) const;
  bool Avoids(const std::string& uid, const std::string& node, Instant now) const;
  // Releases places of lost gang members that keep the pod off a node, as the extender does for a
  // pod of higher priority. Returns whether it released any.
  bool TakeReservedPlaces(const Pod& pod, const ClusterSnapshot& snapshot);
  std::optional<PodEvictions> ChooseVictims(const Pod& pod, const ClusterSnapshot& snapshot,
                                            const SimulatedPods& pods, Instant now);
  // Chooses a node for a pod without GPUs.
  Choice ChooseByRequests(const Pod& pod, const ClusterSnapshot& snapshot,
                          const SimulatedPods& pods, uint64_t looked_at) const;
  // Returns whether the pod has room there by kube-scheduler's count. That includes pods whose
  // binds are in progress, and pods of its priority or a higher one that are nominated to the node.
  bool FitsByRequests(const Pod& pod, const NodeState& node, const SimulatedPods& pods) const;
  // Returns the node by that count.
  NodeState AsCounted(const Pod& pod, const NodeState& node, const SimulatedPods& pods) const;
  ResourceVector Counted(const std::string& node, const SimulatedPods& pods) const;
  struct GangState {
    std::string leader;                  // the gang's pod in the queue
    Gpus gpus;                           // total of all members
    std::optional<Instant> waits_until;  // for locality, since its last attempt
  };
  Attempt TryGang(const SchedulingQueue::Candidate& candidate, const Pod& leader,
                  const SimulatedPods& pods, Instant now);
  bool IsReserved(const Pod& pod) const;
  std::optional<PassingTerms> TermsFor(const Pod& pod, Instant now) const;
  // Returns the nodes of the members; empty if one of them finds none. `waits_for`: how long the
  // gang waits before it may be spread further. `avoid`: no member gets a node that it avoids.
  std::vector<std::string> FilterGang(const std::vector<std::shared_ptr<const Pod>>& members,
                                      const ClusterSnapshot& snapshot, const SimulatedPods& pods,
                                      bool avoid, Instant now, std::optional<Duration>& waits_for);
  // Returns all the gang's pods as they should be bound; empty if the gang must be tried again.
  std::vector<Pod> AssumeGang(const std::vector<std::shared_ptr<const Pod>>& members,
                              const std::vector<std::string>& nodes, const SimulatedPods& pods,
                              Instant now);
  bool AssumeAt(const Pod& pod, const std::string& node, Instant now);
  std::optional<Pod> Assume(const Pod& pod, const ClusterSnapshot& snapshot, NodeIndex node,
                            const SimulatedPods& pods, Instant now);

  // The simulation has no log.
  class NoSink final : public LogSink {
   public:
    void Write(std::string_view /*line*/) override {}
  };

  ClusterState& state_;
  ClusterState* other_state_ = nullptr;
  const std::optional<NodeOrder> order_;
  const ReservationDriver* reservations_ = nullptr;
  const StorageNeeds* storage_ = nullptr;
  WholeNodes whole_nodes_ = WholeNodes::kByCost;
  RankNode rank_node_;
  SimulatedClock clock_;
  NoSink sink_;
  Logger log_;
  Gangs gangs_;
  std::map<std::string, GangState> waiting_gangs_;  // by name
  std::unordered_map<std::string, Pod> binding_;    // by UID, with their nodes
  struct Avoided {
    std::vector<std::string> nodes;
    Instant until{};
  };
  std::unordered_map<std::string, Avoided> avoided_;  // by UID
  std::optional<PodPreemption> preemption_;           // nullopt: no pod is evicted
  SchedulingQueue queue_;
};

}  // namespace synergy
