#include "sim/failures/failing_jobs.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "core/check.h"
#include "core/random.h"
#include "core/rounding.h"
#include "engine/retries/prerun.h"

namespace synergy {
namespace {

// The largest fraction of the remaining time at the fair share after which an attempt fails.
constexpr double kLatest = 0.9;
// The Job controller's backoff after failures of a Job's pods.
constexpr Duration kFirstBackoff = std::chrono::seconds(10);
constexpr Duration kMostBackoff = std::chrono::minutes(6);
// The first number of the draws of pods; the numbers of all other draws are lower.
constexpr uint64_t kPodDraws = 1ULL << 32;
// The least running time of an attempt.
constexpr Duration kLeast = std::chrono::milliseconds(1);
// All jobs of a simulation are in one namespace, and each has its own template and image.
constexpr const char* kNamespace = "training";

// Returns a generator whose numbers depend only on these three values.
Random RandomOf(uint64_t seed, uint64_t job, uint64_t draw) {
  Random mixed(seed ^ (job * 0x9E3779B97F4A7C15U));
  return Random(mixed.Next() ^ (draw * 0xD1B54A32D192ED03U));
}

double StandardNormal(Random& random) {
  const double radius = std::sqrt(-2 * std::log1p(-random.Uniform()));
  return radius * std::cos(2 * std::numbers::pi * random.Uniform());
}

const FailureAssumption* DrawFailure(const std::vector<FailureAssumption>& assumptions,
                                     double drawn) {
  for (const FailureAssumption& assumption : assumptions) {
    if (drawn < assumption.jobs) return &assumption;
    drawn -= assumption.jobs;
  }
  return nullptr;
}

// Follows the rules of failure/classify.cc.
Outcome OutcomeOf(Category category, bool trained) {
  Outcome outcome = EntryOf(category).outcome;
  const bool by_training =
      category == Category::kProgramming || category == Category::kConfiguration;
  if (by_training && trained) {
    outcome.behaviour = Behaviour::kUnknown;
    outcome.advice = Advice::kRetry;
  }
  return outcome;
}

bool HaveCommon(const std::vector<std::string>& nodes, const std::vector<std::string>& others) {
  return std::any_of(nodes.begin(), nodes.end(), [&](const std::string& node) {
    return std::find(others.begin(), others.end(), node) != others.end();
  });
}

Duration BackoffAfter(size_t failures) {
  Duration backoff = kFirstBackoff;
  for (size_t i = 1; i < failures && backoff < kMostBackoff; ++i) backoff *= 2;
  return std::min(backoff, kMostBackoff);
}

}  // namespace

FailingJobs::FailingJobs(const FailureSettings& settings, std::span<const Job> jobs)
    : settings_(settings) {
  for (const Job& job : jobs) {
    JobState& state = jobs_.emplace_back();
    state.job = job;
    state.history.job_namespace = kNamespace;
    state.failure = DrawFailure(settings.assumptions, RandomOf(settings.seed, job.id, 0).Uniform());
  }
}

Duration FailingJobs::FailsAfter(const JobState& state, size_t attempt) const {
  Random random = RandomOf(settings_.seed, state.job.id, 2 * attempt + 1);
  const double median = state.failure->median.count();
  const double sigma = std::sqrt(2 * std::log(state.failure->mean.count() / median));
  const double drawn = median * std::exp(sigma * StandardNormal(random));
  const double left = state.job.ideal.count() - Seconds(state.kept).count();
  return std::max(ToDuration(Seconds(std::min(drawn, kLatest * left))), kLeast);
}

bool FailingJobs::FailsAgain(const JobState& state, const std::vector<std::string>& nodes) const {
  const std::vector<FailedAttempt>& before = state.history.attempts;
  if (before.empty()) return true;
  const double drawn = RandomOf(settings_.seed, state.job.id, 2 * before.size() + 2).Uniform();
  const bool same_node = HaveCommon(nodes, before.back().nodes);
  return drawn < (same_node ? state.failure->again_same_node : state.failure->again);
}

void FailingJobs::CountBusy(Instant now) {
  figures_.busy += Seconds(now - busy_since_) * static_cast<double>(busy_.count());
  busy_since_ = now;
}

Seconds FailingJobs::GpuTime(const JobState& state, Duration time) {
  return Seconds(time) * static_cast<double>(state.job.gpus.count());
}

std::optional<Duration> FailingJobs::Run(size_t job, std::vector<std::string> nodes, Moment at) {
  JobState& state = jobs_[job];
  SYNERGY_CHECK(!state.running_since, "a job that runs does not start");
  CountBusy(at.now);
  ClosePrerun(state, at.now);
  busy_ += state.job.gpus;
  state.running_since = at.now;
  if (!state.attempt) {
    Attempt& attempt = state.attempt.emplace();
    attempt.started = at.wall;
    if (state.failure != nullptr && FailsAgain(state, nodes))
      attempt.fails_after = FailsAfter(state, state.history.attempts.size());
  }
  state.attempt->nodes = std::move(nodes);
  if (!state.attempt->fails_after) return std::nullopt;
  return std::max(*state.attempt->fails_after - state.attempt->ran, Duration::zero());
}

void FailingJobs::Pause(size_t job, Moment at) {
  JobState& state = jobs_[job];
  if (!state.running_since) return;
  CountBusy(at.now);
  busy_ -= state.job.gpus;
  state.attempt->ran += at.now - *state.running_since;
  state.running_since.reset();
}

bool FailingJobs::IsToFail(size_t job) const {
  return jobs_[job].attempt && jobs_[job].attempt->fails_after;
}

FailingJobs::End FailingJobs::Fail(size_t job, Moment at) {
  Pause(job, at);
  JobState& state = jobs_[job];
  const Attempt attempt = *std::exchange(state.attempt, std::nullopt);
  const Category category = state.failure->category;
  const bool trained = attempt.ran >= settings_.first_iteration;
  const Outcome outcome = OutcomeOf(category, trained);
  std::optional<size_t> pod;
  std::vector<std::string> nodes = attempt.nodes;
  if (outcome.cause == Cause::kInfrastructure && nodes.size() > 1) {
    Random random =
        RandomOf(settings_.seed, state.job.id, kPodDraws + state.history.attempts.size());
    pod = random.Below(nodes.size());
    nodes = {nodes[*pod]};
  }
  ++figures_.trials;
  FailedAttempt failed{.category = category,
                       .outcome = outcome,
                       .started = attempt.started,
                       .failed = at.wall,
                       .template_hash = "template",
                       .image_id = "image",
                       .nodes = std::move(nodes)};
  failed.iterations = trained ? 1 : 0;
  state.history.attempts.push_back(std::move(failed));
  const size_t failures = state.history.attempts.size();
  const RetryDecision decision = DecideRetry(state.history, settings_.actions, limit_, at.wall);
  const bool stops = decision.kind == RetryDecision::Kind::kSuspend;
  if (stops) limit_.Note(state.history.job_namespace, at.wall);
  Seconds& lost = figures_.lost.at(static_cast<size_t>(outcome.cause));
  if (stops || failures >= state.failure->tries) {
    // Checkpoints of a job that never completes are useless.
    lost += GpuTime(state, state.kept + attempt.ran);
    state.kept = {};
    ++figures_.failed_jobs;
    figures_.stopped_jobs += stops ? 1 : 0;
    return {};
  }
  Duration kept{};
  if (const Duration each = ToDuration(state.failure->checkpoint); each > Duration::zero())
    kept = attempt.ran / each * each;
  state.kept += kept;
  lost += GpuTime(state, attempt.ran - kept);
  End end{.retry_after = BackoffAfter(failures), .pod = pod};
  end.kept = Seconds(kept) / Seconds(std::max(attempt.ran, kLeast));
  if (decision.kind == RetryDecision::Kind::kPreferOtherNodes) {
    end.avoid = decision.nodes;
    end.until = decision.until;
  }
  return end;
}

void FailingJobs::Pass(size_t job, Moment at) {
  Pause(job, at);
  JobState& state = jobs_[job];
  const Attempt attempt = *std::exchange(state.attempt, std::nullopt);
  figures_.useful += GpuTime(state, std::exchange(state.kept, Duration::zero()) + attempt.ran);
}

std::optional<Duration> FailingJobs::BeginPrerun(size_t job, Moment at) {
  if (!settings_.prerun) return std::nullopt;
  CountBusy(at.now);
  JobState& state = jobs_[job];
  state.prerun_since = at.now;
  busy_ += Gpus(1);
  ++figures_.preruns;
  if (state.failure == nullptr) return settings_.prerun_limit;
  return std::min(settings_.prerun_limit, FailsAfter(state, 0));
}

void FailingJobs::ClosePrerun(JobState& state, Instant now) {
  if (!state.prerun_since) return;
  figures_.prerun += Seconds(now - *state.prerun_since);
  busy_ -= Gpus(1);
  state.prerun_since.reset();
}

bool FailingJobs::EndPrerun(size_t job, Moment at) {
  JobState& state = jobs_[job];
  if (!state.prerun_since) return false;
  CountBusy(at.now);
  const bool failed = state.failure != nullptr &&
                      at.now - *state.prerun_since >= FailsAfter(state, 0) &&
                      PreventsStart({.category = state.failure->category,
                                     .outcome = EntryOf(state.failure->category).outcome});
  ClosePrerun(state, at.now);
  if (!failed) return false;
  ++figures_.failed_jobs;
  ++figures_.caught_jobs;
  return true;
}

FailureFigures FailingJobs::TakeFigures(Moment at) {
  for (size_t job = 0; job < jobs_.size(); ++job) {
    if (jobs_[job].prerun_since) {
      CountBusy(at.now);
      ClosePrerun(jobs_[job], at.now);
    }
    Pause(job, at);
    JobState& state = jobs_[job];
    if (state.attempt) figures_.useful += GpuTime(state, state.attempt->ran);
    figures_.useful += GpuTime(state, state.kept);
  }
  return figures_;
}

}  // namespace synergy
