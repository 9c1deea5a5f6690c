#pragma once

// Live optimistic profiling (Synergy, OSDI'22, section 3.1, on running pods;
// docs/internals/profiling.md). Concludes from the progress and the CPU time of training pods how
// fast their workload is with each amount of CPU. Requests probes that confirm or correct these
// conclusions. The profiler makes all decisions and returns actions; its caller carries them out.
//
//   progress of a pod -> windows: rate and CPU used, medians that agree -> points of its workload
//   points -> a first curve -> published; probes where it is uncertain -> published again
//   a speed off the curve for minutes -> marked, measured again
//
// The pods of a gang are measured as one (gang_members.h).
//
// A probe never begins
//   * on a node with another probe, or with enough free GPUs for a pod that waits
//   * on a pod that is being resized, or that was changed by hand
//   * below half the pod's floor, unless the pod still gets clearly more than it uses
//   * if it would cost the workload more than `most_loss` of its first hour
//
// A probe ends as soon as a pod waits for the node.
//
// While no point exceeds its limit, a pod may burst: it uses CPU that its node's other pods leave
// unused (probes/bursts.h).
//
// If a pod does not report iterations, the busy time of its GPUs is an estimate of its progress
// (BusyEstimate). Some programs keep the GPU busy without progress, so an estimate can only justify
// more CPU. There are no probes, and all points are lower bounds. They never reduce a pod below its
// fair share.
//
// The owner of the memory calls it in a loop:
//
//   Observe() progress ... --> ObserveWaiting() pods --> Plan()
//     --> carry out each action, OnResult() --> ...
//
// Cost of Plan(): one comparison for each node that has not changed since the last plan. Otherwise
// Plan() processes only changed nodes, and measurements with news or due times.
//
// Threading: pure; one owner of the memory.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cluster/managed_container.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "core/clock.h"
#include "engine/profiler/profiler_memory.h"
#include "profile/measured/measured_profile.h"
#include "profile/pod_progress.h"

namespace synergy {

struct ProfilerSettings {
  // The initial part of a pod's progress does not count, because the pod still loads, compiles and
  // fills queues.
  Duration warm_up = std::chrono::seconds(20);
  // The least length of a window without a probe, and of a window with one.
  Duration window = std::chrono::seconds(30);
  Duration probe_window = std::chrono::seconds(12);
  // Time between the start of a probe and its window, in which the training uses up batches
  // prepared before.
  Duration probe_lead = std::chrono::seconds(8);
  // A window that has not settled within this time is abandoned.
  Duration longest_window = std::chrono::minutes(2);
  // Largest relative difference between two halves of a window, and between a measurement and its
  // expected value.
  double agreement = 0.05;
  // The most that probes may cost, as a fraction of the iterations of a workload's first hour.
  double most_loss = 0.02;
  int32_t most_probes = 8;     // for one workload, until it drifts
  size_t probes_at_once = 32;  // in the cluster, bursts included
  bool bursts = true;          // engine/profiler/probes/bursts.h
  // A pod has drifted if its speed differs from its curve by this fraction for this time.
  double drift = 0.15;
  Duration drift_time = std::chrono::minutes(5);
};

enum class ProfilerActionKind : uint8_t {
  kProbe,     // write `probe`, which may be a burst, on the pod
  kEndProbe,  // remove it from the pod
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

struct ProfilerPlan {
  std::vector<ProfilerAction> actions;
  Instant wake{};  // when to plan again without news
};

// Finds profiles that this or an earlier process has published.
class MeasuredCatalog {
 public:
  virtual ~MeasuredCatalog() = default;
  // Returns null if there is no such profile.
  virtual std::shared_ptr<const MeasuredProfile> Find(const std::string& profile_namespace,
                                                      const std::string& name) const = 0;
  // Returns the best of the profiles that may be hints (MayHint) for workloads that share this
  // looser identity. Returns null if there is none, or if the catalog does not search.
  virtual std::shared_ptr<const MeasuredProfile> FindHint(const std::string& /*profile_namespace*/,
                                                          const std::string& /*identity*/,
                                                          Gpus /*gpus*/,
                                                          const std::string& /*gpu_product*/,
                                                          int32_t /*gang_size*/) const {
    return nullptr;
  }
};

class Profiler {
 public:
  // `catalog` must outlive this object.
  Profiler(ProfilerSettings settings, const MeasuredCatalog& catalog);

  // Processes a node agent's report about a managed pod. `since`: the start of the agent. `at`: the
  // time of the report, not of this call. Ignores pods that no plan has covered yet.
  void Observe(ProfilerMemory& memory, const PodProgress& progress, WallTime since,
               Moment at) const;
  // Records the pods without a node, as returned by ClusterState::WaitingPods().
  void ObserveWaiting(ProfilerMemory& memory,
                      std::vector<std::shared_ptr<const Pod>> waiting) const;
  ProfilerPlan Plan(const ClusterSnapshot& cluster, ProfilerMemory& memory, Moment at) const;
  // Records the result of an action. `done`: the API server has accepted the action.
  void OnResult(ProfilerMemory& memory, const ProfilerAction& action, bool done, Moment at) const;
  // Records that there was no time to try the action. A profile that was not tried is published as
  // soon as possible, before profiles whose last write failed.
  void OnUntried(ProfilerMemory& memory, const ProfilerAction& action, Moment at) const;

  const ProfilerSettings& settings() const { return settings_; }

 private:
  // `estimates`: whether the iterations are GPU busy seconds.
  void Observe(ProfilerMemory& memory, WatchedPod& pod, const PodProgress& progress, WallTime since,
               Moment at, bool estimates) const;

  ProfilerSettings settings_;
  const MeasuredCatalog& catalog_;
};

}  // namespace synergy
