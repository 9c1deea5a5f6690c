#include "sim/cluster/job_progress.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "allocation/sharing.h"

namespace synergy {
namespace {

MilliCpu UsefulTo(const JobProgress::RunningPod& pod) {
  return pod.profile ? UsefulCpu(*pod.profile, pod.in_force.memory) : pod.in_force.cpu;
}

}  // namespace

void JobProgress::Begin(size_t job, const Work& work) {
  JobState& state = jobs_[job];
  state.work = work;
  state.remaining = work.ideal.count();
  state.pod_speeds.resize(work.pods);
  state.pod_nodes.resize(work.pods);
}

bool JobProgress::Runs(const RunningPod& pod) const {
  return pod.job == kNoJob || jobs_.at(pod.job).Runs();
}

void JobProgress::Start(const std::string& node, RunningPod pod, Instant now) {
  const size_t job = pod.job;
  const uint32_t ordinal = pod.ordinal;
  NodeTenants& at = nodes_[node];
  const MilliCpu useful = UsefulTo(pod);
  at.tenants.push_back({std::move(pod), useful});
  if (job == kNoJob) {
    ShareCpuOf(at, now);
    return;
  }
  JobState& state = jobs_.at(job);
  state.pod_nodes[ordinal] = node;
  if (++state.started < state.work.pods) return;
  state.from = state.work.runs_already ? now : now + rules_.restart_cost;
  state.booked = now;
  // A copy: sharing does not touch it, but who reads this need not know.
  for (const std::string& name : std::vector<std::string>(state.pod_nodes)) {
    ShareCpuOf(nodes_.at(name), now);
  }
}

void JobProgress::SetInForce(const std::string& node, const std::string& uid,
                             const ResourceVector& in_force, Instant now) {
  NodeTenants& at = nodes_[node];
  for (Tenant& tenant : at.tenants) {
    if (tenant.pod.uid != uid) continue;
    const bool same_memory = tenant.pod.in_force.memory == in_force.memory;
    tenant.pod.in_force = in_force;
    if (!same_memory || !tenant.pod.profile) tenant.useful = UsefulTo(tenant.pod);
    ShareCpuOf(at, now);
    return;
  }
}

void JobProgress::Stop(const std::string& node, const std::string& uid, Instant now) {
  NodeTenants& at = nodes_[node];
  const size_t gone =
      std::erase_if(at.tenants, [&uid](const Tenant& tenant) { return tenant.pod.uid == uid; });
  if (gone > 0) ShareCpuOf(at, now);
}

void JobProgress::ShareCpuOf(const NodeTenants& node, Instant now) {
  std::vector<CpuUser> users;
  std::vector<const Tenant*> running;
  for (const Tenant& tenant : node.tenants) {
    if (!Runs(tenant.pod)) continue;
    const MilliCpu own = tenant.pod.in_force.cpu;
    const bool strict = tenant.pod.enforcement == Enforcement::kStrict;
    users.push_back(
        {static_cast<double>(own.count()), strict ? std::min(tenant.useful, own) : tenant.useful});
    running.push_back(&tenant);
  }
  const std::vector<MilliCpu> cpu = ShareCpu(users, node.cpu);
  for (size_t i = 0; i < running.size(); ++i) {
    const RunningPod& pod = running[i]->pod;
    if (pod.job == kNoJob) continue;
    const double throughput = pod.profile ? pod.profile->ThroughputAt(cpu[i], pod.in_force.memory)
                                          : jobs_.at(pod.job).work.fair_throughput;
    SetSpeed(pod.job, pod.ordinal, throughput / jobs_.at(pod.job).work.fair_throughput, now);
  }
}

double JobProgress::SpeedOf(size_t job) const {
  const auto it = jobs_.find(job);
  return it == jobs_.end() ? 0 : it->second.speed;
}

void JobProgress::SetSpeed(size_t job, uint32_t ordinal, double speed, Instant now) {
  JobState& state = jobs_.at(job);
  state.pod_speeds[ordinal] = speed;
  double slowest = *std::min_element(state.pod_speeds.begin(), state.pod_speeds.end());
  if (state.work.pods > 1) slowest *= rules_.spread_factor;
  if (slowest == state.speed) return;
  const Seconds worked = now - std::max(state.from, state.booked);
  if (worked > Seconds(0)) state.remaining -= worked.count() * state.speed;
  state.booked = now;
  state.speed = slowest;
  ++state.saying;
  changed_.push_back(job);
}

std::vector<JobProgress::Finish> JobProgress::TakeFinishes() {
  std::vector<Finish> finishes;
  for (const size_t job : std::exchange(changed_, {})) {
    const auto it = jobs_.find(job);
    if (it == jobs_.end() || it->second.speed <= 0) continue;
    const JobState& state = it->second;
    const double left = std::max(state.remaining, 0.0) / state.speed;
    const auto nanoseconds = Duration(std::llround(std::min(left, 9e9) * 1e9));
    const Finish finish{job, std::max(state.from, state.booked) + nanoseconds, state.saying};
    if (!finishes.empty() && finishes.back().job == job) continue;
    finishes.push_back(finish);
  }
  return finishes;
}

bool JobProgress::Holds(const Finish& finish) const {
  const auto it = jobs_.find(finish.job);
  return it != jobs_.end() && it->second.saying == finish.saying;
}

}  // namespace synergy
