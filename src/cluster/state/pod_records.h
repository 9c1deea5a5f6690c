#pragma once

// Holds a record of each pod: the watch's last report, and the place where Synergy's own decisions
// count the pod meanwhile. This part of ClusterState makes the transitions drawn in
// cluster_state.h.
//
// Threading: under ClusterState's mutex. Ownership: pods are shared and immutable. Failures: none,
// apart from the outcomes described.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cluster/devices/device_catalog.h"
#include "cluster/least_per_gpu.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "cluster/state/cluster_version.h"
#include "cluster/state/fit.h"
#include "cluster/state/node_ledger.h"
#include "cluster/state/replacements.h"
#include "cluster/state/reservation.h"
#include "core/clock.h"

namespace synergy {

// Whether a pod got its place.
struct AssumeOutcome {
  bool assumed = false;
  FitFailures failures;                 // why the pod did not get the place
  std::optional<std::string> bound_to;  // the node to which the pod is already bound

  bool operator==(const AssumeOutcome&) const = default;
};

struct AssumedPod {
  std::shared_ptr<const Pod> pod;  // as last reported; its `node` is where Synergy placed it
  Instant deadline;
};

// The place of a pod that is not bound but is counted.
struct Placement {
  NodeIndex node;
  std::shared_ptr<const Pod> pod;  // as it is counted there
  // Deadline of an assumed pod, whose bind is in progress or has an unknown outcome.
  std::optional<Instant> assumed_until;
};

// The planned node of a gang's member.
struct GangPlace {
  std::string uid;
  std::string node;

  bool operator==(const GangPlace&) const = default;
};

// A pod of a gang that the watch has reported, and that is neither gone nor being deleted.
struct GangMember {
  std::shared_ptr<const Pod> pod;
  std::string node;     // where it is bound, being bound or has a reservation; empty: none
  bool placed = false;  // bound, or being bound
};

// The last report of a pod: its present state, or its last state before it ended or was deleted.
struct PodNews {
  std::shared_ptr<const Pod> pod;
  bool gone = false;
};

// ClusterState documents its functions of the same names.
class PodRecords {
 public:
  // All arguments must outlive this object. Every change advances `version`.
  PodRecords(NodeLedger& nodes, DeviceCatalog& devices, ClusterVersion& version)
      : nodes_(nodes), devices_(devices), version_(version), replacements_(nodes, version) {}

  void Put(Pod pod);  // reported by the watch
  // Apply a list of all pods (pod_list.h) in parts. `observed_until`: the list's resource version
  // with the last part, 0 before.
  void BeginList() { ++list_; }
  void PutListed(std::vector<Pod> pods, uint64_t observed_until);
  // Returns whether one of the pods is counted on a node other than `node`.
  bool AnyIsElsewhere(const std::vector<Pod>& pods, const std::string& node) const;
  size_t buckets() const { return records_.bucket_count(); }
  // Returns the pods in the buckets from `begin` to `end` that have not been reported since
  // BeginList(). Omits pods that the watch has never reported, which may be newer than the list.
  std::vector<std::string> Unlisted(size_t begin, size_t end) const;
  void Remove(const std::string& uid);
  void Refresh(Pod pod);

  void Expect(Pod pod, NodeIndex node, Instant deadline);
  AssumeOutcome Assume(Pod pod, const std::string& node, Instant deadline);
  void Forget(const std::string& uid);
  void Extend(const std::string& uid, Instant deadline);
  bool Reserve(const std::vector<GangPlace>& places, Instant deadline);
  void Release(const std::vector<std::string>& uids);
  void ReleaseKept(const std::vector<std::string>& uids);
  void NoteSucceeded(const std::string& gang, size_t members);
  void ReserveForReplacements(Duration hold, Instant now) {
    replacement_hold_ = hold;
    now_ = now;
  }
  void SettleReplacement(const std::string& uid, bool is_awaited);
  std::vector<Reservation> ReplacementsOf(const std::string& gang) const {
    return replacements_.Of(gang);
  }
  void DropStaleExpectations(Instant now, WallTime wall);
  // Call it when a node changes, because pods' claims may now fit, or no longer fit.
  void LookAtClaims();
  // Call it after every change: recounts the pods that share devices with changed pods.
  void CountDevices();

  std::vector<AssumedPod> Expired(Instant now) const;
  std::vector<Reservation> Reservations(ReservationKind kind) const;
  std::optional<Placement> FindPlacement(const std::string& uid) const;
  std::shared_ptr<const Pod> FindPod(const std::string& uid) const;
  std::vector<std::shared_ptr<const Pod>> WaitingPods() const;
  std::vector<std::shared_ptr<const Pod>> WaitingSharers() const;
  std::vector<GangMember> GangMembers(const std::string& gang) const;
  // Returns a copy for a snapshot.
  std::shared_ptr<const GangsByName> ShareGangs();

  void KeepNews();
  std::vector<PodNews> TakeNews() { return std::exchange(news_, {}); }
  void DropNews();

  uint64_t observed_until() const { return observed_until_; }
  size_t known() const { return records_.size(); }
  size_t assumed() const { return assumed_; }
  size_t waiting_gpu_pods() const { return waiting_gpu_pods_; }
  // Returns by namespace the amounts that assumed pods will get beyond the requests that the watch
  // has reported.
  std::map<std::string, ResourceVector> BeingGiven() const;
  // Returns the least amounts per GPU of the pods that Synergy sizes, or of the other GPU pods if
  // there are none.
  ResourceVector LeastPerGpuOfAll() const {
    return (least_per_managed_gpu_.empty() ? least_per_gpu_ : least_per_managed_gpu_).Get();
  }

