#include "cli/views/failure_view.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::cli {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const WallTime kNow = WallTime(hours(500000));

FailureRecord Record(const std::string& pod, const std::string& category, Duration ago,
                     double gpu_hours = 1) {
  FailureRecord record;
  record.pod = pod;
  record.category = category;
  record.at = record.attempt = kNow - ago;
  record.user = "ann";
  record.owner = {"batch/v1", "Job", "bert", "u"};
  record.gpu_seconds = 3600 * gpu_hours;
  return record;
}

TEST(FailureView, SumsByCategoryQueueAndUserWithinTheTime) {
  std::vector<FailureRecord> records = {
      Record("a", "import", hours(1), 0.1), Record("b", "import", hours(2), 0.1),
      Record("c", "gpu-oom", hours(3), 5), Record("d", "gpu-oom", hours(30), 9)};
  records[1].user = "bob";
  const auto sums = SumFailures({{"team", "1", records}}, kNow - hours(24));
  ASSERT_THAT(sums, SizeIs(3));
  EXPECT_EQ(sums[0].category, "gpu-oom");
  EXPECT_EQ(sums[0].failures, 1);
  EXPECT_DOUBLE_EQ(sums[0].gpu_seconds, 5 * 3600);
  const std::string table = ToText(ShowFailures(sums, false, kNow));
  EXPECT_THAT(table, HasSubstr("GPU HOURS"));
  EXPECT_THAT(table, HasSubstr("5.00"));
  EXPECT_THAT(table, Not(HasSubstr("NAMESPACE")));
  EXPECT_THAT(ToText(ShowFailures(sums, true, kNow)), HasSubstr("team"));
  EXPECT_EQ(ToText(ShowFailures({}, false, kNow)), "");
  EXPECT_THAT(ToJson(ToTree(sums[0])), HasSubstr("\"gpuHours\": 5"));
}

TEST(FailureView, FailuresThatAreNoLongerKeptAreNoted) {
  std::vector<FailureRecord> records;
  for (size_t i = kMostFailureRecords; i > 0; --i)
    records.push_back(Record("a", "import", i * minutes(1)));
  const auto notes = [&](Duration since) {
    return NotesOnForgotten({{"team", "1", records}}, kNow - since);
  };
  const auto kept_since = [&](Duration since) {
    return SumFailures({{"team", "1", records}}, kNow - since).front().kept_since;
  };
  EXPECT_THAT(notes(hours(24)),
              ElementsAre(HasSubstr("team: only the last 200 failures are kept, since 20")));
  EXPECT_EQ(kept_since(hours(24)), records.front().at);
  EXPECT_THAT(notes(hours(1)), IsEmpty()) << "all of that time are kept";
  EXPECT_EQ(kept_since(hours(1)), std::nullopt);
  records.pop_back();
  EXPECT_THAT(notes(hours(24)), IsEmpty()) << "none has been dropped yet";
  EXPECT_EQ(kept_since(hours(24)), std::nullopt);
}

TEST(FailureView, AnAttemptsCauseComesFirst) {
  FailureRecord cascade = Record("bert-0", "peer-lost", minutes(20));
  FailureRecord cause = Record("bert-1", "gpu-oom", minutes(10));
  cause.attempt = cascade.attempt;
  cause.leads = true;
  cause.rank = "1";
  cause.evidence = "CUDA out of memory";
  FailureRecord second = Record("bert-2", "import", minutes(1));
  second.leads = true;
  second.suspended = kNow - std::chrono::seconds(50);
  FailureRecord other = Record("x", "import", minutes(1));
  other.owner.name = "other";
  const auto attempts = AttemptsOf({{"team", "1", {cascade, cause, second, other}}}, "bert");
  ASSERT_THAT(attempts, SizeIs(2));
  EXPECT_EQ(attempts[0].pods[0].pod, "bert-1");
  EXPECT_EQ(attempts[0].pods[1].pod, "bert-0");
  const std::string text = AttemptsText(attempts, kNow);
  EXPECT_THAT(text, HasSubstr("10m ago: gpu-oom"));
  EXPECT_THAT(text, HasSubstr("pod bert-1 (rank 1)"));
  EXPECT_THAT(text, HasSubstr("CUDA out of memory"));
  EXPECT_THAT(text, HasSubstr("then pod bert-0: peer-lost"));
  EXPECT_THAT(text, HasSubstr("for this the job was suspended 50s ago"));
  EXPECT_THAT(ToJson(ToTree(attempts[0])), HasSubstr("\"suspended\": null"));
  EXPECT_EQ(AttemptsText({}, kNow), "");
}

TEST(FailureView, ShowsWhatAnAttemptCost) {
  FailureRecord cause = Record("bert-1", "gpu-lost", minutes(10), 2);
  cause.leads = true;
  cause.started = cause.at - hours(2);
  FailureRecord other = Record("bert-2", "peer-lost", minutes(10), 2);
  auto attempts = AttemptsOf({{"team", "1", {cause, other}}}, "bert");
  EXPECT_THAT(AttemptsText(attempts, kNow), HasSubstr("    ran for 2h, 4.00 GPU hours\n"));
  EXPECT_THAT(ToJson(ToTree(attempts[0])), HasSubstr("\"unsavedSeconds\": null"));
  attempts[0].pods[0].unsaved = minutes(50);
  attempts[0].pods[0].startup = minutes(4);
  EXPECT_THAT(AttemptsText(attempts, kNow),
              HasSubstr("4.00 GPU hours; 4m until its first iteration; 50m since its last "
                        "checkpoint\n"));
  EXPECT_THAT(ToJson(ToTree(attempts[0])), HasSubstr("\"unsavedSeconds\": 3000"));
}

TEST(FailureView, APodThatDoesNotStartHasRunNothing) {
  FailureRecord waiting = Record("bert-1", "image", minutes(3), 0);
  waiting.leads = true;
  waiting.run = kNeverRan;
  const auto attempts = AttemptsOf({{"team", "1", {waiting}}}, "bert");
  const std::string text = AttemptsText(attempts, kNow);
  EXPECT_THAT(text, HasSubstr("pod bert-1, which does not start"));
  EXPECT_THAT(text, Not(HasSubstr("ran for")));
  EXPECT_THAT(ToJson(ToTree(attempts[0])), HasSubstr("\"run\": null"));
}

TEST(FailureView, ShowsWhatTheNextAttemptGetsOfMemory) {
  FailureRecord killed = Record("bert-1", "host-oom", minutes(10));
  killed.leads = true;
  killed.chosen_memory = GiB(8);
  auto attempts = AttemptsOf({{"team", "1", {killed}}}, "bert");
  EXPECT_THAT(AttemptsText(attempts, kNow), Not(HasSubstr("next attempt")));
  EXPECT_THAT(ToJson(ToTree(attempts[0])), HasSubstr("\"nextMemory\": null"));
  attempts[0].pods[0].larger = GiB(12);
  EXPECT_THAT(AttemptsText(attempts, kNow),
              HasSubstr("for this the next attempt gets 12Gi of memory instead of 8Gi\n"));
  EXPECT_THAT(ToJson(ToTree(attempts[0])), HasSubstr("\"chosenMemory\": \"8Gi\""));
}

TEST(FailureView, APodWithoutAnOwnerIsItsOwnJob) {
  FailureRecord alone = Record("alone", "import", minutes(1));
  alone.owner = {};
  EXPECT_THAT(AttemptsOf({{"team", "1", {alone}}}, "alone"), SizeIs(1));
}

}  // namespace
}  // namespace synergy::cli
