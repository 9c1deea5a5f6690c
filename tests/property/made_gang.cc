#include "made_gang.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "support/managed_pods.h"

namespace synergy::testing {
namespace {

constexpr Duration kStep = std::chrono::milliseconds(500);
constexpr Duration kAgentSees = std::chrono::seconds(1);
constexpr Duration kDecides = std::chrono::seconds(2);
// The agent reads the CPU time of a pod with a silent log at most this often.
constexpr Duration kSilentCpu = std::chrono::seconds(10);
// Difference between the clocks of two nodes.
constexpr Duration kSkew = std::chrono::milliseconds(700);

Duration ToTime(double seconds) { return std::chrono::duration_cast<Duration>(Seconds(seconds)); }

}  // namespace

MadeGang::MadeGang(MadeGangRules rules, uint64_t seed)
    : rules_(std::move(rules)), random_(seed), profiler_({}, *this) {
  for (const MadeMember& made : rules_.members) {
    Member member{.made = made, .name = fmt::format("p{}", members_.size()), .cores = made.cores};
    state_.UpsertNode(MakeNode("node-of-" + member.name, {Gpus(4), FromCores(made.node), GiB(64)}));
    members_.push_back(std::move(member));
    Put(members_.back());
  }
}

void MadeGang::Put(const Member& member) {
  ManagedContainer fungible;
  fungible.container = "train";
  fungible.workload = "w-1";
  fungible.requested = {Gpus(1), FromCores(member.cores), GiB(4)};
  fungible.in_force = fungible.set_aside = fungible.requested;
  fungible.floor = fungible.demand = {Gpus(1), FromCores(member.made.cores), GiB(4)};
  fungible.fair_share = {Gpus(1), Cores(3), GiB(4)};
  if (rules_.strict) fungible.cpu_limit = fungible.requested.cpu;
  fungible.reported = true;
  fungible.probe = member.annotation;
  Pod pod = MakePod(member.name, fungible.requested);
  pod.node = "node-of-" + member.name;
  pod.fungible = std::make_shared<const ManagedContainer>(std::move(fungible));
  pod.gang = std::make_shared<const Gang>(
      Gang{"team/gang", static_cast<int32_t>(rules_.members.size()), {}});
  state_.UpsertPod(std::move(pod));
}

double MadeGang::TrueCost() const {
  double most = 0;
  for (const Member& member : members_) most = std::max(most, member.made.cost);
  return most;
}

double MadeGang::TrueSpeed(MilliCpu cpu) const {
  return std::min(rules_.best, InCores(cpu) / TrueCost());
}

double MadeGang::CapOf(const Member& member) const {
  return member.quota ? std::min(member.cores, InCores(member.quota->cpu)) : member.cores;
}

void MadeGang::Run(Duration time) {
  const Instant end = at_.now + time;
  while (at_.now < end) {
    at_.now += kStep;
    at_.wall += kStep;
    size_t probed = 0;
    for (Member& member : members_) {
      if (member.seen && at_.now >= *member.seen) {
        member.seen.reset();
        member.quota.reset();
        if (member.annotation) member.quota = ProbeReading{member.annotation->cpu, at_.wall, false};
      }
      if (member.quota && at_.wall >= member.annotation->until) member.quota.reset();
      if (member.quota) ++probed;
    }
    most_probed_at_once_ = std::max(most_probed_at_once_, probed);
    Train();
    for (size_t i = 0; i < members_.size(); ++i) {
      if ((at_.now - begin_ + i * kStep) % rules_.reports < kStep) Report(i);
    }
    if ((at_.now - begin_) % kDecides < kStep) Decide();
  }
}

void MadeGang::Train() {
  if ((at_.now - begin_) % std::chrono::seconds(1) < kStep) {
    double normal = -6;  // the sum of twelve uniform values is almost normal
    for (int i = 0; i < 12; ++i) normal += random_.Uniform();
    factor_ = std::max(0.2, 1 + rules_.noise * normal);
  }
  double slowest = rules_.best;
  double unprobed = rules_.best;
  for (const Member& member : members_) {
    slowest = std::min(slowest, CapOf(member) / member.made.cost);
    unprobed = std::min(unprobed, member.cores / member.made.cost);
  }
  const double seconds = Seconds(kStep).count();
  done_ += factor_ * slowest * seconds;
  lost_ += factor_ * (unprobed - slowest) * seconds;
  for (Member& member : members_) {
    const double cap = CapOf(member);
    const double able = cap / member.made.cost;
    const bool sets_the_pace = able <= slowest * 1.001;
    const double spin = sets_the_pace ? 0 : rules_.spin;
    const double used = std::min(cap, slowest * member.made.cost + spin);
    member.use.used += ToTime(used * seconds);
    if (!sets_the_pace || able >= rules_.best) continue;
    const bool by_quota = rules_.strict || member.quota;
    (by_quota ? member.use.throttled : *member.use.waited) += ToTime(seconds / 2);
  }
}

void MadeGang::Report(size_t index) {
  Member& member = members_[index];
  const WallTime clock = at_.wall + index * kSkew;
  if (member.made.logs || clock - member.last_use.at >= kSilentCpu) {
    member.last_use = member.use;
    member.last_use.at = clock;
  }
  PodProgress progress;
  progress.uid = progress.name = member.name;
  progress.pod_namespace = "team";
  progress.container = "train";
  if (member.made.logs && std::floor(done_) > 0) {
    progress.format = "tqdm";
    progress.iterations = std::floor(done_);
    progress.last = clock;
  }
  progress.cpu = member.last_use;
  progress.probe = member.quota;
  profiler_.Observe(memory_, progress, WallTime{} + std::chrono::hours(8), at_);
}

void MadeGang::Decide() {
  Grow();
  const ProfilerPlan plan = profiler_.Plan(*state_.Snapshot(), memory_, at_);
  for (const ProfilerAction& action : plan.actions) {
    Carry(action);
    profiler_.OnResult(memory_, action, true, at_);
  }
}

void MadeGang::Carry(const ProfilerAction& action) {
  if (action.kind != ProfilerActionKind::kPublish) {
    const bool begins = action.kind == ProfilerActionKind::kProbe;
    if (begins) ++probes_;
    for (Member& member : members_) {
      if (member.name != action.pod->name) continue;
      if (begins) member.annotation = action.probe;
      if (!begins) member.annotation.reset();
      if (!begins) member.quota.reset();
      member.seen = at_.now + kAgentSees;
      Put(member);
    }
    return;
  }
  published_ = action.measured;
  if (published_->confirmed && !confirmed_after_) confirmed_after_ = at_.now - begin_;
}

// The tuner gives each member the free CPU of its node.
void MadeGang::Grow() {
  if (!published_ || published_->points.back().certainty != PointCertainty::kGuess) return;
  const bool any_probed = std::any_of(members_.begin(), members_.end(), [](const Member& member) {
    return member.annotation.has_value();
  });
  if (any_probed) return;
  for (Member& member : members_) {
    const double more = std::min(member.made.node - 1, InCores(published_->points.back().cpu));
    if (member.cores >= more) continue;
    member.cores = more;
    Put(member);
  }
}

std::shared_ptr<const MeasuredProfile> MadeGang::Find(const std::string&,
                                                      const std::string&) const {
  return published_ ? std::make_shared<const MeasuredProfile>(*published_) : nullptr;
}

}  // namespace synergy::testing
