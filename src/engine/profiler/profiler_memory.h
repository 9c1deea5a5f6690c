#pragma once

// The state that the profiler keeps between decisions: a plain value. It starts empty after a
// restart; what was published is in the MeasuredCatalog, and a probe ends by itself.
//
// Size: a few KiB for a pod that is being measured (a few per workload at a time), and a handful of
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

// Pods with the same key are measured together. Gangs of different sizes are measured separately:
// in larger ones pods wait for each other longer.
struct MeasurementKey {
  std::string profile_namespace;
  std::string workload;
  Gpus gpus;
  std::string gpu_product;
  int32_t gang_size = 1;  // 1: pods that train alone

  auto operator<=>(const MeasurementKey&) const = default;
};

// More CPU than a pod's limit for some time (engine/profiler/probes/bursts.h).
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
  // Its gang (gang_members.h) by name; empty for a single pod. The head, whose log counts, stands
  // for all members and has the uids of the others. All about samples below applies to the head
  // only.
  std::string gang;
  std::vector<std::string> others;
  std::optional<CpuUse> cpu;  // as last reported

  // The agent's last report, from which the next one can continue.
  WallTime since{};
  std::string format;
  bool estimates = false;  // reports GPU busy time; its iterations are busy seconds
  double iterations = 0;
  std::optional<WallTime> last;
  // The first report since iterations have been counted like this.
  double first_iterations = 0;
  WallTime first{};
  std::optional<ProbeReading> probe;
  // Samples before this time, by the agent's clock, do not count.
  std::optional<WallTime> count_from;

  bool closely = false;                 // it is measured, not only checked
  std::vector<ProgressSample> samples;  // since the last break
  // The last settled window without a probe, with the pod's current amounts.
  std::optional<WindowReading> window;
  double fastest = 0;  // iterations a second of the fastest of these windows
  MemoryStudy memory;
  std::optional<Instant> off_since;  // since when its speed has not matched the curve
  Instant news_at{};                 // when its iterations last grew

  // Its CPU time in the last 20 s or more, the oldest first; when the newest was reported; and
  // since when its quota has been the same, by the agent's clock.
  std::vector<CpuUse> uses;
  Instant uses_at{};
  WallTime same_quota_since{};
  std::optional<Burst> burst;
  int32_t bursts = 0;    // how many it has had
  Instant next_burst{};  // none begins before

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
  double expected = 0;   // throughput, at worst
  double planned = 0;    // throughput by the points that are known
  double most_loss = 0;  // iterations, if it lasts until its end
  double best = 0;       // fastest throughput ever seen without the probe
  double used = 0;       // cores that it used before and needed; 0: it had more than it needed
  // The CPU use of the gang member that sets the pace, or else of the one that uses most, divided
  // by the use of the probed pod: the quota stands for this much more.
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

// The possible cost of a probe: how far a pod has come in this number of seconds under it.
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
  std::vector<RunningProbe> running;     // probes, each of another pod and another amount
  MilliCpu node_cpu;  // the most that any one of the pods could get; for a gang, that all could
  MilliCpu fair_share;
  std::string node;                 // where most of it was measured
  LooserIdentities alike;           // of its pods
  std::optional<TakenCurve> taken;  // its points are those of a similar workload
  // Hints that its speed was compared with, once each: profile and revision.
  std::set<std::pair<std::string, int64_t>> tried_hints;
  bool complete = false;  // nothing more to probe
  // Until then a speed off the curve counts at once: a curve that holds only for moments is none.
  Instant on_trial_until{};
  bool confirmed = false;
  bool drifted = false;
  // Speeds are GPU busy seconds a second, because no pod reports iterations. The two are never
  // mixed, and these are dropped as soon as a pod reports iterations.
  bool estimate = false;
  // The number of probes, and of those with a result, since the workload was first measured or has
  // drifted.
  int32_t probes = 0;
  int32_t informative = 0;
  // CPU seconds of an iteration in the settled window in which they were fewest: the cheapest that
  // it was ever seen. A phase in which it takes more is thus not mistaken for its full potential.
  double least_cost = std::numeric_limits<double>::infinity();
  // Upper bound of the iterations that probes cost: in the hour that began at `hour_from`, and
  // before.
  std::vector<ProbeCost> costs;
  std::optional<Instant> hour_from;
  double lost_before = 0;
  int32_t failures = 0;  // probes in a row without a result
  Instant next_probe{};
  Instant let_be_until{};  // because its windows contradicted each other
  Instant next_publish{};
  std::string note;
  std::optional<MeasuredProfile> published;
  std::shared_ptr<const JobProfile> curve;  // of `published`
  bool publishing = false;                  // requested, with no outcome yet
  std::optional<Instant> due;

  // The iterations lost in this hour, by the current estimate of how fast the pods would have been.
  double Lost() const;
  bool IsProbing(const std::string& uid) const;
};

// The one of several similar workloads that is probed, while the others wait for its result.
struct AlikeLead {
  MeasurementKey leader;
  Instant until{};
};

// The members of a gang that run.
struct GangRecord {
  struct Member {
    std::shared_ptr<const Pod> pod;
    NodeIndex node = 0;
    std::optional<MeasurementKey> key;  // nullopt: it has no GPUs, or is not to be measured
  };

  std::map<std::string, Member> there;  // by uid
  std::string head;  // stands for all; empty: some members are missing, or not alike
};

struct ProfilerMemory {
  std::unordered_map<std::string, WatchedPod> pods;      // by uid
  std::unordered_map<std::string, GangRecord> gangs;     // by name
  std::unordered_map<std::string, std::string> gang_of;  // a member's gang, by uid
  std::map<MeasurementKey, Measurement> measurements;
  std::unordered_map<NodeIndex, std::vector<std::string>> on_node;  // uids
  std::map<NodeIndex, MeasurementKey> probed;                       // nodes
  std::set<std::string> kept_back;  // uids of the pods that their limit keeps back
  std::set<std::string> bursting;   // uids
  // By keys with the looser identity in place of the workload.
  std::map<MeasurementKey, AlikeLead> leads;
  std::vector<std::shared_ptr<const Pod>> waiting;  // Unschedulable
  std::set<MeasurementKey> news;                    // to be looked at
  std::set<std::pair<Instant, MeasurementKey>> due;
  uint64_t seen = 0;  // the version of the cluster up to which its nodes were looked at
};

}  // namespace synergy