 private:
  std::vector<std::shared_ptr<const Pod>> WaitingIf(bool (*is_meant)(const Pod&)) const;

  enum class Standing : uint8_t {
    kWaiting,
    kExpected,
    kReservedByTuner,
    kReservedByGang,
    kAssumed,
    kBound
  };

  struct Record {
    std::shared_ptr<const Pod> pod;  // unless kWaiting, counted on `pod->node`
    Standing standing = Standing::kWaiting;
    NodeIndex place = 0;  // valid unless kWaiting, or if the pod is nominated to a node
    Instant deadline{};   // kExpected, kAssumed
    // The watch's last report; null before the first one (expectations may come first).
    std::shared_ptr<const Pod> seen;
    uint64_t observed_in = 0;  // value of list_ at the last report
    // The reservation of a gang member that is not bound.
    struct GangReservation {
      std::string node;
      Instant deadline{};
    };
    std::optional<GangReservation> of_gang;
    // The place of the tuner that no longer counts.
    struct ReleasedPlace {
      std::string node;
      WallTime until{};
    };
    std::optional<ReleasedPlace> released;
  };

  static bool IsReserved(const Record& record) {
    return record.standing == Standing::kReservedByTuner ||
           record.standing == Standing::kReservedByGang;
  }
  // Returns whether a gang can count on the member's place: it is bound, being bound, or reserved.
  static bool HasGangPlace(const Record& record) {
    return record.standing == Standing::kBound || record.standing == Standing::kAssumed ||
           record.standing == Standing::kReservedByGang;
  }
  // Returns whether the pod has a place but is not bound, so that provisional_ lists it.
  static bool IsProvisional(const Record& record);
  // Returns whether kube-scheduler nominated the pod to a node, and it is neither placed by Synergy
  // nor bound.
  static bool IsNominated(const Record& record);
  // Returns whether the pod has GPUs or waits for some.
  static bool TakesGpus(const Record& record);
  LeastPerGpu& LeastOf(const Pod& pod);

  // `may_unbind`: a bound pod that is reported without a node waits again.
  void Observe(Pod pod, bool may_unbind = false);

  const Record* Find(const std::string& uid) const;
  Record* Find(const std::string& uid);
  void Place(Pod pod, const std::string& node, Standing standing, Instant deadline);
  // Resets the pod to the watch's last report. Drops a pod that the watch has not reported.
  void Unplace(const std::string& uid);
  // Returns whether a pod that no node counts fits on the node `pod.node`.
  bool FitsNow(const Pod& pod) const;
  void LeaveGang(const Record& record);
  // Reserves the place of a bound pod that is gone, if the gang runs.
  void ReserveForReplacement(const Pod& gone, const Gang& gang);
  // Drops replacements that the gang no longer needs, and returns them. `filled`: the nodes on
  // which members are about to get places.
  std::vector<Reservation> LimitReplacements(const Gang& gang,
                                             const std::vector<std::string>& filled = {});
  // Calls LimitReplacements() for members that are about to get these places.
  std::vector<Reservation> FillReplacements(const std::vector<GangPlace>& places);
  // Marks the sites of the record's gang as outdated.
  void InvalidateGang(const Record& record);
  GangSites SitesOf(const std::string& gang, const std::set<std::string>& uids) const;
  // The pod and its standing according to the watch's report and its reservations: bound, reserved
  // or waiting.
  struct Counted {
    std::shared_ptr<const Pod> pod;
    Standing standing;
  };
  Counted FromWatch(const Record& record) const;
  // Returns whether the tuner's place for the pod counts. REQUIRES: record.seen->waiting.
  bool KeepsPlace(const Record& record) const;
  void ApplyWatch(Record& record);
  // Returns whether the pod, counted on the node `pod.node`, is no larger than that node.
  bool FitsItsNode(const Pod& pod) const;
  void Set(Record& record, std::shared_ptr<const Pod> pod, Standing standing, Instant deadline);
  void Count(Record& record);
  void Uncount(const Record& record);

  // Returns the provisional records for which `is_meant(record)` is true, by uid.
  template <class IsMeant>
  std::vector<const Record*> ProvisionalIf(IsMeant is_meant) const;
  // Returns the pods that are expected on the node, without `uid`.
  std::vector<std::shared_ptr<const Pod>> ExpectedOn(NodeIndex place, const std::string& uid) const;

  NodeLedger& nodes_;
  DeviceCatalog& devices_;
  ClusterVersion& version_;
  std::unordered_map<std::string, Record> records_;
  std::set<std::string> provisional_;  // uids
  std::set<std::string> claiming_;     // uids of pods with claims (claims.h), counted or not
  std::unordered_map<std::string, std::set<std::string>> gangs_;  // uids by the gang's name
  std::map<std::string, size_t> succeeded_;                       // members by the gang's name
  std::set<std::string> invalid_gangs_;                           // outdated in shared_gangs_
  GangsByName gang_sites_;
  std::shared_ptr<const GangsByName> shared_gangs_ = std::make_shared<const GangsByName>();
  LeastPerGpu least_per_gpu_;  // of pods that Synergy does not size
  LeastPerGpu least_per_managed_gpu_;
  size_t waiting_gpu_pods_ = 0;
  size_t assumed_ = 0;
  Replacements replacements_;
  Duration replacement_hold_{};  // zero: nothing is reserved for replacements
  Instant now_{};                // as last passed in
  WallTime wall_{};              // claims that end by then no longer count
  uint64_t observed_until_ = 0;
  uint64_t list_ = 0;  // the last list that was begun
  bool keeps_news_ = false;
  std::vector<PodNews> news_;
};

}  // namespace synergy
