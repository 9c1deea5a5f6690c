#include "engine/profiler/profiler.h"

#include <algorithm>
#include <utility>

#include "engine/profiler/gang_members.h"
#include "engine/profiler/hints.h"
#include "engine/profiler/measuring.h"
#include "engine/profiler/memory_learning.h"
#include "engine/profiler/probes/bursts.h"
#include "engine/profiler/probes/probing.h"
#include "engine/profiler/profiler_pass.h"
#include "engine/profiler/progress_intake.h"
#include "engine/profiler/publishing.h"

namespace synergy {
namespace {

// Least time between samples of a pod that is measured closely.
constexpr Duration kLeastApart = std::chrono::seconds(1);
constexpr Duration kChecksApart = std::chrono::seconds(30);  // for any other pod
constexpr size_t kMostSamples = 128;
// Interval between examinations of a measurement that waits for a change.
constexpr Duration kLookAgain = std::chrono::seconds(2);
// Interval of checks that the published profile still exists.
constexpr Duration kLookUp = std::chrono::minutes(1);
constexpr Duration kProbeAgain = std::chrono::seconds(30);
constexpr Duration kPublishAgain = std::chrono::seconds(10);

// Returns the key of the measurement to publish.
MeasurementKey KeyOf(const ProfilerAction& action) {
  return {action.profile_namespace, action.measured.workload, action.measured.gpus,
          action.measured.gpu_product, action.measured.gang_size};
}

// Returns the key of the pod's measurement; nullopt if the profiler does not measure the pod.
std::optional<MeasurementKey> KeyOf(const Pod& pod, const NodeState& node) {
  if (!pod.fungible || pod.fungible->workload.empty() || pod.node.empty() || pod.waiting ||
      pod.deleting || pod.terminal || !pod.UsesGpus()) {
    return std::nullopt;
  }
  MeasurementKey key{pod.pod_namespace, pod.fungible->workload, pod.fungible->requested.gpus,
                     node.detail->gpu_kinds.OnlyProduct(), GangSizeOf(pod)};
  const std::string& profile = pod.fungible->profile;
  if (!profile.empty() && profile != NameOf(key) && !pod.fungible->hint) return std::nullopt;
  return key;
}

void Leave(ProfilerMemory& memory, const std::string& uid) {
  const auto watched = memory.pods.find(uid);
  if (watched == memory.pods.end()) return;
  const auto it = memory.measurements.find(watched->second.key);
  Measurement& measurement = it->second;
  DropProbe(memory, measurement, uid);
  DropBurst(memory, watched->second);
  memory.kept_back.erase(uid);
  measurement.pods.erase(uid);
  measurement.closely.erase(uid);
  memory.news.insert(it->first);
  memory.pods.erase(watched);
}

void See(ProfilerPass& pass, NodeIndex index, const std::shared_ptr<const Pod>& pod,
         const MeasurementKey& key) {
  ProfilerMemory& memory = pass.memory;
  if (const auto found = memory.pods.find(pod->uid); found != memory.pods.end()) {
    WatchedPod& watched = found->second;
    if (watched.node == index && watched.key == key) {
      if (watched.pod == pod) return;
      if (!SameAmounts(*watched.pod, *pod)) ForgetWindows(pass.settings, memory, watched);
      watched.pod = pod;
      memory.news.insert(key);
      return;
    }
    Leave(memory, pod->uid);
  }
  Measurement& known = Recalled(pass, key);
  NoteIdentities(known, pod->fungible->alike);
  known.pods.insert(pod->uid);
  known.node_cpu = std::max(known.node_cpu, MostOf(pass.cluster.node(index), *pod));
  known.fair_share = std::max(known.fair_share, pod->fungible->fair_share.cpu);
  WatchedPod watched;
  watched.pod = pod;
  watched.node = index;
  watched.key = key;
  memory.pods.insert_or_assign(pod->uid, std::move(watched));
  memory.news.insert(key);
}

void SeeNode(ProfilerPass& pass, NodeIndex index) {
  const NodeState& node = pass.cluster.node(index);
  std::vector<std::string> now;
  for (const auto& pod : node.detail->pods) {
    if (pod->deleting || pod->terminal || pod->waiting) continue;
    const auto key = KeyOf(*pod, node);
    if (!key && !pod->gang) continue;
    now.push_back(pod->uid);
    if (pod->gang) {
      // The pod trained alone until now.
      const auto known = pass.memory.pods.find(pod->uid);
      if (known != pass.memory.pods.end() && known->second.gang.empty())
        Leave(pass.memory, pod->uid);
      SeeMember(pass, index, pod, key);
    } else {
      LoseMember(pass, index, pod->uid);
      See(pass, index, pod, *key);
    }
  }
  const auto before = pass.memory.on_node.find(index);
  if (before != pass.memory.on_node.end()) {
    for (const std::string& uid : before->second) {
      if (std::find(now.begin(), now.end(), uid) != now.end()) continue;
      LoseMember(pass, index, uid);
      const auto known = pass.memory.pods.find(uid);
      if (known != pass.memory.pods.end() && known->second.node == index) Leave(pass.memory, uid);
    }
  }
  if (!now.empty()) {
    pass.memory.on_node.insert_or_assign(index, std::move(now));
  } else if (before != pass.memory.on_node.end()) {
    pass.memory.on_node.erase(before);
  }
}

void SeeCluster(ProfilerPass& pass) {
  for (NodeIndex index = 0; index < pass.cluster.size(); ++index) {
    if (pass.cluster.node(index).changed > pass.memory.seen) SeeNode(pass, index);
  }
  pass.memory.seen = pass.cluster.version();
}

// Returns whether the published profile was deleted, which restarts its measurement.
bool IsRemoved(const ProfilerPass& pass, const MeasurementKey& key,
               const Measurement& measurement) {
  return measurement.published && !measurement.publishing &&
         pass.at.now >= measurement.next_publish + kLookUp &&
         !pass.catalog.Find(key.profile_namespace, NameOf(key));
}

void Advance(ProfilerPass& pass, const MeasurementKey& key) {
  const auto it = pass.memory.measurements.find(key);
  if (it == pass.memory.measurements.end()) return;
  Measurement& measurement = it->second;
  if (measurement.pods.empty() && !measurement.publishing) {
    LookAgain(pass.memory, key, measurement, std::nullopt);
    GiveUpLead(pass.memory, key, measurement);
    pass.memory.measurements.erase(it);
    return;
  }
  if (measurement.running.empty() && IsRemoved(pass, key, measurement)) {
    Measurement anew;
    anew.pods = std::move(measurement.pods);
    anew.closely = std::move(measurement.closely);
    anew.due = measurement.due;
    anew.node_cpu = measurement.node_cpu;
    anew.fair_share = measurement.fair_share;
    anew.alike = measurement.alike;
    measurement = std::move(anew);
  }
  FollowProbes(pass, measurement);
  Measure(pass, measurement);
  EndRaise(pass, key, measurement);
  TryHints(pass, key, measurement);
  BeginProbe(pass, key, measurement);
  Publish(pass, key, measurement);
  const bool busy = !measurement.running.empty() || !measurement.closely.empty();
  LookAgain(pass.memory, key, measurement, pass.at.now + (busy ? kLookAgain : kLookUp));
}

void Keep(const ProfilerSettings& settings, ProfilerMemory& memory, WatchedPod& pod,
          const ProgressSample& sample, Moment at) {
  const Duration apart = pod.closely ? kLeastApart : kChecksApart;
  if (!pod.samples.empty() && sample.last - pod.samples.back().last < apart) return;
  pod.samples.push_back(sample);
  if (pod.samples.size() > kMostSamples) pod.samples.erase(pod.samples.begin());
  if (pod.closely) return;
  const Measurement& measurement = memory.measurements.at(pod.key);
  CheckSpeed(settings, memory, measurement, pod, at);
  if (pod.off_since) memory.news.insert(pod.key);
}

}  // namespace

Profiler::Profiler(ProfilerSettings settings, const MeasuredCatalog& catalog)
    : settings_(settings), catalog_(catalog) {}

void Profiler::Observe(ProfilerMemory& memory, const PodProgress& progress, WallTime since,
                       Moment at) const {
  const auto found = memory.pods.find(progress.uid);
  if (found == memory.pods.end()) return;
  WatchedPod& pod = found->second;
  // The GPUs of a gang are also busy while they wait for each other.
  const auto estimated = pod.gang.empty() ? EstimatedProgress(progress) : std::nullopt;
  Observe(memory, pod, estimated.value_or(progress), since, at, estimated.has_value());
}

void Profiler::Observe(ProfilerMemory& memory, WatchedPod& pod, const PodProgress& progress,
                       WallTime since, Moment at, bool estimates) const {
  NoteUse(memory, pod, progress, at);
  const bool reports = pod.gang.empty() ? !progress.format.empty() && progress.last
                                        : ObserveMember(settings_, memory, pod, progress, at);
  if (!reports) {
    if (pod.gang.empty()) pod.probe = progress.probe;
    return;
  }
  pod.estimates = estimates;
  if (!Counts(memory, pod)) return;
  if (!estimates) Note(pod.memory, progress);
  if (!pod.last || pod.closely) memory.news.insert(pod.key);
  auto sample = Listen(settings_, pod, progress, since);
  auto others = CpuOfOthers(memory, pod);
  if (!sample || !others) return;
  sample->others = *std::move(others);
  Keep(settings_, memory, pod, *sample, at);
}

void Profiler::ObserveWaiting(ProfilerMemory& memory,
                              std::vector<std::shared_ptr<const Pod>> waiting) const {
  std::erase_if(waiting, [](const auto& pod) {
    return !pod->waiting || !pod->waiting->unschedulable || !pod->waiting->selection;
  });
  memory.waiting = std::move(waiting);
}

ProfilerPlan Profiler::Plan(const ClusterSnapshot& cluster, ProfilerMemory& memory,
                            Moment at) const {
  ProfilerPlan plan;
  ProfilerPass pass{settings_, catalog_, cluster, at, memory, plan};
  SeeCluster(pass);
  std::set<MeasurementKey> now = std::exchange(memory.news, {});
  // Examine all probed measurements, because a probe ends as soon as a pod waits for its node.
  for (const auto& [node, key] : memory.probed) now.insert(key);
  for (const auto& [when, key] : memory.due) {
    if (when > at.now) break;
    now.insert(key);
  }
  for (const MeasurementKey& key : now) Advance(pass, key);
  if (settings_.bursts) PlanBursts(pass);
  plan.wake = memory.due.empty() ? Instant::max() : memory.due.begin()->first;
  return plan;
}

void Profiler::OnUntried(ProfilerMemory& memory, const ProfilerAction& action, Moment at) const {
  OnResult(memory, action, false, at);
  if (action.kind != ProfilerActionKind::kPublish) return;
  const auto known = memory.measurements.find(KeyOf(action));
  if (known != memory.measurements.end()) known->second.next_publish = at.now;
}

void Profiler::OnResult(ProfilerMemory& memory, const ProfilerAction& action, bool done,
                        Moment at) const {
  if (action.kind == ProfilerActionKind::kEndProbe) return;  // a probe also ends by itself
  if (action.kind == ProfilerActionKind::kPublish) {
    const MeasurementKey key = KeyOf(action);
    const auto known = memory.measurements.find(key);
    if (known == memory.measurements.end()) return;
    known->second.publishing = false;
    known->second.next_publish = done ? at.now : at.now + kPublishAgain;
    if (done) Published(known->second, action.measured);
    memory.news.insert(key);
    return;
  }
  const auto pod = memory.pods.find(action.pod->uid);
  if (pod == memory.pods.end()) return;
  if (action.probe.burst) return OnBurstResult(memory, pod->second, done, at);
  Measurement& measurement = memory.measurements.at(pod->second.key);
  const auto probe = std::find_if(
      measurement.running.begin(), measurement.running.end(), [&](const RunningProbe& each) {
        return each.uid == action.pod->uid && each.probe == action.probe;
      });
  if (probe == measurement.running.end()) return;
  if (done) {
    probe->written = true;
    probe->iterations = pod->second.iterations;
    probe->begun_at = pod->second.last;
    return;
  }
  DropProbe(memory, measurement, action.pod->uid);
  --measurement.probes;
  measurement.next_probe = at.now + kProbeAgain;
}

}  // namespace synergy
