#include "engine/sharing/pack_records.h"

#include <chrono>
#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const Moment kRecordedAt{Instant(hours(100)), WallTime(hours(500000))};
const WorkloadPair kBertAndCnn = PairOf("team/cnn", "team/bert", "v100");

PackedWorkload Packed(const std::string& workload) { return {"team", workload, "v100"}; }

PackResult GoodResult(double speed, double other, Duration ago = {}) {
  return {.speeds = {speed, other}, .good = true, .measured_at = kRecordedAt.now - ago};
}
PackResult RefusedResult(uint32_t refusals, Duration rest, Duration ago = {}) {
  return {.speeds = {0.4, 0.3},
          .refusals = refusals,
          .refused_until = kRecordedAt.now - ago + rest,
          .measured_at = kRecordedAt.now - ago};
}
PackRecord GoodRecord(const std::string& with, double speed = 0.8, double other = 0.7) {
  return {with, true, speed, other, 0, kRecordedAt.wall, {}};
}
PackRecord RefusedRecord(const std::string& with, Duration rest, uint32_t refusals = 1) {
  return {with, false, 0.4, 0.3, refusals, kRecordedAt.wall, rest};
}
// Returns the results of records of "bert", read at that time after `at`.
PackResults ReadBack(std::vector<PackRecord> of_bert, Duration later = {}) {
  return ResultsOf({{Packed("bert"), std::move(of_bert)}},
                   {kRecordedAt.now + later, kRecordedAt.wall + later})
      .results;
}

TEST(PackRecordsTest, EachWorkloadHasItsOwnSpeed) {
  const PackResults results{{kBertAndCnn, GoodResult(0.8, 0.7, minutes(5))}};
  ASSERT_EQ(kBertAndCnn.first, "team/bert");
  PackRecord of_bert = GoodRecord("cnn", 0.8, 0.7);
  of_bert.at = kRecordedAt.wall - minutes(5);
  EXPECT_THAT(RecordsOf(Packed("bert"), results, kRecordedAt), ElementsAre(of_bert));
  PackRecord of_cnn = GoodRecord("bert", 0.7, 0.8);
  of_cnn.at = of_bert.at;
  EXPECT_THAT(RecordsOf(Packed("cnn"), results, kRecordedAt), ElementsAre(of_cnn));
  EXPECT_THAT(RecordsOf(Packed("gpt"), results, kRecordedAt), IsEmpty());
  // Either is sufficient.
  const PackResult read =
      ResultsOf({{Packed("cnn"), {of_cnn}}}, kRecordedAt).results.at(kBertAndCnn);
  EXPECT_EQ(read.speeds, results.at(kBertAndCnn).speeds);
  EXPECT_TRUE(read.good);
}

TEST(PackRecordsTest, OnlyKnownWorkloadsOfOneNamespaceHaveRecords) {
  EXPECT_THAT(WorkloadsOf(kBertAndCnn), ElementsAre(Packed("bert"), Packed("cnn")));
  EXPECT_THAT(WorkloadsOf(PairOf("team/bert", "team/bert", "v100")), ElementsAre(Packed("bert")));
  EXPECT_THAT(WorkloadsOf(PairOf("team/bert", "other/cnn", "v100")), IsEmpty());
  EXPECT_THAT(WorkloadsOf(PairOf("team/bert", "/uid", "v100")), IsEmpty());
  EXPECT_THAT(WorkloadsOf(PairOf("team/bert", "team/" + std::string(64, 'w'), "v100")), IsEmpty());
  Pod pod;
  pod.uid = "u";
  pod.pod_namespace = "team";
  pod.fungible = std::make_shared<const ManagedContainer>();
  EXPECT_EQ(PackNameOf(pod), "/u");
  ManagedContainer known;
  known.workload = "bert";
  pod.fungible = std::make_shared<const ManagedContainer>(known);
  EXPECT_EQ(PackNameOf(pod), "team/bert");
}

TEST(PackRecordsTest, RestGoesOnByTheWallClock) {
  const PackResults results{{kBertAndCnn, RefusedResult(2, minutes(20), minutes(3))}};
  const auto records = RecordsOf(Packed("bert"), results, kRecordedAt);
  // Another machine, whose clocks began elsewhere.
  const Moment later{Instant(minutes(1)), kRecordedAt.wall + minutes(7)};
  const PackResult read = ResultsOf({{Packed("bert"), records}}, later).results.at(kBertAndCnn);
  EXPECT_EQ(read.refused_until - later.now, minutes(10));
  EXPECT_EQ(read.refusals, 2U);
  EXPECT_FALSE(read.good);
}

