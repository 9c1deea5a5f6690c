#include "sim/cluster/drivers/profiling_driver.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "sim/cluster/job_pods.h"
#include "sim/cluster/simulated_data.h"

namespace synergy {
namespace {

// Interval at which the controller polls the agents.
constexpr Duration kAsks = std::chrono::seconds(10);
// Fraction of the time that threads wait for CPU in a pod that could use more than it gets.
constexpr double kWaiting = 0.5;
// Fraction of the time that threads wait for data in a pod whose pace storage limits.
constexpr double kStarved = 0.9;
// Mean use of the useful CPU; busy workers use whole cores.
constexpr double kUsed = 0.95;

// Number of pods of a workload whose memory is watched until it is known.
constexpr size_t kStudied = 2;

double CoresOf(MilliCpu cpu) { return static_cast<double>(cpu.count()) / 1000; }

Duration PartOf(Duration time, double part) {
  return std::chrono::duration_cast<Duration>(Seconds(time) * part);
}

}  // namespace

ProfilingDriver::ProfilingDriver(ModelProfiles& published, ClusterState& state, SimulatedPods& pods,
                                 JobProgress& running, const ModelProfiles& truths)
    : product_profiles_(published),
      state_(state),
      pods_(pods),
      running_(running),
      truths_(truths),
      profiler_({}, *this) {}

void ProfilingDriver::OnReport(Instant now) { wake_ = std::min(wake_, now + kAsks); }

std::set<std::string> ProfilingDriver::Measured() const {
  std::set<std::string> measured;
  for (const auto& [key, measurement] : memory_.measurements) {
    measured.insert(measurement.closely.begin(), measurement.closely.end());
    size_t studied = measurement.memory ? kStudied : 0;
    for (const std::string& uid : measurement.pods) {
      const bool silent = !memory_.pods.at(uid).ReportsProgress();
      if (studied++ < kStudied || (silent && !measurement.complete)) measured.insert(uid);
    }
  }
  return measured;
}

void ProfilingDriver::Run(Moment at) {
  const std::set<std::string> before = Measured();
  std::erase_if(reported_, [&](const auto& reported) { return !before.contains(reported.first); });
  for (const std::string& uid : before) Report(uid, at);
  profiler_.ObserveWaiting(memory_, state_.WaitingPods());
  const ProfilerPlan plan = profiler_.Plan(*state_.Snapshot(), memory_, at);
  for (const ProfilerAction& action : plan.actions) {
    profiler_.OnResult(memory_, action, Do(action, at), at);
  }
  wake_ = Measured().empty() ? Instant::max() : at.now + kAsks;
}

void ProfilingDriver::Report(const std::string& uid, Moment at) {
  const SimulatedPod* const pod = pods_.Find(uid);
  if (pod == nullptr || !pod->fungible) return;
  const auto pace = running_.PaceOf(pod->node, uid, at.now);
  if (!pace) return;
  const auto [it, is_new] = reported_.try_emplace(uid);
  Reported& reported = it->second;
  PodProgress& progress = reported.progress;
  if (is_new) {
    progress.uid = uid;
    progress.format = "simulated";
    progress.cpu = CpuUse{.waited = Duration::zero()};
    reported.at = at.now;
  }
  const Duration time = at.now - reported.at;
  reported.at = at.now;
  const std::optional<CpuProbe>& probe = pod->fungible->probe;
  if (probe && at.wall >= probe->until) {
    SetProbe(uid, std::nullopt, at);
    progress.probe.reset();
  }
  progress.iterations += pace->throughput * Seconds(time).count();
  progress.last = at.wall;
  progress.cpu->used += PartOf(time, std::min(CoresOf(pace->cpu), kUsed * CoresOf(pace->useful)));
  if (pace->cpu < pace->useful) {
    const bool by_quota = progress.probe || pod->fungible->enforcement == Enforcement::kStrict;
    (by_quota ? progress.cpu->throttled : *progress.cpu->waited) += PartOf(time, kWaiting);
  }
  progress.cpu->at = at.wall;
  ReportMemory(*pod, *pace, time, progress);
  profiler_.Observe(memory_, progress, {}, at);
}

void ProfilingDriver::ReportMemory(const SimulatedPod& pod, const JobProgress::Pace& pace,
                                   Duration time, PodProgress& progress) const {
  const ManagedContainer& fungible = *pod.fungible;
  const auto truth =
      truths_.Find(pod.pod_namespace(), fungible.workload, fungible.requested.gpus).profile;
  if (!truth) return;
  const SimulatedData data = DataOf(*truth);
  if (!progress.memory) progress.memory = MemoryUse{.starved = Duration::zero()};
  MemoryUse& memory = *progress.memory;
  const Bytes left = std::max(fungible.in_force.memory - data.process, Bytes(0));
  memory.process = data.process;
  // In the first epoch the cache fills, and all data come from storage.
  const Bytes cached = pace.cold_most ? Bytes(std::llround(memory.fetched)) : data.data_set;
  memory.cache = std::min({left, data.data_set, cached});
  memory.at = *progress.last;
  if (data.data_set <= Bytes(0)) return;
  const double read = data.per_iteration * pace.throughput * Seconds(time).count();
  const double missed = pace.cold_most ? 1
                                       : 1 - static_cast<double>(memory.cache.count()) /
                                                 static_cast<double>(data.data_set.count());
  memory.read += read;
  memory.fetched += missed * read;
  const double with_all = truth->ThroughputAt(truth->cpus().back(), fungible.in_force.memory);
  const double allowed = std::min(with_all, pace.cold_most.value_or(with_all));
  if (allowed < truth->Best())
    *memory.starved += PartOf(time, kStarved * std::min(pace.throughput / allowed, 1.0));
  progress.epoch = memory.read / static_cast<double>(data.data_set.count());
}

bool ProfilingDriver::Do(const ProfilerAction& action, Moment at) {
  switch (action.kind) {
    case ProfilerActionKind::kProbe: {
      const auto reported = reported_.find(action.pod->uid);
      if (reported == reported_.end() || pods_.Find(action.pod->uid) == nullptr) return false;
      SetProbe(action.pod->uid, action.probe, at);
      reported->second.progress.probe = ProbeReading{action.probe.cpu, at.wall, false};
      return true;
    }
    case ProfilerActionKind::kEndProbe:
      SetProbe(action.pod->uid, std::nullopt, at);
      if (const auto reported = reported_.find(action.pod->uid); reported != reported_.end())
        reported->second.progress.probe.reset();
      return true;
    case ProfilerActionKind::kPublish:
      Publish(action.profile_namespace, action.measured);
      return true;
  }
  return false;
}

void ProfilingDriver::SetProbe(const std::string& uid, const std::optional<CpuProbe>& probe,
                               Moment at) {
  const bool there = pods_.Write(uid, [&](SimulatedPod& pod) { pod.fungible->probe = probe; });
  if (!there) return;
  running_.SetQuota(pods_.Find(uid)->node, uid, probe, at.now);
}

void ProfilingDriver::Publish(const std::string& profile_namespace,
                              const MeasuredProfile& measured) {
  const std::string name = MeasuredName(measured);
  published_[{profile_namespace, name}] = std::make_shared<const MeasuredProfile>(measured);
  Result<JobProfile> made = MakeJobProfile(measured);
  if (!made) return;
  ProfileObject object;
  object.profile_namespace = profile_namespace;
  object.name = name;
  object.generation = measured.revision;
  object.measured = measured;
  object.profile = std::make_shared<const JobProfile>(*std::move(made));
  const std::shared_ptr<const JobProfile> profile = object.profile;
  product_profiles_.Add(std::move(object));
  // From now on the tuner controls the running pods.
  const MeasurementKey key{profile_namespace, measured.workload, measured.gpus,
                           measured.gpu_product, measured.gang_size};
  const auto measurement = memory_.measurements.find(key);
  if (measurement == memory_.measurements.end()) return;
  for (const std::string& uid : measurement->second.pods) {
    pods_.Write(uid, [&](SimulatedPod& pod) {
      Adopt(*pod.fungible, name, measured.revision, *profile,
            {.at_least_share = IsCpuInDoubt(measured),
             .at_least_share_of_memory = IsMemoryInDoubt(measured)});
    });
  }
}

std::shared_ptr<const MeasuredProfile> ProfilingDriver::Find(const std::string& profile_namespace,
                                                             const std::string& name) const {
  const auto found = published_.find({profile_namespace, name});
  return found == published_.end() ? nullptr : found->second;
}

}  // namespace synergy
