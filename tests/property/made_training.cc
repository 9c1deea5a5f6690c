#include "made_training.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "support/managed_pods.h"

namespace synergy::testing {
namespace {

constexpr double kStep = 0.1;  // seconds
constexpr Duration kAgentSees = std::chrono::seconds(1);
constexpr Duration kDecides = std::chrono::seconds(2);
constexpr Duration kGrows = std::chrono::seconds(5);

Duration ToDuration(double seconds) {
  return std::chrono::duration_cast<Duration>(Seconds(seconds));
}

double CoresOf(MilliCpu cpu) { return static_cast<double>(cpu.count()) / 1000; }

MilliCpu ToCpu(double cores) { return MilliCpu(std::llround(cores * 1000)); }

// Returns whether the step that ends `now` after the beginning contains a multiple of `every`.
bool IsTime(Duration now, Duration every) { return now % every < ToDuration(kStep); }

}  // namespace

MadeTraining::MadeTraining(MadeTrainer trainer, MadeNode node, uint64_t seed,
                           ProfilerSettings settings)
    : trainer_(std::move(trainer)),
      node_(node),
      random_(seed),
      profiler_(settings, *this),
      requested_(ToCpu(node.fair_share)) {
  Node machine = MakeNode("n1", {Gpus(4), ToCpu(node.cores), GiB(64)});
  machine.gpu_kinds.products = {"A100"};
  state_.UpsertNode(std::move(machine));
  Put();
}

void MadeTraining::Put() {
  ManagedContainer fungible;
  fungible.container = "train";
  fungible.workload = "w-1";
  fungible.requested = {Gpus(1), requested_, GiB(4)};
  fungible.in_force = fungible.set_aside = fungible.requested;
  fungible.floor = fungible.fair_share = {Gpus(1), ToCpu(node_.fair_share), GiB(4)};
  fungible.demand = fungible.floor;
  if (node_.strict) fungible.cpu_limit = requested_;
  fungible.reported = true;
  fungible.probe = annotation_;
  Pod pod = MakePod("train", fungible.requested);
  pod.node = "n1";
  pod.fungible = std::make_shared<const ManagedContainer>(std::move(fungible));
  state_.UpsertPod(std::move(pod));
}

bool MadeTraining::IsSlowPhase() const {
  if (trainer_.phase <= 0) return false;
  const double phases = Seconds(at_.now - begin_).count() / trainer_.phase;
  return (std::fmod(phases, 2) >= 1) != trainer_.slow_first;
}

double MadeTraining::Speed(double cores, bool slow_phase) const {
  if (trainer_.serial > 0) return 1 / (trainer_.serial + trainer_.cost / cores);
  const double loaders = std::min(trainer_.workers, std::max(cores - trainer_.spin, 0.02 * cores));
  const double cost = (slow_phase && trainer_.phase_of_cpu ? 2 : 1) * trainer_.cost;
  const double best = (slow_phase && !trainer_.phase_of_cpu ? 0.5 : 1) * trainer_.best;
  return std::min(best, loaders / cost);
}

double MadeTraining::TrueSpeed(MilliCpu cpu) const { return Speed(CoresOf(cpu)); }

void MadeTraining::Run(Duration time) {
  const Instant end = at_.now + time;
  while (at_.now < end) {
    at_.now += ToDuration(kStep);
    at_.wall += ToDuration(kStep);
    // From here on it acts as the node's agent.
    if (seen_ && at_.now >= *seen_) {
      seen_.reset();
      if (annotation_) quota_ = ProbeReading{annotation_->cpu, at_.wall, false};
      if (!annotation_) quota_.reset();
    }
    if (quota_ && annotation_ && at_.wall >= annotation_->until) quota_.reset();
    if (grow_at_ && at_.now >= *grow_at_ && (!annotation_ || annotation_->burst)) {
      grow_at_.reset();
      requested_ = ToCpu(node_.cores - 1);
      Put();
    }
    Train();
    const Duration since = at_.now - begin_;
    if (IsTime(since, std::chrono::seconds(1))) {
      use_seen_ = use_;
      use_seen_.at = at_.wall;
    }
    if (IsTime(since, node_.reports)) Report();
    if (IsTime(since, kDecides)) Decide();
  }
}

bool MadeTraining::IsBurst() const { return node_.strict && quota_ && quota_->cpu > requested_; }

void MadeTraining::Train() {
  const double now = Seconds(at_.now - begin_).count();
  if (IsTime(at_.now - begin_, std::chrono::seconds(1))) {
    // The sum of twelve uniform values is almost normal.
    double normal = -6;
    for (int i = 0; i < 12; ++i) normal += random_.Uniform();
    factor_ = std::max(0.2, 1 + trainer_.noise * normal);
    if (random_.Uniform() < trainer_.outliers) factor_ /= 3;
  }
  const bool slow_phase = IsSlowPhase();
  const bool stalls = trainer_.stall_every > 0 &&
                      std::fmod(now, trainer_.stall_every) >= trainer_.stall_every - trainer_.stall;
  double cap = CoresOf(requested_);
  if (!node_.strict) cap = std::min(node_.cores, cap + node_.idle);
  if (quota_) cap = IsBurst() ? CoresOf(quota_->cpu) : std::min(cap, CoresOf(quota_->cpu));
  const bool by_quota = quota_.has_value() || node_.strict;

  double iterations = 0;
  double used = 0;
  double wanted = 0;
  if (trainer_.serial > 0) {
    const double rate = stalls ? 0 : factor_ * Speed(cap);
    iterations = rate * kStep;
    used = iterations * trainer_.cost;
    wanted = rate > 0 ? used * 1.5 : 0;  // the training waits for CPU in all of its parallel part
  } else {
    const double spin = std::min(trainer_.spin, cap * 0.98) * kStep;
    const double cost = trainer_.cost * (slow_phase && trainer_.phase_of_cpu ? 2 : 1);
    const bool slow_gpu = slow_phase && !trainer_.phase_of_cpu;
    const double gpu = stalls ? 0 : (slow_gpu ? 0.5 : 1) * factor_ * trainer_.best * kStep;
    const double room = trainer_.queue - queue_ + gpu;
    const double loads = std::min(trainer_.workers * kStep, cap * kStep - spin) / cost;
    const double loaded = std::clamp(loads * factor_, 0.0, room);
    iterations = std::min(gpu, queue_ + loaded);
    queue_ += loaded - iterations;
    used = loaded * cost / factor_ + spin;
    wanted = std::min(room * cost, trainer_.workers * kStep) + trainer_.spin * kStep;
  }
  done_ += iterations;
  busy_ += trainer_.gpu_spins ? kStep : std::min(kStep, iterations / trainer_.best);
  use_.used += ToDuration(used);
  if (wanted > used * 1.001) {
    const double kept_back = std::min(wanted - used, kStep);
    if (by_quota) use_.throttled += ToDuration(kept_back);
    if (!by_quota) *use_.waited += ToDuration(kept_back);
  }
  if (quota_ && !IsBurst() && !stalls) {
    const double without = Speed(CoresOf(requested_), slow_phase) * kStep;
    lost_ += std::max(0.0, without - iterations);
  }
  if (!trainer_.silent && IsTime(at_.now - begin_, ToDuration(trainer_.line)) &&
      std::floor(done_) > reported_) {
    reported_ = std::floor(done_);
    reported_at_ = at_.wall;
  }
}

void MadeTraining::Report() {
  PodProgress progress;
  progress.uid = progress.name = "train";
  progress.pod_namespace = "team";
  progress.container = "train";
  if (reported_ > 0) {
    progress.format = "tqdm";
    progress.iterations = reported_;
    progress.last = reported_at_;
  }
  if (trainer_.reports_busy) progress.estimate = BusyEstimate{busy_, {}, at_.wall};
  progress.cpu = use_seen_;
  if (!node_.reports_waiting) progress.cpu->waited.reset();
  progress.probe = quota_;
  profiler_.Observe(memory_, progress, WallTime{} + std::chrono::hours(8), at_);
}

void MadeTraining::Decide() {
  profiler_.ObserveWaiting(memory_, state_.WaitingPods());
  const ProfilerPlan plan = profiler_.Plan(*state_.Snapshot(), memory_, at_);
  for (const ProfilerAction& action : plan.actions) {
    Carry(action);
    profiler_.OnResult(memory_, action, true, at_);
  }
}

void MadeTraining::Carry(const ProfilerAction& action) {
  switch (action.kind) {
    case ProfilerActionKind::kProbe:
      annotation_ = action.probe;
      if (!action.probe.burst) probes_.push_back(action.probe.cpu);
      break;
    case ProfilerActionKind::kEndProbe:
      annotation_.reset();
      break;
    case ProfilerActionKind::kPublish:
      published_ = action.measured;
      ++publications_;
      if (published_->confirmed && !confirmed_after_) confirmed_after_ = at_.now - begin_;
      if (node_.grows && published_->points.back().certainty == PointCertainty::kGuess &&
          requested_ < published_->points.back().cpu) {
        grow_at_ = at_.now + kGrows;
      }
      return;
  }
  seen_ = at_.now + kAgentSees;
  Put();
}

std::shared_ptr<const MeasuredProfile> MadeTraining::Find(const std::string&,
                                                          const std::string&) const {
  return published_ ? std::make_shared<const MeasuredProfile>(*published_) : nullptr;
}

}  // namespace synergy::testing
