#pragma once

// The state that the profiler keeps between decisions: a plain value. It starts empty after a
// restart: the MeasuredCatalog has what was published, and a probe ends on its own.
//
// Size: a few KiB per pod that is being measured (a few per workload at a time), and a handful of
// samples for each other pod of a workload.
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
  MilliCpu limit;     // when it began
  bool seen = false;  // the agent has reported it
  Instant give_up{};  // give up if the agent has not begun it by then
};

// A running pod of a workload without a profile written by a user.
struct WatchedPod {
  std::shared_ptr<const Pod> pod;
  NodeIndex node = 0;
  MeasurementKey key;
  // The name of its gang (gang_members.h); empty for a single pod. The head, whose log counts,
  // represents all members and holds the uids of the others. The members below about samples apply
  // only to the head.
  std::string gang;
  std::vector<std::string> others;
  std::optional<CpuUse> cpu;  // as last reported

  // The agent's last report, from which the next one can continue.
  WallTime since{};
  std::string format;
  bool estimates = false;  // reports GPU busy time; its iterations are busy seconds
  double iterations = 0;
  std::optional<WallTime> last;
  // The first report of the present count of iterations.
  double first_iterations = 0;
  WallTime first{};
  std::optional<ProbeReading> probe;
  // Samples before this time, by the agent's clock, do not count.
  std::optional<WallTime> count_from;

  bool closely = false;                 // it is measured, not only checked
  std::vector<ProgressSample> samples;  // since the last break
  // The last settled window without a probe, with the pod's current amounts.
  std::optional<WindowReading> window;
  double fastest = 0;  // iterations per second in the fastest of these windows
  MemoryStudy memory;
  std::optional<Instant> off_since;  // since when its speed has not matched the curve
  Instant news_at{};                 // when its iterations last grew

  // Its CPU time over at least the last 20 s, oldest first; when the newest was reported; and how
  // long its quota has been the same, by the agent's clock.
  std::vector<CpuUse> uses;
  Instant uses_at{};
  WallTime same_quota_since{};
  std::optional<Burst> burst;
  int32_t bursts = 0;    // how many it has had
  Instant next_burst{};  // no burst begins before this

  bool ReportsProgress() const { return last.has_value(); }
  // Iterations a second over all reports; 0 if there are too few.
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
  double best = 0;       // fastest throughput ever seen without the probe
  double used = 0;       // cores that it used before and needed; 0: it had more than it needed
  // CPU use of the gang member that sets the pace (or else uses most), divided by the use of the
  // probed pod. The quota stands for this many times as much.
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

// The data for the possible cost of a probe: how many iterations a pod did in this number of
// seconds of the probe.
struct ProbeCost {
  double best = 0;  // as in RunningProbe
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
  std::string node;                 // where most of it was measured
  LooserIdentities alike;           // of its pods
  std::optional<TakenCurve> taken;  // set if its points are those of a similar workload
  // Hints that were already compared with its speed, once each: profile and revision.
  std::set<std::pair<std::string, int64_t>> tried_hints;
  bool complete = false;  // nothing more to probe
  // Until then a speed off the curve counts at once, because a new curve must first hold for some
  // time.
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
  // The lowest CPU cost of an iteration, in seconds, of any settled window. The lowest is used so
  // that a more costly phase is not mistaken for the best that the workload can do.
  double least_cost = std::numeric_limits<double>::infinity();
  // Upper bound of the iterations that probes cost, in the hour that began at `hour_from` and
  // before it.
  std::vector<ProbeCost> costs;
  std::optional<Instant> hour_from;
  double lost_before = 0;
  int32_t failures = 0;  // probes in a row without a result
  Instant next_probe{};
  Instant let_be_until{};  // set because its windows contradicted each other
  Instant next_publish{};
  std::string note;
  std::optional<MeasuredProfile> published;
  std::shared_ptr<const JobProfile> curve;  // of `published`
  bool publishing = false;                  // requested, with no outcome yet
  std::optional<Instant> due;

  // Returns the iterations lost in this hour, by the current estimate of the pods' speed without
  // probes.
  double Lost() const;
  bool IsProbing(const std::string& uid) const;
};

// The one of several similar workloads that is probed while the others wait for its result.
struct AlikeLead {
  MeasurementKey leader;
  Instant until{};
};

// The running members of a gang.
struct GangRecord {
  struct Member {
    std::shared_ptr<const Pod> pod;
    NodeIndex node = 0;
    std::optional<MeasurementKey> key;  // nullopt: it has no GPUs, or is not to be measured
  };

  std::map<std::string, Member> there;  // by uid
  std::string head;                     // represents all; empty if members are missing or not alike
};

struct ProfilerMemory {
  std::unordered_map<std::string, WatchedPod> pods;      // by uid
  std::unordered_map<std::string, GangRecord> gangs;     // by name
  std::unordered_map<std::string, std::string> gang_of;  // a member's gang, by uid
  std::map<MeasurementKey, Measurement> measurements;
  std::unordered_map<NodeIndex, std::vector<std::string>> on_node;  // uids
  std::map<NodeIndex, MeasurementKey> probed;                       // nodes
  std::set<std::string> kept_back;  // uids of the pods that their limits hold back
  std::set<std::string> bursting;   // uids
  // By key, with the looser identity in place of the workload.
  std::map<MeasurementKey, AlikeLead> leads;
  std::vector<std::shared_ptr<const Pod>> waiting;  // Unschedulable
  std::set<MeasurementKey> news;                    // to be looked at
  std::set<std::pair<Instant, MeasurementKey>> due;
  uint64_t seen = 0;  // the version of the cluster up to which its nodes were looked at
};

}  // namespace synergy
