#pragma once

// Live optimistic profiling (Synergy, OSDI'22, section 3.1, on running pods; docs/profiling.md):
// from the progress and the CPU time of pods that train it learns how fast their workload is with
// how much CPU, and asks for probes that confirm or correct what it has concluded. All of it is
// decided here; what is to be done comes out as actions.
//
//   progress of a pod -> windows: rate and CPU used, medians that agree -> points of its workload
//   points -> a first curve -> published; probes where it is not sure -> published again
//   a speed off the curve for minutes -> marked, measured again
//
// The pods of a gang are measured as one (gang_members.h).
//
// A probe is never begun
//   * on a node on which another one runs, or for which a pod waits that has GPUs free there
//   * on a pod that a change is under way for, or that somebody changed by hand
//   * below half the pod's floor, unless that leaves the pod well more than it uses
//   * where it would cost the workload more than `most_loss` of its first hour
// and is ended as soon as somebody waits for the node.
//
// Of a pod that says nothing of its iterations the GPUs' busy time is an estimate (BusyEstimate).
// Some loops keep a GPU busy that has nothing to do, so it only ever speaks for more CPU: there are
// no probes, all points are lower bounds, and no pod is to get less than its fair share by them.
//
// How it is driven, again and again, by whoever owns the memory:
//
//   Hear(progress) ...  ->  HearWaiting(all that wait)  ->  Decide
//     ->  carry out each action, Learn(action, done)  ->  ...
//
// What runs where is read from the snapshot: of nodes that have not changed since the last decision
// nothing but that. The rest of a decision costs what is new or due.
//
// Threading: pure; one owner of the memory.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cluster/fungible.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "core/clock.h"
#include "engine/profiler/profiler_memory.h"
#include "profile/measured/measured_profile.h"
#include "profile/pod_progress.h"

namespace synergy {

struct ProfilerSettings {
  // Of a pod's progress that is not counted: it loads, compiles, fills queues.
  Duration warm_up = std::chrono::seconds(20);
  // The least length of a window without a probe, and of one with.
  Duration window = std::chrono::seconds(30);
  Duration probe_window = std::chrono::seconds(12);
  // A probe's time before its window: until the batches are used up that were prepared before.
  Duration probe_lead = std::chrono::seconds(8);
  // After that a window that has not settled is given up.
  Duration longest_window = std::chrono::minutes(2);
  // How much two halves of a window may differ, and a measurement from what is expected.
  double agreement = 0.05;
  // Of the iterations of the first hour of a workload: what probes may cost.
  double most_loss = 0.02;
  int32_t most_probes = 8;     // for one workload, until it drifts
  size_t probes_at_once = 32;  // in the cluster
  // How far off its curve a pod has to be, and for how long, to have drifted.
  double drift = 0.15;
  Duration drift_time = std::chrono::minutes(5);
};

enum class ProfilerActionKind : uint8_t {
  kProbe,     // write `probe` on the pod
  kEndProbe,  // take that away
  kPublish,   // keep `measured` as the TrainingProfile MeasuredName() of `profile_namespace`
};

struct ProfilerAction {
  ProfilerActionKind kind = ProfilerActionKind::kPublish;
  // kProbe, kEndProbe
  std::shared_ptr<const Pod> pod;
  CpuProbe probe;
  // kPublish
  std::string profile_namespace;
  MeasuredProfile measured;
  std::string why;  // for events and logs: "to see how fast it is with 75m of CPU"
};

struct ProfilerDecision {
  std::vector<ProfilerAction> actions;
  Instant wake{};  // when there may be something to do without any news
};

// Where decisions find what was published before; it outlives a process.
class MeasuredBook {
 public:
  virtual ~MeasuredBook() = default;
  // Null: there is none.
  virtual std::shared_ptr<const MeasuredProfile> Find(const std::string& profile_namespace,
                                                      const std::string& name) const = 0;
};

class Profiler {
 public:
  // `book` outlives this.
  Profiler(ProfilerSettings settings, const MeasuredBook& book);

  // What the agent of a node, which started at `since`, tells of a managed pod. `at`: when it was
  // told, not when it is handed on. Pods that nobody has decided about yet are not listened to.
  void Hear(ProfilerMemory& memory, const PodProgress& progress, WallTime since, Moment at) const;
  // The pods that have no node, as ClusterState::WaitingPods() knows them.
  void HearWaiting(ProfilerMemory& memory, std::vector<std::shared_ptr<const Pod>> waiting) const;
  ProfilerDecision Decide(const ClusterSnapshot& cluster, ProfilerMemory& memory, Moment at) const;
  // `done`: the API server has taken the action.
  void Learn(ProfilerMemory& memory, const ProfilerAction& action, bool done, Moment at) const;

  const ProfilerSettings& settings() const { return settings_; }

 private:
  // `estimates`: its iterations are GPU busy seconds.
  void Hear(ProfilerMemory& memory, WatchedPod& pod, const PodProgress& progress, WallTime since,
            Moment at, bool estimates) const;

  ProfilerSettings settings_;
  const MeasuredBook& book_;
};

}  // namespace synergy
