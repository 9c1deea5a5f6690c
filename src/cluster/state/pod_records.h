#pragma once

// What is known of each pod: as the watch reported it, and where it is counted meanwhile by our own
// decisions. The part of ClusterState that carries out the transitions drawn in cluster_state.h.
//
// Threading: under ClusterState's mutex. Ownership: pods are shared and immutable. Failures: none
// but the outcomes described.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cluster/least_per_gpu.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "cluster/state/cluster_version.h"
#include "cluster/state/fit.h"
#include "cluster/state/node_ledger.h"
#include "cluster/state/vacant_places.h"
#include "core/clock.h"

namespace synergy {

// Whether a pod was given its place.
struct AssumeOutcome {
  bool assumed = false;
  FitFailures failures;                 // why not
  std::optional<std::string> bound_to;  // the node it is on already

  bool operator==(const AssumeOutcome&) const = default;
};

struct AssumedPod {
  std::shared_ptr<const Pod> pod;  // as last seen; its `node` is where we put it
  Instant deadline;
};

// Where a pod that is not bound is counted all the same.
struct Placement {
  NodeIndex node;
  std::shared_ptr<const Pod> pod;  // as it is counted there
  // Of an assumed pod, which we are binding or do not know what became of that: its deadline.
  std::optional<Instant> assumed_until;
};

// Where a member of a gang is to go.
struct GangPlace {
  std::string uid;
  std::string node;

  bool operator==(const GangPlace&) const = default;
};

// A pod of a gang that is neither gone nor about to go, as the watch reported it.
struct GangMember {
  std::shared_ptr<const Pod> pod;
  std::string node;     // where it is bound, being bound or held a place; empty: nowhere
  bool placed = false;  // bound, or being bound
};

// Room that a pod takes which is not known to be bound.
struct HeldPlace {
  enum class Kind : uint8_t { kAssumed, kKept, kHeld };

  std::string uid;
  Kind kind = Kind::kAssumed;
};

// What was last heard of a pod: as it is, or as it was when it went or ended.
struct PodNews {
  std::shared_ptr<const Pod> pod;
  bool gone = false;
};

// ClusterState describes what its members of the same names do.
class PodRecords {
 public:
  // Both outlive this. Every change advances `version`.
  PodRecords(NodeLedger& nodes, ClusterVersion& version)
      : nodes_(nodes), version_(version), vacant_(nodes, version) {}

  void Put(Pod pod);  // brought by the watch
  // A list of all pods (pod_list.h), in parts; `heard_until`: with the last one,
  // 0 with those before.
  void BeginList() { ++list_; }
  void PutListed(std::vector<Pod> pods, uint64_t heard_until);
  // Whether one of the pods is counted on a node that is not `node`.
  bool AnyIsElsewhere(const std::vector<Pod>& pods, const std::string& node) const;
  size_t buckets() const { return records_.bucket_count(); }
  // Those in the buckets from `begin` to `end` that nothing has been heard of since BeginList().
  // What the watch has never reported may be younger than the list.
  std::vector<std::string> Unlisted(size_t begin, size_t end) const;
  void Remove(const std::string& uid);
  void Refresh(Pod pod);

  void Expect(const Pod& pod, NodeIndex node, Instant deadline);
  AssumeOutcome Assume(const Pod& pod, const std::string& node, Instant deadline);
  void Forget(const std::string& uid);
  void Extend(const std::string& uid, Instant deadline);
  bool Hold(const std::vector<GangPlace>& places, Instant deadline);
  void Release(const std::vector<std::string>& uids);
  void HoldVacated(Duration hold) { vacated_hold_ = hold; }
  void SettleVacant(const std::string& uid, bool is_awaited);
  std::vector<VacantPlace> VacantPlacesOf(const std::string& gang) const {
    return vacant_.Of(gang);
  }
  std::vector<VacantPlace> AllVacantPlaces() const { return vacant_.All(); }
  void DropStaleExpectations(Instant now, WallTime wall);
  // To be called when a node has become another one: what pods claim may fit now, or no more.
  void LookAtClaims();

  std::vector<AssumedPod> Expired(Instant now) const;
  std::vector<HeldPlace> HeldPlaces() const;
  std::optional<Placement> FindPlacement(const std::string& uid) const;
  std::shared_ptr<const Pod> FindPod(const std::string& uid) const;
  std::vector<std::shared_ptr<const Pod>> WaitingPods() const;
  std::vector<GangMember> GangMembers(const std::string& gang) const;
  // For a snapshot.
  std::shared_ptr<const GangsByName> ShareGangs();

  void KeepNews();
  std::vector<PodNews> TakeNews() { return std::exchange(news_, {}); }
  void DropNews();

