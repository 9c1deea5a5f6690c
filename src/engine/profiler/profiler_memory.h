#pragma once

// The state that the profiler keeps between decisions: a plain value. The state is empty after a
// restart. The MeasuredCatalog then has the published profiles, and running probes end by
// themselves.
//
// Size: a few KiB for each pod that is being measured (a few per workload at a time), and a few
// samples for each other pod.
//
// Threading: one owner.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cluster/managed_container.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "core/clock.h"
#include "core/units.h"
#include "profile/measured/curve_points.h"
#include "profile/measured/measured_profile.h"
#include "profile/measured/memory_study.h"
#include "profile/measured/rate_window.h"
#include "profile/pod_progress.h"

namespace synergy {

// Pods with the same key are measured together. Gangs of different sizes are measured separately,
// because pods of larger gangs wait for each other longer.
struct MeasurementKey {
  std::string profile_namespace;
  std::string workload;
  Gpus gpus;
  std::string gpu_product;
  int32_t gang_size = 1;  // 1: pods that train alone

  auto operator<=>(const MeasurementKey&) const = default;
};

// Allows a pod more CPU than its limit for some time (engine/profiler/probes/bursts.h).
struct Burst {
  CpuProbe probe;
  MilliCpu limit;     // the pod's limit when the burst began
  bool seen = false;  // the agent has reported it
  Instant give_up{};  // give up if the agent has not begun it by then
};

// A running pod of a workload without a profile written by a user.
struct WatchedPod {
  std::shared_ptr<const Pod> pod;
  NodeIndex node = 0;
  MeasurementKey key;
  // The name of the pod's gang (gang_members.h); empty for a single pod. The head of a gang, whose
  // log counts, represents all pods and has the uids of the other pods in `others`. The fields
  // about samples apply only to the head.
  std::string gang;
  std::vector<std::string> others;
  std::optional<CpuUse> cpu;  // as last reported

  // The agent's last report, from which the next one can continue.
  WallTime since{};
  std::string format;
  bool estimates = false;  // reports GPU busy time; its iterations are busy seconds
  double iterations = 0;
  std::optional<WallTime> last;
  // The first report since the count of iterations last restarted.
  double first_iterations = 0;
  WallTime first{};
  std::optional<ProbeReading> probe;
  // Samples before this time, by the agent's clock, do not count.
  std::optional<WallTime> count_from;

  bool closely = false;                 // it is measured, not only compared with the curve
  std::vector<ProgressSample> samples;  // since the last break
  // The last settled window without a probe, with the pod's current amounts.
  std::optional<WindowReading> window;
  double fastest = 0;  // iterations per second in the fastest such window so far
  MemoryStudy memory;
  std::optional<Instant> off_since;  // since when its speed has not matched the curve
  Instant news_at{};                 // when its iterations last grew

  // Readings of its CPU time over at least the last 20 s, oldest first; and the time of the newest
  // one. `same_quota_since`: when its quota last changed, by the agent's clock.
  std::vector<CpuUse> uses;
  Instant uses_at{};
  WallTime same_quota_since{};
  std::optional<Burst> burst;
  int32_t bursts = 0;    // number of bursts so far
  Instant next_burst{};  // no burst begins before this

