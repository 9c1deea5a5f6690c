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
  if (*rc::gen::inRange(0, 2) == 0) attempt.chosen_memory = GiB(*rc::gen::inRange(1, 100));
  return attempt;
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
  job.enlarged = *rc::gen::inRange(0, 4);
  if (*rc::gen::inRange(0, 2) == 0) job.memory_room = GiB(*rc::gen::inRange(0, 60));
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
    RC_ASSERT(job.enlarged < 2);
    RC_ASSERT(job.attempts.back().category == Category::kHostOom);
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
