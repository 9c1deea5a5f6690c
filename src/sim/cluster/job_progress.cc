#include "sim/cluster/job_progress.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "allocation/sharing.h"
#include "allocation/storage/storage_left.h"

namespace synergy {
namespace {

MilliCpu UsefulTo(const JobProgress::RunningPod& pod) {
  return pod.profile ? UsefulCpu(*pod.profile, pod.in_force.memory) : pod.in_force.cpu;
}

// Returns the least CPU, up to `most`, with which the profile has this throughput.
MilliCpu CpuFor(double throughput, const JobProgress::RunningPod& pod, MilliCpu most) {
  MilliCpu less;
  MilliCpu enough = most;
  while (enough - less > MilliCpu(1)) {
    const MilliCpu middle((less + enough).count() / 2);
    const double speed = pod.profile->ThroughputAt(middle, pod.in_force.memory);
    (speed >= throughput ? enough : less) = middle;
  }
  return enough;
}

// Returns the useful CPU of a pod whose speed its first epoch limits.
MilliCpu UsefulWhenCold(const JobProgress::RunningPod& pod, MilliCpu useful) {
  return pod.cold_epoch ? CpuFor(pod.cold_epoch->most, pod, useful) : useful;
}

}  // namespace

void JobProgress::Begin(size_t job, const Work& work) {
  JobState& state = jobs_[job];
  state.work = work;
  state.remaining = work.ideal.count();
  state.pod_speeds.resize(work.pods);
  state.pod_nodes.resize(work.pods);
}

void JobProgress::SetWorkers(size_t job, uint32_t pods, double workers_factor) {
  JobState& state = jobs_.at(job);
  state.work.pods = pods;
  state.work.workers_factor = workers_factor;
  state.pod_speeds.assign(pods, 0);
  state.pod_nodes.assign(pods, {});
}

bool JobProgress::Runs(const RunningPod& pod) const {
  return pod.job == kNoJob || jobs_.at(pod.job).Runs();
}

bool JobProgress::IsCold(const RunningPod& pod) const {
  return pod.cold_epoch && jobs_.at(pod.job).cold > 0;
}

double JobProgress::SpreadOf(const JobState& job) const {
  const std::string& first = job.pod_nodes.front();
  const std::string& rack = nodes_.at(first).rack;
  bool one_node = true;
  bool one_rack = true;
  for (const std::string& node : job.pod_nodes) {
    one_node &= node == first;
    one_rack &= nodes_.at(node).rack == rack;
  }
  if (one_node) return 1;
  const double over_nodes = job.work.spread.nodes.value_or(rules_.spread_factor);
  if (one_rack) return over_nodes;
  if (job.work.spread.nodes) return job.work.spread.racks.value_or(over_nodes);
  return std::min(over_nodes, rules_.rack_spread_factor);
}

void JobProgress::Start(const std::string& node, RunningPod pod, Instant now) {
  const size_t job = pod.job;
  const uint32_t ordinal = pod.ordinal;
  NodeTenants& at = nodes_[node];
  const MilliCpu useful = UsefulTo(pod);
  if (pod.cold_epoch) {
    JobState& state = jobs_.at(job);
    state.cold = std::max(state.cold, pod.cold_epoch->work / state.work.fair_throughput);
  }
  const MilliCpu cold_useful = UsefulWhenCold(pod, useful);
  at.tenants.push_back({std::move(pod), useful, cold_useful});
  if (job == kNoJob) {
    DivideAmongTenants(at, now);
    return;
  }
  JobState& state = jobs_.at(job);
  state.pod_nodes[ordinal] = node;
  if (++state.started < state.work.pods) return;
  state.from = state.work.runs_already ? now : now + rules_.restart_cost;
  state.advanced_to = now;
  state.spread = SpreadOf(state);
  // Iterate over a copy. Sharing does not change the list, but a reader need not verify that.
  for (const std::string& name : std::vector<std::string>(state.pod_nodes)) {
    DivideAmongTenants(nodes_.at(name), now);
  }
}

void JobProgress::SetInForce(const std::string& node, const std::string& uid,
                             const ResourceVector& in_force, Instant now) {
  NodeTenants& at = nodes_[node];
  for (Tenant& tenant : at.tenants) {
    if (tenant.pod.uid != uid) continue;
    const bool same_memory = tenant.pod.in_force.memory == in_force.memory;
    tenant.pod.in_force = in_force;
    if (!same_memory || !tenant.pod.profile) {
      tenant.useful = UsefulTo(tenant.pod);
      tenant.cold_useful = UsefulWhenCold(tenant.pod, tenant.useful);
    }
    DivideAmongTenants(at, now);
    return;
  }
}

void JobProgress::SetQuota(const std::string& node, const std::string& uid,
                           const std::optional<CpuProbe>& quota, Instant now) {
  NodeTenants& at = nodes_[node];
  for (Tenant& tenant : at.tenants) {
    if (tenant.pod.uid == uid) tenant.quota = quota;
  }
  DivideAmongTenants(at, now);
}

std::optional<JobProgress::Pace> JobProgress::PaceOf(const std::string& node,
                                                     const std::string& uid, Instant now) const {
  const auto at = nodes_.find(node);
  if (at == nodes_.end()) return std::nullopt;
  for (const Tenant& tenant : at->second.tenants) {
    if (tenant.pod.uid != uid || tenant.pod.job == kNoJob || !tenant.pod.profile) continue;
    const JobState& job = jobs_.at(tenant.pod.job);
    if (!job.Runs() || now < job.from) return std::nullopt;
    const bool cold = IsCold(tenant.pod);
    return Pace{job.speed * job.work.fair_throughput, tenant.cpu,
                cold ? tenant.cold_useful : tenant.useful,
                cold ? std::optional(tenant.pod.cold_epoch->most) : std::nullopt};
  }
  return std::nullopt;
}

void JobProgress::Stop(const std::string& node, const std::string& uid, Instant now) {
  NodeTenants& at = nodes_[node];
  const size_t gone =
      std::erase_if(at.tenants, [&uid](const Tenant& tenant) { return tenant.pod.uid == uid; });
  if (gone > 0) DivideAmongTenants(at, now);
}

double JobProgress::ThroughputOf(const Tenant& tenant, MilliCpu cpu) const {
  const RunningPod& pod = tenant.pod;
  double throughput = pod.profile ? pod.profile->ThroughputAt(cpu, pod.in_force.memory)
                                  : jobs_.at(pod.job).work.fair_throughput;
  throughput *= pod.speed;
  return IsCold(pod) ? std::min(throughput, pod.cold_epoch->most) : throughput;
}

std::vector<double> JobProgress::StorageLimits(const NodeTenants& node,
                                               const std::vector<Tenant*>& tenants,
                                               const std::vector<MilliCpu>& cpu) const {
  const auto memory_of = [this](const RunningPod& pod) {
    return IsCold(pod) ? pod.reads.process : pod.in_force.memory;
  };
  std::vector<double> needs;
  for (size_t i = 0; i < tenants.size(); ++i) {
    const RunningPod& pod = tenants[i]->pod;
    const bool trains = pod.job != kNoJob;
    needs.push_back(trains ? pod.reads.NeedAt(ThroughputOf(*tenants[i], cpu[i]), memory_of(pod))
                           : 0);
  }
  const std::vector<double> parts = StorageParts(needs, node.storage);
  std::vector<double> limits(tenants.size(), std::numeric_limits<double>::infinity());
  for (size_t i = 0; i < tenants.size(); ++i) {
    const RunningPod& pod = tenants[i]->pod;
    if (parts[i] < needs[i]) limits[i] = pod.reads.RateWith(parts[i], memory_of(pod));
  }
  return limits;
}

void JobProgress::DivideAmongTenants(NodeTenants& node, Instant now) {
  std::vector<CpuUser> users;
  std::vector<Tenant*> running;
  for (Tenant& tenant : node.tenants) {
    if (!Runs(tenant.pod)) continue;
    if (tenant.pod.job != kNoJob && jobs_.at(tenant.pod.job).gpu_factor <= 0) {
      tenant.cpu = {};
      SetSpeed(tenant.pod.job, tenant.pod.ordinal, 0, now);
      continue;
    }
    const MilliCpu own = tenant.pod.in_force.cpu;
    const bool strict = tenant.pod.enforcement == Enforcement::kStrict;
    const MilliCpu useful = IsCold(tenant.pod) ? tenant.cold_useful : tenant.useful;
    MilliCpu most = strict ? std::min(useful, own) : useful;
    if (tenant.quota && tenant.quota->burst) {
      most = std::min(useful, std::max(own, tenant.quota->cpu));
    } else if (tenant.quota) {
      most = std::min(most, tenant.quota->cpu);
    }
    users.push_back({static_cast<double>(own.count()), most});
    running.push_back(&tenant);
  }
  std::vector<MilliCpu> cpu = ShareCpu(users, node.cpu);
  std::vector<double> limits(running.size(), std::numeric_limits<double>::infinity());
  if (node.storage > 0) {
    limits = StorageLimits(node, running, cpu);
    for (size_t i = 0; i < running.size(); ++i) {
      const RunningPod& pod = running[i]->pod;
      if (std::isinf(limits[i])) continue;
      users[i].most = std::min(users[i].most, CpuFor(limits[i] / pod.speed, pod, users[i].most));
    }
    cpu = ShareCpu(users, node.cpu);
    limits = StorageLimits(node, running, cpu);
  }
  for (size_t i = 0; i < running.size(); ++i) {
    const RunningPod& pod = running[i]->pod;
    running[i]->cpu = cpu[i];
    if (pod.job == kNoJob) continue;
    const double throughput = std::min(ThroughputOf(*running[i], cpu[i]), limits[i]);
    SetSpeed(pod.job, pod.ordinal, throughput / jobs_.at(pod.job).work.fair_throughput, now);
  }
}

void JobProgress::Suspend(size_t job, Instant now) {
  JobState& state = jobs_.at(job);
  state.first_part_done = FirstPartDone(job, now);
  Advance(state, now);
  state.speed = 0;
  state.started = 0;
  state.work.runs_already = false;
  std::fill(state.pod_speeds.begin(), state.pod_speeds.end(), 0);
  ++state.generation;
}

void JobProgress::KeepStarted(size_t job, uint32_t pods, Instant now) {
  jobs_.at(job).started = pods;
  // Iterate over a copy, as in Start().
  for (const std::string& name : std::vector<std::string>(jobs_.at(job).pod_nodes)) {
    if (const auto node = nodes_.find(name); node != nodes_.end())
      DivideAmongTenants(node->second, now);
  }
}

void JobProgress::SetGpuFactor(size_t job, double factor, Instant now) {
  JobState& state = jobs_.at(job);
  if (state.gpu_factor == factor) return;
  state.gpu_factor = factor;
  if (!state.Runs()) return;
  // Iterate over a copy, as in Start().
  for (const std::string& name : std::vector<std::string>(state.pod_nodes)) {
    DivideAmongTenants(nodes_.at(name), now);
  }
}

std::optional<Duration> JobProgress::RemainingOf(size_t job, Instant now) const {
  const auto it = jobs_.find(job);
  if (it == jobs_.end()) return std::nullopt;
  const JobState& state = it->second;
  if (!state.Runs() || now < state.from) return std::nullopt;
  // A suspended job counts as if it continued at its last speed.
  if (state.gpu_factor == 0 && state.last_speed > 0)
    return Duration(std::llround(std::min(state.remaining / state.last_speed, 9e9) * 1e9));
  if (state.speed <= 0) return std::nullopt;
  const Seconds worked = now - std::max(state.from, state.advanced_to);
  const double left = std::max(state.remaining / state.speed - worked.count(), 0.0);
  return Duration(std::llround(std::min(left, 9e9) * 1e9));
}

std::optional<Instant> JobProgress::FirstPartDone(size_t job, Instant now) const {
  const auto it = jobs_.find(job);
  if (it == jobs_.end()) return std::nullopt;
  const JobState& state = it->second;
  if (state.first_part_done || state.work.first_part <= Seconds(0) || state.speed <= 0) {
    return state.first_part_done;
  }
  const Seconds left = Seconds(state.remaining) - (state.work.ideal - state.work.first_part);
  const Instant done = std::max(state.from, state.advanced_to) +
                       std::chrono::ceil<Duration>(std::max(left, Seconds(0)) / state.speed);
  return done <= now + std::chrono::microseconds(1) ? std::optional(done) : std::nullopt;
}

double JobProgress::SpeedOf(size_t job) const {
  const auto it = jobs_.find(job);
  return it == jobs_.end() ? 0 : it->second.speed;
}

void JobProgress::SetSpeed(size_t job, uint32_t ordinal, double speed, Instant now) {
  JobState& state = jobs_.at(job);
  state.pod_speeds[ordinal] = speed;
  double slowest = *std::min_element(state.pod_speeds.begin(), state.pod_speeds.end());
  slowest *= state.spread * state.work.workers_factor * state.gpu_factor;
  if (slowest == state.speed) return;
  state.first_part_done = FirstPartDone(job, now);
  Advance(state, now);
  if (state.speed > 0) state.last_speed = state.speed;
  state.speed = slowest;
  ++state.generation;
  changed_.push_back(job);
}

void JobProgress::Advance(JobState& state, Instant now) {
  const Seconds worked = now - std::max(state.from, state.advanced_to);
  if (worked > Seconds(0)) {
    state.remaining -= worked.count() * state.speed;
    state.cold -= worked.count() * state.speed;
  }
  state.advanced_to = now;
}

void JobProgress::EndFirstEpoch(size_t job, Instant now) {
  JobState& state = jobs_.at(job);
  state.first_part_done = FirstPartDone(job, now);
  Advance(state, now);
  state.cold = 0;
  ++state.generation;
  changed_.push_back(job);
  // Iterate over a copy, as in Start().
  for (const std::string& name : std::vector<std::string>(state.pod_nodes)) {
    DivideAmongTenants(nodes_.at(name), now);
  }
}

std::vector<JobProgress::Finish> JobProgress::TakeFinishes() {
  std::vector<Finish> finishes;
  for (const size_t job : std::exchange(changed_, {})) {
    const auto it = jobs_.find(job);
    if (it == jobs_.end() || it->second.speed <= 0) continue;
    const JobState& state = it->second;
    const bool cold = state.cold > 0 && state.cold < state.remaining;
    const double left = std::max(cold ? state.cold : state.remaining, 0.0) / state.speed;
    const auto nanoseconds = Duration(std::llround(std::min(left, 9e9) * 1e9));
    const Finish finish{job, std::max(state.from, state.advanced_to) + nanoseconds,
                        state.generation, cold};
    if (!finishes.empty() && finishes.back().job == job) continue;
    finishes.push_back(finish);
  }
  return finishes;
}

bool JobProgress::Holds(const Finish& finish) const {
  const auto it = jobs_.find(finish.job);
  return it != jobs_.end() && it->second.generation == finish.generation;
}

}  // namespace synergy