TEST(PackRecordsTest, RestIsNeverLongerThanTheLongest) {
  const PackResults results{{kBertAndCnn, RefusedResult(9, hours(1000))}};
  EXPECT_EQ(RecordsOf(Packed("bert"), results, kRecordedAt).front().rest, Packing::kMostRest);
  PackResults forever = results;
  forever.begin()->second.refused_until = Instant::max();
  EXPECT_EQ(RecordsOf(Packed("bert"), forever, kRecordedAt).front().rest, Packing::kMostRest);
  const auto read = ReadBack({RefusedRecord("cnn", hours(1000))});
  EXPECT_EQ(read.at(kBertAndCnn).refused_until, kRecordedAt.now + Packing::kMostRest);
  // A clock that was set back makes no rest longer, either.
  const auto early = ResultsOf({{Packed("bert"), {RefusedRecord("cnn", hours(4))}}},
                               {kRecordedAt.now, kRecordedAt.wall - seconds(50)});
  EXPECT_EQ(early.results.at(kBertAndCnn).refused_until, kRecordedAt.now + Packing::kMostRest);
}

TEST(PackRecordsTest, TrialWithoutAResultIsNotRecorded) {
  PackResult given_up = RefusedResult(0, minutes(10));
  EXPECT_THAT(RecordsOf(Packed("bert"), {{kBertAndCnn, given_up}}, kRecordedAt), IsEmpty());
}

TEST(PackRecordsTest, RecordsThatCannotBeTrueAreIgnored) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double huge = std::numeric_limits<double>::infinity();
  PackRecord future = GoodRecord("a");
  future.at += minutes(2);
  const RecordedPacks read =
      ResultsOf({{Packed("bert"),
                  {future, GoodRecord("b", nan), GoodRecord("c", 0.8, huge), GoodRecord("d", -1),
                   GoodRecord("e", 11), GoodRecord("f", 0.5, 0.5), RefusedRecord("g", hours(1), 0),
                   GoodRecord(""), GoodRecord("h")}}},
                kRecordedAt);
  EXPECT_EQ(read.ignored, 8U);
  ASSERT_THAT(read.results, SizeIs(1));
  EXPECT_EQ(read.results.begin()->first.second, "team/h");
}

TEST(PackRecordsTest, NewerRecordOfAPairCounts) {
  PackRecord old = GoodRecord("cnn");
  old.at -= minutes(1);
  const PackRecord refusal = RefusedRecord("bert", minutes(10));
  const auto good = [](const PackRecord& of_bert, const PackRecord& of_cnn) {
    return ResultsOf({{Packed("bert"), {of_bert}}, {Packed("cnn"), {of_cnn}}}, kRecordedAt)
        .results.at(kBertAndCnn)
        .good;
  };
  EXPECT_FALSE(good(old, refusal));
  PackRecord newer = GoodRecord("cnn");
  newer.at += seconds(1);
  EXPECT_TRUE(good(newer, refusal));
  EXPECT_FALSE(good(GoodRecord("cnn"), refusal)) << "equally old";
}

TEST(PackRecordsTest, OnlyTheNewestAreKept) {
  PackResults results;
  for (int other = 0; other < 100; ++other) {
    results[PairOf("team/bert", "team/w" + std::to_string(other), "v100")] =
        GoodResult(0.8, 0.7, minutes(other));
  }
  const auto records = RecordsOf(Packed("bert"), results, kRecordedAt);
  ASSERT_THAT(records, SizeIs(kMostPackRecords));
  for (const PackRecord& record : records)
    EXPECT_GT(record.at, kRecordedAt.wall - minutes(kMostPackRecords));
}

TEST(PackVerdictsTest, NamesWorkloadsWhoseRecordsChange) {
  PackVerdicts verdicts;
  PackResults results{{kBertAndCnn, RefusedResult(0, minutes(10))}};
  EXPECT_THAT(verdicts.Observe(results), IsEmpty()) << "given up";
  results[kBertAndCnn] = GoodResult(0.8, 0.7);
  EXPECT_THAT(verdicts.Observe(results), ElementsAre(Packed("bert"), Packed("cnn")));
  results[kBertAndCnn].speeds = {0.9, 0.7};
  EXPECT_THAT(verdicts.Observe(results), IsEmpty());
  results[kBertAndCnn] = RefusedResult(1, minutes(10));
  EXPECT_THAT(verdicts.Observe(results), SizeIs(2));
  results[kBertAndCnn] = RefusedResult(2, minutes(20));
  EXPECT_THAT(verdicts.Observe(results), SizeIs(2));
  results[PairOf("team/bert", "other/cnn", "v100")] = GoodResult(0.8, 0.7);
  EXPECT_THAT(verdicts.Observe(results), IsEmpty());
}

}  // namespace
}  // namespace synergy::testing