  bool ReportsProgress() const { return last.has_value(); }
  // Returns the iterations per second over all reports; 0 if there are too few.
  double MeanSpeed() const;
};

// A probe, from its request to its end.
struct RunningProbe {
  std::string uid;
  std::shared_ptr<const Pod> pod;
  NodeIndex node = 0;
  CpuProbe probe;
  double expected = 0;   // throughput in the worst case
  double planned = 0;    // throughput according to the known points
  double most_loss = 0;  // iterations lost if it runs to its end
  double best = 0;       // fastest throughput ever measured without a probe
  double used = 0;       // cores that it used before the probe if CPU limited it; otherwise 0
  // For a gang: the CPU use of the member that limits the speed (or else uses most), divided by the
  // use of the probed pod. The probe's quota corresponds to this many times as much CPU.
  double scale = 1;
  double queue = 0;  // iterations that may have been prepared before
  bool written = false;
  Instant begun{};
  Instant give_up{};  // give up if the agent has not started it by then
  // As reported by the agent.
  std::optional<WallTime> since;
  double iterations = 0;  // at its start
  std::optional<WallTime> begun_at;
};

// Data for the cost of a probe: the pod did `iterations` in `seconds` of the probe.
struct ProbeCost {
  double best = 0;  // `best` and `used` as in RunningProbe
  double used = 0;
  double seconds = 0;
  double iterations = 0;
};

// One workload with one GPU count on one GPU product.
struct Measurement {
  CurvePoints points;
  std::optional<MeasuredMemory> memory;  // nullopt: not known well enough
  std::set<std::string> pods;            // uids; one pod for each gang
  std::set<std::string> closely;         // uids of the pods that are measured
  std::vector<RunningProbe> running;     // probes, each of a different pod and amount
  MilliCpu node_cpu;  // the most that any one pod could get; for a gang, that all could get
  MilliCpu fair_share;
  std::string node;                 // the node with most of its measured windows
  LooserIdentities alike;           // identities of its pods
  std::optional<TakenCurve> taken;  // set if its points are those of a similar workload
  // Hints that were already compared with its speed: profile and revision. Each hint is tried once.
  std::set<std::pair<std::string, int64_t>> tried_hints;
  bool complete = false;  // nothing more to probe
  // Until this time, a speed off the curve counts at once, because a new curve must first prove
  // correct for some time.
  Instant on_trial_until{};
  bool confirmed = false;
  bool drifted = false;
  // Speeds are GPU busy seconds per second, because no pod reports iterations. The two units are
  // never mixed; busy seconds are dropped as soon as a pod reports iterations.
  bool estimate = false;
  // The number of probes, and of probes with a result, since the workload was first measured or
  // last drifted.
  int32_t probes = 0;
  int32_t informative = 0;
  // The lowest CPU cost of an iteration, in seconds, of any settled window. The lowest cost is used
  // so that a more costly phase does not pass for the workload's best speed.
  double least_cost = std::numeric_limits<double>::infinity();
  // Upper bounds of the iterations that probes have cost: in the hour that began at `hour_from`,
  // and before it.
  std::vector<ProbeCost> costs;
  std::optional<Instant> hour_from;
  double lost_before = 0;
  int32_t failures = 0;  // probes in a row without a result
  Instant next_probe{};
  Instant let_be_until{};  // no probes before this time, because windows contradicted each other
  Instant next_publish{};
  std::string note;
  std::optional<MeasuredProfile> published;
  std::shared_ptr<const JobProfile> curve;  // the curve of `published`
  bool publishing = false;                  // requested, with no outcome yet
  std::optional<Instant> due;

  // Returns the iterations lost in this hour, according to the current estimate of the pods' speed
  // without probes.
  double Lost() const;
  bool IsProbing(const std::string& uid) const;
};

// The workload that is probed while similar workloads wait for its result.
struct AlikeLead {
  MeasurementKey leader;
  Instant until{};
};

// The running members of a gang.
struct GangRecord {
  struct Member {
    std::shared_ptr<const Pod> pod;
    NodeIndex node = 0;
    std::optional<MeasurementKey> key;  // nullopt: it has no GPUs, or is not measured
  };

  std::map<std::string, Member> there;  // by uid
  std::string head;                     // a uid; empty if members are missing or not alike
};

struct ProfilerMemory {
  std::unordered_map<std::string, WatchedPod> pods;      // by uid
  std::unordered_map<std::string, GangRecord> gangs;     // by name
  std::unordered_map<std::string, std::string> gang_of;  // a member's gang, by uid
  std::map<MeasurementKey, Measurement> measurements;
  std::unordered_map<NodeIndex, std::vector<std::string>> on_node;  // uids
  std::map<NodeIndex, MeasurementKey> probed;                       // nodes
  std::set<std::string> kept_back;  // uids of the pods that their CPU limits slow down
  std::set<std::string> bursting;   // uids
  // By key, with a looser identity in place of the workload.
  std::map<MeasurementKey, AlikeLead> leads;
  std::vector<std::shared_ptr<const Pod>> waiting;  // pods that kube-scheduler found unschedulable
  std::set<MeasurementKey> news;                    // measurements to examine in the next plan
  std::set<std::pair<Instant, MeasurementKey>> due;
  uint64_t seen = 0;  // the cluster's version at the last examination of its nodes
};

}  // namespace synergy
