// Retries over generated histories: nothing but repeated deterministic failures of a user's
// template suspends a job, and those do after as many as their category says.

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "engine/retries/retries.h"

namespace synergy::testing {
namespace {

using namespace std::chrono_literals;
using Kind = RetryDecision::Kind;

constexpr WallTime kStart{Duration(std::chrono::hours(500'000))};

Category AnyCategory() {
  // Few of them, so that failures repeat.
  return *rc::gen::element(Category::kImport, Category::kGpuOom, Category::kProgramming,
                           Category::kInputMissing, Category::kHostOom, Category::kNetwork,
                           Category::kSegfault, Category::kEvicted, Category::kUnknown);
}

FailedAttempt AnyAttempt(WallTime after) {
  FailedAttempt attempt;
  attempt.category = AnyCategory();
  attempt.outcome = EntryOf(attempt.category).outcome;
  if (*rc::gen::inRange(0, 6) == 0) {
    attempt.outcome = {*rc::gen::element(Cause::kUser, Cause::kSynergy, Cause::kEngine),
                       *rc::gen::element(Behaviour::kTransient, Behaviour::kUnknown),
                       Advice::kRetry};
  }
  attempt.started = after + std::chrono::seconds(*rc::gen::inRange(0, 400));
  attempt.failed = attempt.started + std::chrono::seconds(*rc::gen::element(5, 200, 599, 900));
  attempt.template_hash = *rc::gen::element<std::string>("t", "t", "t", "u", "");
  attempt.image_id = *rc::gen::element<std::string>("i", "i", "i", "j", "");
  attempt.nodes = {fmt::format("n{}", *rc::gen::inRange(0, 8))};
  if (*rc::gen::inRange(0, 5) != 0) attempt.iterations = *rc::gen::element(0, 0, 50);
  attempt.shared_gpu = *rc::gen::inRange(0, 5) == 0;
  if (*rc::gen::inRange(0, 2) == 0) attempt.chosen_memory = MiB(*rc::gen::inRange(1, 100'000));
  if (*rc::gen::inRange(0, 3) == 0) attempt.fair_memory = MiB(*rc::gen::inRange(1, 100'000));
  attempt.oom_killed = attempt.category == Category::kHostOom && *rc::gen::inRange(0, 4) != 0;
  return attempt;
}

WorkloadMemory AnyMemory() {
  WorkloadMemory memory{.given = *rc::gen::inRange(0, 6) == 0};
  memory.process = MiB(*rc::gen::inRange(1, 100'000));
  if (*rc::gen::inRange(0, 2) == 0) {
    memory.raise = MemoryRaise{.process = memory.process, .times = *rc::gen::inRange(1, 4)};
  }
  if (*rc::gen::inRange(0, 2) == 0) memory.most = MiB(*rc::gen::inRange(1, 200'000));
  return memory;
}

FailingJob AnyJob() {
  FailingJob job{.job_namespace = "team"};
  const int attempts = *rc::gen::inRange(0, 12);
  WallTime at = kStart;
  for (int i = 0; i < attempts; ++i) {
    // Often the same failure again.
    FailedAttempt next = AnyAttempt(at);
    if (!job.attempts.empty() && *rc::gen::inRange(0, 2) == 0) {
      const Duration ran = next.failed - next.started;
      const WallTime started = next.started;
      next = job.attempts.back();
      next.started = started;
      next.failed = started + ran;
    }
    at = next.failed;
    job.attempts.push_back(std::move(next));
  }
  job.independent_completions = *rc::gen::inRange(0, 8) == 0;
  if (*rc::gen::inRange(0, 4) == 0)
    job.resumed = kStart + std::chrono::seconds(*rc::gen::inRange(0, 3000));
  if (*rc::gen::inRange(0, 3) != 0) job.memory = AnyMemory();
  return job;
}

RetryActions AnyActions() {
  return {*rc::gen::arbitrary<bool>(), *rc::gen::arbitrary<bool>(), *rc::gen::arbitrary<bool>()};
}

// The rules of docs/failures.md for one attempt, written from there.
bool IsFutile(const FailingJob& job, const FailedAttempt& one) {
  const std::string name(ToString(one.category));
  const FailedAttempt& last = job.attempts.back();
  const bool category = name == "import" || name == "input-missing" ||
                        (name == "gpu-oom" && !one.shared_gpu) ||
                        (name == "programming" && one.iterations && *one.iterations == 0);
  return category && one.category == last.category && one.outcome.cause == Cause::kUser &&
         one.outcome.behaviour == Behaviour::kDeterministic && one.failed - one.started <= 10min &&
         !one.image_id.empty() && one.image_id == last.image_id && !one.template_hash.empty() &&
         one.template_hash == last.template_hash && (!job.resumed || one.started >= *job.resumed);
}

RC_GTEST_PROP(RetriesProperty, OnlyRepeatedDeterministicUserFailuresSuspend, ()) {
  const FailingJob job = AnyJob();
  const RetryActions actions = AnyActions();
  const WallTime now = job.attempts.empty() ? kStart : job.attempts.back().failed;
  const RetryDecision decision = DecideRetry(job, actions, SuspensionLimit(), now);
  if (decision.kind == Kind::kPreferOtherNodes) {
    RC_ASSERT(actions.elsewhere);
    RC_ASSERT(job.attempts.back().outcome.cause == Cause::kInfrastructure);
    RC_ASSERT(decision.until > now);
    // Few nodes, each of a failure that has not lapsed, and among them that of the last one.
    const std::set<std::string> nodes(decision.nodes.begin(), decision.nodes.end());
    RC_ASSERT(nodes.size() == decision.nodes.size());
    RC_ASSERT(nodes.size() <= 4U);
    RC_ASSERT(nodes.contains(job.attempts.back().nodes.front()));
    for (const std::string& node : nodes) {
      RC_ASSERT(std::any_of(job.attempts.begin(), job.attempts.end(), [&](const auto& attempt) {
        return attempt.nodes.front() == node && now - attempt.failed < 1h &&
               attempt.outcome.cause == Cause::kInfrastructure;
      }));
    }
  }
  if (decision.kind == Kind::kEnlargeMemory) {
    RC_ASSERT(actions.larger);
    const FailedAttempt& last = job.attempts.back();
    RC_ASSERT(last.category == Category::kHostOom && last.oom_killed);
    RC_ASSERT(last.chosen_memory.has_value());
    RC_ASSERT(job.memory && !job.memory->given);
    RC_ASSERT(!job.memory->raise || job.memory->raise->times < 2);
    // Larger than before, by half at most, and within every bound.
    RC_ASSERT(decision.next_memory > *last.chosen_memory);
    RC_ASSERT(decision.next_memory.count() <= last.chosen_memory->count() * 3 / 2);
    RC_ASSERT(decision.next_memory <= job.memory->most);
    RC_ASSERT(!last.fair_memory || decision.next_memory <= *last.fair_memory);
    RC_ASSERT(decision.raise.process > job.memory->process);
    // Seen again, by this leader or the next, it raises nothing.
    FailingJob again = job;
    again.memory->process = decision.raise.process;
    again.memory->raise = decision.raise;
    const RetryDecision second = DecideRetry(again, actions, SuspensionLimit(), now + 1min);
    RC_ASSERT(second.memory_outcome == MemoryOutcome::kLarger);
    RC_ASSERT(second.next_memory == decision.next_memory);
  }
  if (decision.kind != Kind::kSuspend) return;
  RC_ASSERT(actions.stop_futile);
  RC_ASSERT(!job.independent_completions);
  const bool apart = job.attempts.back().category == Category::kInputMissing;
  // Counts backwards over the attempts that fail alike without a break.
  std::vector<WallTime> ends;
  for (size_t i = job.attempts.size(); i > 0 && IsFutile(job, job.attempts[i - 1]); --i)
    ends.insert(ends.begin(), job.attempts[i - 1].failed);
  RC_ASSERT(ends.size() >= (apart ? 3U : 2U));
  if (apart) RC_ASSERT(ends.back() - ends.front() >= 10min);
}

// Returns how often a job with this failure is retried until it is suspended; at most 20 times.
size_t Retries(const FailedAttempt& failure, Duration apart) {
  FailingJob job{.job_namespace = "team"};
  for (size_t retries = 0; retries < 20; ++retries) {
    FailedAttempt next = failure;
    const Duration ran = failure.failed - failure.started;
    next.started = kStart + (apart + ran) * static_cast<int64_t>(retries);
    next.failed = next.started + ran;
    job.attempts.push_back(next);
    if (DecideRetry(job, {.stop_futile = true}, SuspensionLimit(), next.failed).kind ==
        Kind::kSuspend)
      return retries;
  }
  return 20;
}

RC_GTEST_PROP(RetriesProperty, AtMostOneRetryIsFutileAndTwoWhereFailuresMustBeApart, ()) {
  FailedAttempt failure = AnyAttempt(kStart);
  FailingJob job{.job_namespace = "team", .attempts = {failure}};
  const bool futile = IsFutile(job, failure);
  const size_t retries = Retries(failure, 5min);
  if (!futile) {
    RC_ASSERT(retries == 20U);
    return;
  }
  const bool apart = failure.category == Category::kInputMissing;
  RC_ASSERT(retries == (apart ? 2U : 1U));
  // Sooner retries of those that must be apart count as one.
  if (apart) RC_ASSERT(Retries(failure, 0s) >= 2U);
}

// Pods of one workload that are killed at what admission gave them, at whatever they had when their
// failure is seen late, or not at all; the profile is measured meanwhile.
RC_GTEST_PROP(RetriesProperty, HoweverOftenPodsAreKilledMemoryIsRaisedTwice, ()) {
  WorkloadMemory known{.process = MiB(*rc::gen::inRange(100, 1000)), .most = GiB(64)};
  const Bytes measured = known.process;
  std::vector<Bytes> given = {WithMargin(known.process)};
  int32_t raises = 0;
  WallTime now = kStart;
  for (int i = 0; i < 30; ++i) {
    now += 1min;
    FailedAttempt killed;
    killed.category = Category::kHostOom;
    killed.outcome = EntryOf(Category::kHostOom).outcome;
    killed.oom_killed = true;
    killed.started = killed.failed = now;
    killed.chosen_memory = *rc::gen::elementOf(given);
    FailingJob job{.job_namespace = "team", .attempts = {killed}, .memory = known};
    const RetryDecision decision = DecideRetry(job, {.larger = true}, SuspensionLimit(), now);
    if (decision.kind == Kind::kEnlargeMemory) {
      RC_ASSERT(++raises <= 2);
      known.raise = decision.raise;
      known.process = decision.raise.process;
    }
    given.push_back(WithMargin(known.process));
    RC_ASSERT(known.process.count() <= measured.count() * 9 / 4 + 8);
  }
}

RC_GTEST_PROP(RetriesProperty, TheLimitHoldsWhateverFails, ()) {
  SuspensionLimit limit({.in_namespace = 3, .in_all = 5, .within = 1h});
  std::vector<std::pair<std::string, WallTime>> suspended;
  WallTime now = kStart;
  for (int i = 0; i < 40; ++i) {
    now += std::chrono::minutes(*rc::gen::inRange(0, 20));
    FailedAttempt failure = AnyAttempt(now);
    failure.category = Category::kImport;
    failure.outcome = EntryOf(failure.category).outcome;
    failure.template_hash = failure.image_id = "x";
    failure.failed = failure.started + 1s;
    FailingJob job{.job_namespace = *rc::gen::element<std::string>("a", "b", "c")};
    job.attempts = {failure, failure};
    if (DecideRetry(job, {.stop_futile = true}, limit, now).kind != Kind::kSuspend) continue;
    limit.Note(job.job_namespace, now);
    suspended.emplace_back(job.job_namespace, now);
    const auto recent = [&](const std::string& name) {
      return std::count_if(suspended.begin(), suspended.end(), [&](const auto& entry) {
        return now - entry.second < 1h && (name.empty() || entry.first == name);
      });
    };
    RC_ASSERT(recent("") <= 5);
    RC_ASSERT(recent(job.job_namespace) <= 3);
  }
}

}  // namespace
}  // namespace synergy::testing
