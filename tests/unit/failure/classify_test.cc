// The order of evidence, and Synergy's own doing.

#include "failure/classify.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace synergy {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr char kOutOfMemory[] = "torch.OutOfMemoryError: CUDA out of memory.\n";
constexpr char kImportError[] = "ModuleNotFoundError: No module named 'a'\n";
constexpr char kPeer[] = "RuntimeError: Connection closed by peer [10.0.0.1]:1\n";

class ClassifyTest : public ::testing::Test {
 protected:
  JobFailure Of(FailureFacts facts, const std::string& log = {}) {
    LogTail tail;
    tail.Feed(log);
    tail.End();
    facts.logs.push_back(ReadLog(tail));
    const std::optional<JobFailure> failure = Classify(facts);
    EXPECT_TRUE(failure);
    return failure.value_or(JobFailure{});
  }
  Category CategoryOf(FailureFacts facts, const std::string& log = {}) {
    return Of(std::move(facts), log).category;
  }
  Cause CauseOf(FailureFacts facts, const std::string& log = {}) {
    return Of(std::move(facts), log).outcome.cause;
  }
};

TEST_F(ClassifyTest, AHardwareFaultComesFirst) {
  EXPECT_EQ(CategoryOf({.reason = "Evicted", .xids = {{79}}}, kOutOfMemory), Category::kGpuLost);
  EXPECT_EQ(CategoryOf({.exit_code = 1, .xids = {{79}}}, kImportError), Category::kImport);
  EXPECT_EQ(CategoryOf({.exit_code = 1, .xids = {{13}}}, kOutOfMemory), Category::kGpuOom);
}

TEST_F(ClassifyTest, AnXidCountsFromTwoMinutesBeforeTheLastIteration) {
  const auto at = [](Duration before_end) {
    return FailureFacts{
        .exit_code = 1, .xids = {{79, before_end}}, .logs = {{.since_iteration = minutes(10)}}};
  };
  EXPECT_EQ(CategoryOf(at(minutes(12))), Category::kGpuLost);
  EXPECT_EQ(CategoryOf(at(minutes(12) + seconds(1))), Category::kUnknown);
  EXPECT_EQ(CategoryOf({.exit_code = 1, .xids = {{79, minutes(35)}}}), Category::kGpuLost);
  EXPECT_EQ(CategoryOf({.exit_code = 1, .xids = {{79, minutes(36)}}}), Category::kUnknown);
  // An agent's number may be any.
  for (const auto& [since, longest] :
       {std::pair(Duration::max(), minutes(35)), std::pair(Duration::min(), minutes(2))}) {
    EXPECT_EQ(
        CategoryOf({.exit_code = 1, .xids = {{79, longest}}, .logs = {{.since_iteration = since}}}),
        Category::kGpuLost);
    EXPECT_EQ(CategoryOf({.exit_code = 1,
                          .xids = {{79, longest + minutes(1)}},
                          .logs = {{.since_iteration = since}}}),
              Category::kUnknown);
  }
}

TEST_F(ClassifyTest, ThePlatformComesBeforeTheLog) {
  EXPECT_EQ(CategoryOf({.exit_code = 137, .reason = "OOMKilled"}, kImportError),
            Category::kHostOom);
  EXPECT_EQ(CategoryOf({.exit_code = 143, .reason = "DeadlineExceeded"}, kPeer),
            Category::kDeadline);
  EXPECT_EQ(
      CategoryOf({.exit_code = 1,
                  .conditions = {"Ready/PodFailed", "DisruptionTarget/EvictionByEvictionAPI"}},
                 kPeer),
      Category::kEvicted);
  EXPECT_EQ(CategoryOf({.exit_code = 1, .reason = "Error"}, kPeer), Category::kPeerLost);
}

TEST_F(ClassifyTest, TheLogComesBeforeTheExitCode) {
  EXPECT_EQ(CategoryOf({.exit_code = 137}, kOutOfMemory), Category::kGpuOom);
  EXPECT_EQ(CategoryOf({.exit_code = 137}, "step 1\n"), Category::kKilled);
  EXPECT_EQ(CategoryOf({.exit_code = 1}, "step 1\n"), Category::kUnknown);
}

TEST_F(ClassifyTest, AnyMembersCauseComesBeforeWhatTheOthersMet) {
  LogTail first;
  first.Feed("2026-11-21T07:05:01Z " + std::string(kPeer));
  first.End();
  LogTail last;
  last.Feed("2026-11-21T07:35:01Z " + std::string(kOutOfMemory));
  last.End();
  const std::optional<JobFailure> failure =
      Classify({.exit_code = 1, .logs = {ReadLog(first), ReadLog(last)}});
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->category, Category::kGpuOom);
}

TEST_F(ClassifyTest, EarliestOfEqualMembersCounts) {
  LogTail late;
  late.Feed("2026-11-21T07:35:01Z " + std::string(kOutOfMemory));
  late.End();
  LogTail early;
  early.Feed("2026-11-21T07:05:01Z " + std::string(kImportError));
  early.End();
  const std::optional<JobFailure> failure =
      Classify({.exit_code = 1, .logs = {ReadLog(late), ReadLog(early)}});
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->category, Category::kImport);
}

TEST_F(ClassifyTest, SynergyIsTheCauseOnlyOfWhatItCanCause) {
  const auto after = [](Act act, Duration before_end) {
    return FailureFacts{.exit_code = 1, .acts = {{act, before_end}}};
  };
  EXPECT_EQ(CauseOf(after(Act::kFreeze, seconds(120)), kPeer), Cause::kSynergy);
  EXPECT_EQ(CauseOf(after(Act::kFreeze, seconds(121)), kPeer), Cause::kInfrastructure);
  EXPECT_EQ(CauseOf(after(Act::kFreeze, seconds(1)), kImportError), Cause::kUser);
  EXPECT_EQ(CauseOf(after(Act::kCpu, seconds(20)), kOutOfMemory), Cause::kUser);
  EXPECT_EQ(CauseOf(after(Act::kShare, minutes(90)), kOutOfMemory), Cause::kSynergy);
  const FailureFacts killed = {
      .exit_code = 137, .reason = "OOMKilled", .acts = {{Act::kMemory, minutes(10)}}};
  EXPECT_EQ(CauseOf(killed), Cause::kSynergy);
  EXPECT_EQ(Of(killed).outcome.advice, Advice::kRetryLarger);
}

TEST_F(ClassifyTest, NothingFailedWithCodeZero) {
  EXPECT_FALSE(Classify({.exit_code = 0}));
  EXPECT_TRUE(Classify({}));
}

}  // namespace
}  // namespace synergy