  uint64_t heard_until() const { return heard_until_; }
  size_t known() const { return records_.size(); }
  size_t assumed() const { return assumed_; }
  size_t waiting_gpu_pods() const { return waiting_gpu_pods_; }
  // What assumed pods are to get beyond what the watch says that they request, by namespace.
  std::map<std::string, ResourceVector> BeingGiven() const;
  // Of those that Synergy sizes; where there are none, of the others.
  ResourceVector LeastPerGpuOfAll() const {
    return (least_per_fungible_gpu_.empty() ? least_per_gpu_ : least_per_fungible_gpu_).Get();
  }

 private:
  enum class Standing : uint8_t { kWaiting, kExpected, kKept, kHeld, kAssumed, kBound };

  struct Record {
    std::shared_ptr<const Pod> pod;  // unless kWaiting, `pod->node` says where it is counted
    Standing standing = Standing::kWaiting;
    NodeIndex place = 0;  // meaningful unless kWaiting, or where the pod is nominated to a node
    Instant deadline{};   // kExpected, kAssumed
    // As the watch reported it; null until it has (expectations may come first).
    std::shared_ptr<const Pod> seen;
    uint64_t heard_in = 0;  // list_ then
    // The place of a gang's member, as long as it is not bound.
    struct Held {
      std::string node;
      Instant deadline{};
    };
    std::optional<Held> held;
  };

  // Neither without a place nor bound: known in provisional_.
  static bool IsProvisional(const Record& record);
  // Neither placed by us nor bound, but nominated to a node by kube-scheduler.
  static bool IsNominated(const Record& record);
  // Whether the pod has GPUs or is after some.
  static bool TakesGpus(const Record& record);
  LeastPerGpu& LeastOf(const Pod& pod);

  void Learn(Pod pod);

  const Record* Find(const std::string& uid) const;
  Record* Find(const std::string& uid);
  void Place(const Pod& pod, const std::string& node, Standing standing, Instant deadline);
  // Back to what the watch says; a pod that only we have heard of is dropped.
  void Unplace(const std::string& uid);
  // Whether there is room on the node that `pod.node` names, for one that is counted nowhere.
  bool FitsNow(const Pod& pod) const;
  void LeaveGang(const Record& record);
  // Holds the place of a bound pod that is gone, if the gang runs.
  void Vacate(const Pod& gone, const Gang& gang);
  // Drops vacant places for which the gang has no use any more, and returns them; `filled`: the
  // nodes on which members are about to have places.
  std::vector<VacantPlace> LimitVacant(const Gang& gang,
                                       const std::vector<std::string>& filled = {});
  // The same for members that are about to have these.
  std::vector<VacantPlace> FillVacant(const std::vector<GangPlace>& places);
  // Its members may be elsewhere from now on.
  void Stir(const Record& record);
  GangSites SitesOf(const std::set<std::string>& uids) const;
  // How a pod counts by what the watch says of it, and what is held for it: bound, held, kept or
  // waiting.
  struct Seat {
    std::shared_ptr<const Pod> pod;
    Standing standing;
  };
  Seat BySight(const Record& record) const;
  void SetBySight(Record& record);
  // Whether the pod, counted on the node that `pod.node` names, is no larger than that node.
  bool FitsItsNode(const Pod& pod) const;
  void Set(Record& record, std::shared_ptr<const Pod> pod, Standing standing, Instant deadline);
  void Count(Record& record);
  void Uncount(const Record& record);

  // The provisional ones of which `is_meant(record)` is true, by uid.
  template <class IsMeant>
  std::vector<const Record*> ProvisionalIf(IsMeant is_meant) const;
  // The pods that are expected on the node, `uid` left out.
  std::vector<std::shared_ptr<const Pod>> ExpectedOn(NodeIndex place, const std::string& uid) const;

  NodeLedger& nodes_;
  ClusterVersion& version_;
  std::unordered_map<std::string, Record> records_;
  std::set<std::string> provisional_;  // uids
  std::set<std::string> claiming_;     // uids of pods with claims (claims.h), counted or not
  std::unordered_map<std::string, std::set<std::string>> gangs_;  // uids by the gang's name
  std::set<std::string> stirred_gangs_;                           // since shared_gangs_ was made
  GangsByName gang_sites_;
  std::shared_ptr<const GangsByName> shared_gangs_ = std::make_shared<const GangsByName>();
  LeastPerGpu least_per_gpu_;  // of those that others size
  LeastPerGpu least_per_fungible_gpu_;
  size_t waiting_gpu_pods_ = 0;
  size_t assumed_ = 0;
  VacantPlaces vacant_;
  Duration vacated_hold_{};  // zero: no place is held vacant
  Instant now_{};            // as last told
  WallTime wall_{};          // what is claimed until then or earlier counts no more
  uint64_t heard_until_ = 0;
  uint64_t list_ = 0;  // the last one begun
  bool keeps_news_ = false;
  std::vector<PodNews> news_;
};

}  // namespace synergy
