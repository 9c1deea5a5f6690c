#include "engine/retries/retries.h"

#include <chrono>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = RetryDecision::Kind;

constexpr WallTime kStart{Duration(std::chrono::hours(500'000))};
constexpr RetryActions kAll{.stop_futile = true, .elsewhere = true, .larger = true};

// An attempt that began this long after kStart.
FailedAttempt Attempt(Category category, Duration began = {}, Duration ran = 30s) {
  return {.category = category,
          .outcome = EntryOf(category).outcome,
          .started = kStart + began,
          .failed = kStart + began + ran,
          .template_hash = "t1",
          .image_id = "sha256:1",
          .nodes = {"n1"},
          .iterations = 0};
}

FailingJob JobOf(std::vector<FailedAttempt> attempts) {
  return {.job_namespace = "team", .attempts = std::move(attempts)};
}

RetryDecision Decide(const FailingJob& job, const RetryActions& actions = kAll) {
  const WallTime now = job.attempts.empty() ? kStart : job.attempts.back().failed;
  return DecideRetry(job, actions, SuspensionLimit(), now);
}

TEST(Retries, ActionsAreReadAndOthersRefused) {
  EXPECT_EQ(*ParseRetryActions(""), RetryActions{});
  EXPECT_EQ(*ParseRetryActions("elsewhere,stop-futile"),
            (RetryActions{.stop_futile = true, .elsewhere = true}));
  EXPECT_EQ(*ParseRetryActions("larger"), RetryActions{.larger = true});
  for (const char* wrong : {"stop", "stop-futile,,larger", "stop-futile larger", ","}) {
    const auto parsed = ParseRetryActions(wrong);
    ASSERT_FALSE(parsed) << wrong;
    EXPECT_THAT(parsed.error().message, HasSubstr("stop-futile, elsewhere and larger")) << wrong;
  }
}

TEST(Retries, TheSecondLikeFailureSuspendsTheJobWithItsReason) {
  FailingJob job = JobOf({Attempt(Category::kImport)});
  EXPECT_EQ(Decide(job).kind, Kind::kNothing);
  job.attempts.push_back(Attempt(Category::kImport, 1min));
  const RetryDecision decision = Decide(job);
  EXPECT_EQ(decision.kind, Kind::kSuspend);
  EXPECT_EQ(decision.reason,
            "the last 2 attempts of this template and image failed alike within 10 minutes of "
            "their starts: import: a Python module or a name in it is missing");
  EXPECT_EQ(Decide(job, {}).kind, Kind::kNothing);
  EXPECT_EQ(Decide(job, {.elsewhere = true, .larger = true}).kind, Kind::kNothing);
}

TEST(Retries, EachCategoryStopsAsInItsTable) {
  for (const CategoryEntry& entry : CategoryEntries()) {
    SCOPED_TRACE(entry.name);
    FailingJob job;
    size_t failures = 0;
    while (failures < 9 && Decide(job, {.stop_futile = true}).kind == Kind::kNothing) {
      job.attempts.push_back(Attempt(entry.category, 6min * failures));
      ++failures;
    }
    EXPECT_EQ(failures, entry.stops == StopsAfter::kNever        ? 9U
                        : entry.stops == StopsAfter::kThreeApart ? 3U
                                                                 : 2U);
  }
}

TEST(Retries, FailuresNearToEachOtherCountAsOneWhereTheyMustBeApart) {
  FailingJob job;
  for (const Duration began : {0min, 1min, 2min, 6min, 8min})
    job.attempts.push_back(Attempt(Category::kInputMissing, began));
  EXPECT_EQ(Decide(job).kind, Kind::kNothing);
  job.attempts.push_back(Attempt(Category::kInputMissing, 11min));
  EXPECT_EQ(Decide(job).kind, Kind::kSuspend);
}

TEST(Retries, AnythingThatDiffersBetweenTheFailuresIsNoRepetition) {
  const FailedAttempt one = Attempt(Category::kProgramming);
  const auto differs = [&](auto change) {
    FailedAttempt other = Attempt(Category::kProgramming, 1min);
    change(other);
    return Decide(JobOf({one, other})).kind == Kind::kNothing &&
           Decide(JobOf({other, one})).kind == Kind::kNothing;
  };
  EXPECT_FALSE(differs([](FailedAttempt&) {}));
  EXPECT_TRUE(differs([](FailedAttempt& other) { other.category = Category::kConfiguration; }));
  EXPECT_TRUE(differs([](FailedAttempt& other) { other.image_id = "sha256:2"; }));
  EXPECT_TRUE(differs([](FailedAttempt& other) { other.image_id.clear(); }));
  EXPECT_TRUE(differs([](FailedAttempt& other) { other.template_hash = "t2"; }));
  EXPECT_TRUE(differs([](FailedAttempt& other) { other.template_hash.clear(); }));
  EXPECT_TRUE(differs([](FailedAttempt& other) { other.iterations = 7; }));
  EXPECT_TRUE(differs([](FailedAttempt& other) { other.iterations.reset(); }));
  EXPECT_TRUE(differs([](FailedAttempt& other) { other.failed = other.started + 601s; }));
  EXPECT_TRUE(differs([](FailedAttempt& other) { other.failed = other.started - 1s; }));
  EXPECT_TRUE(differs([](FailedAttempt& other) { other.outcome.cause = Cause::kSynergy; }));
  EXPECT_TRUE(differs([](FailedAttempt& other) { other.outcome.behaviour = Behaviour::kUnknown; }));
}

TEST(Retries, AFailureOfAnotherKindBetweenEndsTheRow) {
  FailingJob job = JobOf({Attempt(Category::kSyntax), Attempt(Category::kNetwork, 1min),
                          Attempt(Category::kSyntax, 2min)});
  EXPECT_EQ(Decide(job).kind, Kind::kNothing);
  job.attempts.push_back(Attempt(Category::kSyntax, 3min));
  EXPECT_EQ(Decide(job).kind, Kind::kSuspend);
}

TEST(Retries, ASharedGpuIsNoReasonToStop) {
  FailedAttempt shared = Attempt(Category::kGpuOom, 1min);
  shared.shared_gpu = true;
  EXPECT_EQ(Decide(JobOf({Attempt(Category::kGpuOom), shared})).kind, Kind::kNothing);
}

TEST(Retries, AnArrayIsNeverSuspended) {
  FailingJob job = JobOf({Attempt(Category::kSyntax), Attempt(Category::kSyntax, 1min)});
  job.independent_completions = true;
  const RetryDecision decision = Decide(job);
  EXPECT_EQ(decision.kind, Kind::kNothing);
  EXPECT_THAT(decision.reason, HasSubstr("other completions"));
}

TEST(Retries, AResumedJobIsJudgedByItsLaterAttempts) {
  FailingJob job = JobOf({Attempt(Category::kSyntax), Attempt(Category::kSyntax, 1min),
                          Attempt(Category::kSyntax, 10min)});
  job.resumed = kStart + 9min;
  EXPECT_EQ(Decide(job).kind, Kind::kNothing);
  job.attempts.push_back(Attempt(Category::kSyntax, 11min));
  EXPECT_EQ(Decide(job).kind, Kind::kSuspend);
}

TEST(Retries, SuspensionsAreLimitedByNamespaceAndInAll) {
  SuspensionLimit limit({.in_namespace = 1, .in_all = 2, .within = 1h});
  const FailingJob job = JobOf({Attempt(Category::kSyntax), Attempt(Category::kSyntax, 1min)});
  const auto decide = [&](WallTime now) {
    return DecideRetry(job, {.stop_futile = true}, limit, now);
  };
  EXPECT_EQ(decide(kStart).kind, Kind::kSuspend);
  limit.Note("team", kStart);
  EXPECT_EQ(decide(kStart + 59min).kind, Kind::kNothing);
  EXPECT_THAT(decide(kStart + 59min).reason, HasSubstr("as many jobs as are allowed"));
  EXPECT_EQ(decide(kStart + 60min).kind, Kind::kSuspend);
  EXPECT_TRUE(limit.Allows("other", kStart + 1min));
  limit.Note("other", kStart + 1min);
  EXPECT_FALSE(limit.Allows("third", kStart + 2min));
  limit.Note("third", kStart + 3h);
  EXPECT_TRUE(limit.Allows("team", kStart + 3h));
}

TEST(Retries, InfrastructureFailuresMakeTheNextAttemptPreferOtherNodes) {
  FailingJob job = JobOf({Attempt(Category::kGpuLost), Attempt(Category::kNvlink, 10min)});
  job.attempts[1].nodes = {"n3", "n2", "n1"};
  const RetryDecision decision = Decide(job);
  EXPECT_EQ(decision.kind, Kind::kPreferOtherNodes);
  EXPECT_THAT(decision.nodes, ElementsAre("n1", "n2", "n3"));
  EXPECT_EQ(decision.until, job.attempts[1].failed + kElsewhereLasts);
  EXPECT_EQ(Decide(job, {.stop_futile = true, .larger = true}).kind, Kind::kNothing);
  EXPECT_EQ(DecideRetry(job, kAll, SuspensionLimit(), decision.until).kind, Kind::kNothing);
  job.attempts.push_back(Attempt(Category::kCudaLibrary, 20min));
  EXPECT_EQ(Decide(job).kind, Kind::kNothing);
}

TEST(Retries, AJobAvoidsTheNodesOfItsLastFourInfrastructureFailures) {
  FailingJob job;
  for (int i = 0; i < 6; ++i) {
    FailedAttempt attempt = Attempt(i == 4 ? Category::kImport : Category::kGpuLost, i * 5min);
    attempt.nodes = {fmt::format("n{}", i), fmt::format("of-{}", i)};
    job.attempts.push_back(attempt);
  }
  EXPECT_THAT(Decide(job).nodes,
              ElementsAre("n1", "n2", "n3", "n5", "of-1", "of-2", "of-3", "of-5"));
}

// A job that was killed at this amount, which follows from its profile.
FailingJob Killed(Bytes at) {
  FailingJob job = JobOf({Attempt(Category::kHostOom, 0s, 90s)});
  job.attempts[0].oom_killed = true;
  job.attempts[0].chosen_memory = at;
  job.memory = WorkloadMemory{.process = WithoutMargin(at)};
  return job;
}

std::string OutcomeFor(const FailingJob& job) {
  const RetryDecision decision = Decide(job);
  EXPECT_EQ(decision.kind == Kind::kEnlargeMemory,
            decision.memory_outcome == MemoryOutcome::kRaised);
  EXPECT_FALSE(decision.reason.empty());
  return decision.memory_outcome ? std::string(ToString(*decision.memory_outcome)) : "none";
}

TEST(Retries, MemoryThatSynergyChoseIsRaisedByHalf) {
  const RetryDecision decision = Decide(Killed(GiB(8)));
  EXPECT_EQ(decision.kind, Kind::kEnlargeMemory);
  EXPECT_NEAR(static_cast<double>(decision.next_memory.count()),
              static_cast<double>(GiB(12).count()), 2);
  EXPECT_EQ(WithMargin(decision.raise.process), decision.next_memory);
  EXPECT_EQ(decision.raise.too_small, GiB(8));
  EXPECT_EQ(decision.raise.times, 1);
  EXPECT_EQ(decision.raise.ran, 90s);
  EXPECT_EQ(decision.raise.at, kStart + 90s);
  EXPECT_THAT(decision.reason, HasSubstr("the limit that Synergy chose is too small: 8Gi"));
  EXPECT_EQ(Decide(Killed(GiB(8)), {.stop_futile = true, .elsewhere = true}).kind, Kind::kNothing);
  EXPECT_FALSE(Decide(Killed(GiB(8)), {.stop_futile = true}).memory_outcome);
}

TEST(Retries, OnlyAKillThatTheKubeletReportsRaisesMemory) {
  FailingJob job = Killed(GiB(8));
  job.attempts[0].oom_killed = false;
  EXPECT_FALSE(Decide(job).memory_outcome) << "a log can say anything";
}

TEST(Retries, AmountsOfAnAuthorStayAndAreReportedAsTooSmall) {
  FailingJob job = Killed(GiB(8));
  job.attempts[0].chosen_memory.reset();
  EXPECT_EQ(OutcomeFor(job), "written");
  EXPECT_THAT(Decide(job).reason, HasSubstr("that its author wrote is too small, and stays"));
  job = Killed(GiB(8));
  job.memory->given = true;
  EXPECT_EQ(OutcomeFor(job), "given");
  EXPECT_THAT(Decide(job).reason, HasSubstr("processMemory in its TrainingProfile"));
}

TEST(Retries, WithoutAMeasurementNothingIsRaised) {
  FailingJob job = Killed(GiB(8));
  job.memory.reset();
  EXPECT_EQ(OutcomeFor(job), "unmeasured");
}

TEST(Retries, AFailureThatIsSeenTwiceRaisesNothingTwice) {
  FailingJob job = Killed(GiB(8));
  const RetryDecision first = Decide(job);
  job.memory->process = first.raise.process;
  job.memory->raise = first.raise;
  EXPECT_EQ(OutcomeFor(job), "larger");
  EXPECT_EQ(Decide(job).next_memory, first.next_memory);
  // Another pod that began with the same amount raises nothing, either.
  job.attempts[0].failed += 1min;
  EXPECT_EQ(OutcomeFor(job), "larger");
  // The next attempt had more.
  job.attempts[0].chosen_memory = first.next_memory;
  const RetryDecision second = Decide(job);
  EXPECT_EQ(second.kind, Kind::kEnlargeMemory);
  EXPECT_EQ(second.raise.times, 2);
  EXPECT_NEAR(static_cast<double>(second.next_memory.count()),
              2.25 * static_cast<double>(GiB(8).count()), 5);
  job.memory->process = second.raise.process;
  job.memory->raise = second.raise;
  EXPECT_EQ(OutcomeFor(job), "larger");
  job.attempts[0].chosen_memory = second.next_memory;
  EXPECT_EQ(OutcomeFor(job), "spent");
  EXPECT_THAT(Decide(job).reason, HasSubstr("although it was raised 2 times"));
}

TEST(Retries, MemoryIsRaisedWithinQuotasAndMachines) {
  FailingJob job = Killed(GiB(8));
  job.memory->most = GiB(10);
  EXPECT_NEAR(static_cast<double>(Decide(job).next_memory.count()),
              static_cast<double>(GiB(10).count()), 2);
  EXPECT_LE(Decide(job).next_memory, GiB(10));
  job.memory->most = GiB(8);
  EXPECT_EQ(OutcomeFor(job), "bounded");
  // The profile wants more than the bound, too.
  job.memory->process = GiB(16);
  EXPECT_EQ(OutcomeFor(job), "bounded");
}

TEST(Retries, ARequestAloneIsRaisedUpToTheFairShare) {
  FailingJob job = Killed(GiB(8));
  job.attempts[0].fair_memory = GiB(9);
  EXPECT_LE(Decide(job).next_memory, GiB(9));
  EXPECT_THAT(Decide(job).reason, HasSubstr("the request that Synergy chose"));
  job.attempts[0].fair_memory = GiB(8);
  EXPECT_EQ(OutcomeFor(job), "bounded");
}

}  // namespace
}  // namespace synergy::testing
