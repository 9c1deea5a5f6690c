#pragma once

// What the profiler remembers between decisions: a plain value. After a restart it begins anew;
// what was published is in the MeasuredBook, and a probe ends by itself.
//
// Size: a few KiB for a pod that is being measured (a few of each workload at a time), and a
// handful of samples for each other pod of a workload.
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

#include "cluster/fungible.h"
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

// What is measured together: gangs of a size, too, because more of them wait for each other longer.
struct MeasurementKey {
  std::string profile_namespace;
  std::string workload;
  Gpus gpus;
  std::string gpu_product;
  int32_t gang_size = 1;  // 1: pods that train alone

  auto operator<=>(const MeasurementKey&) const = default;
};

// A running pod of a workload whose profile is none of a user's.
struct WatchedPod {
  std::shared_ptr<const Pod> pod;
  NodeIndex node = 0;
  MeasurementKey key;
  // Of a gang (gang_members.h), whose name it is: the one whose log is listened to stands for all
  // of them, and knows the uids of the others. What is said of samples is of that one.
  std::string gang;
  std::vector<std::string> others;
  std::optional<CpuUse> cpu;  // as it was told last

  // What its agent told last, and whether it can be gone on with.
  WallTime since{};
  std::string format;
  bool estimates = false;  // what it tells is GPU busy time; its iterations are busy seconds
  double iterations = 0;
  std::optional<WallTime> last;
  // The first that was told since it counts like that.
  double first_iterations = 0;
  WallTime first{};
  std::optional<ProbeReading> probe;
  // Samples that the agent's clock puts before that do not count.
  std::optional<WallTime> count_from;

  bool closely = false;                 // it is measured, not only checked
  std::vector<ProgressSample> samples;  // since the last break
  // The last settled window without a probe, of what the pod has now.
  std::optional<WindowReading> window;
  double fastest = 0;  // iterations a second of the fastest of those
  MemoryStudy memory;
  std::optional<Instant> off_since;  // its speed is not what the curve says
  Instant news_at{};                 // when its iterations were seen to grow last

  bool TellsOfProgress() const { return last.has_value(); }
  // Iterations a second over all that was told of it; 0: too little was.
  double MeanSpeed() const;
};

// A probe, from its order to its end.
struct RunningProbe {
  std::string uid;
  std::shared_ptr<const Pod> pod;
  NodeIndex node = 0;
  CpuProbe probe;
  double expected = 0;  // throughput, at worst
  double best = 0;      // ... and without the probe, as far as it was ever seen
  double used = 0;      // cores that it used before and had need of; 0: of more than it needed
  // What the one of its gang uses that sets the pace or, where none does, that uses most, by what
  // the probed one uses: the quota stands for so much more.
  double scale = 1;
  double queue = 0;  // iterations that may have been prepared before
  bool written = false;
  Instant begun{};
  Instant give_up{};  // nobody has carried it out by then
  // As the agent tells of it.
  std::optional<WallTime> since;
  double iterations = 0;  // at its begin
  std::optional<WallTime> begun_at;
};

// What a probe may have cost: how far a pod has come in so many seconds under it.
struct ProbeCost {
  double best = 0;  // as in RunningProbe
  double used = 0;
  double seconds = 0;
  double iterations = 0;
};

// One workload with one GPU count on one GPU product.
struct Measurement {
  CurvePoints points;
  std::optional<MeasuredMemory> memory;  // none: not known well enough
  std::set<std::string> pods;            // uids; of a gang one
  std::set<std::string> closely;         // of those that are measured
  std::optional<RunningProbe> probe;
  MilliCpu node_cpu;  // the most that one of the pods could get; all of a gang
  MilliCpu fair_share;
  std::string node;       // where most was measured
  bool complete = false;  // nothing more to probe
  // Until then what is off the curve counts at once: what holds for moments only is no curve.
  Instant on_trial_until{};
  bool confirmed = false;
  bool drifted = false;
  // Speeds are GPU busy seconds a second, for want of a pod that tells of iterations: never mixed
  // with those, and given up as soon as one does.
  bool estimate = false;
  // Probes, those among them that have told something; since the workload was first measured, or
  // has drifted.
  int32_t probes = 0;
  int32_t told = 0;
  // CPU seconds of an iteration in the settled window in which they were fewest: as cheap as it
  // was ever seen to be, so that a phase in which it takes more is not taken for all that it does.
  double least_cost = std::numeric_limits<double>::infinity();
  // The iterations that probes cost, at most: in the hour that began then, and before it.
  std::vector<ProbeCost> costs;
  std::optional<Instant> hour_from;
  double lost_before = 0;
  int32_t failures = 0;  // probes in a row that told nothing
  Instant next_probe{};
  Instant let_be_until{};  // its windows contradicted each other
  Instant next_publish{};
  std::string note;
  std::optional<MeasuredProfile> published;
  std::shared_ptr<const JobProfile> curve;  // of that
  bool publishing = false;                  // asked for, and nobody knows yet what came
  std::optional<Instant> due;

  // In this hour, by what is known now of how fast the pods would have been.
  double Lost() const;
};

// Who is there of a gang.
struct GangRoll {
  struct Member {
    std::shared_ptr<const Pod> pod;
    NodeIndex node = 0;
    std::optional<MeasurementKey> key;  // none: it has no GPUs, or is not to be measured
  };

  std::map<std::string, Member> there;  // by uid
  std::string head;  // the one that stands for all; empty: not all are there, or not all alike
};

struct ProfilerMemory {
  std::unordered_map<std::string, WatchedPod> pods;      // by uid
  std::unordered_map<std::string, GangRoll> gangs;       // by name
  std::unordered_map<std::string, std::string> gang_of;  // a member's gang, by uid
  std::map<MeasurementKey, Measurement> measurements;
  std::unordered_map<NodeIndex, std::vector<std::string>> on_node;  // uids
  std::map<NodeIndex, MeasurementKey> probed;                       // nodes
  std::vector<std::shared_ptr<const Pod>> waiting;                  // Unschedulable
  std::set<MeasurementKey> news;                                    // to be looked at
  std::set<std::pair<Instant, MeasurementKey>> due;
  uint64_t seen = 0;  // the version of the cluster up to which its nodes were looked at
};

}  // namespace synergy
