#include "controller/tuner/turns/pack_result_keeper.h"

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_clock.h"
#include "support/silent_log.h"
#include "unit/controller/fake_profile_api.h"

namespace synergy::controller {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PackResultKeeperTest : public ::testing::Test {
 protected:
  static std::string NameOf(const std::string& workload) {
    return MeasuredName(workload, Gpus(1), "v100");
  }
  void Measure(bool good, uint32_t refusals = 0) {
    results_[pair_] = {.speeds = {0.8, 0.7},
                       .good = good,
                       .refusals = refusals,
                       .refused_until = clock_.Now() + minutes(10),
                       .measured_at = clock_.Now()};
  }
  std::vector<std::string> CallsOfKeep() {
    api_.calls.clear();
    keeper_.Keep(results_, {});
    return api_.calls;
  }
  std::vector<PackRecord> Kept(const std::string& workload) {
    const auto known = profiles_.Find("team", NameOf(workload));
    return known == nullptr ? std::vector<PackRecord>() : known->object.packing;
  }
  void HaveProfile(const std::string& workload, bool by_us) {
    ProfileObject object;
    object.profile_namespace = "team";
    object.name = NameOf(workload);
    object.workload = workload;
    object.training.gpu_product = "v100";
    object.kept_by_us = by_us;
    object.packing = {{"cnn", true, 0.8, 0.7, 0, clock_.WallNow(), {}}};
    profiles_.Upsert(object);
  }

  const WorkloadPair pair_ = PairOf("team/bert", "team/cnn", "v100");
  testing::FakeClock clock_;
  testing::SilentLog log_;
  ProfileStore profiles_{0.05};
  FakeProfileApi api_{profiles_};
  metrics::TurnMetrics metrics_;
  bool may_act_ = true;
  PackResults results_;
  PackResultKeeper keeper_{profiles_, api_,     [this] { return may_act_; },
                           clock_,    log_.log, metrics_};
};

TEST_F(PackResultKeeperTest, VerdictIsWrittenOnceToBothProfiles) {
  Measure(true);
  EXPECT_THAT(CallsOfKeep(),
              ElementsAre("create team/" + NameOf("bert"), "pack team/" + NameOf("bert"),
                          "create team/" + NameOf("cnn"), "pack team/" + NameOf("cnn")));
  EXPECT_THAT(CallsOfKeep(), IsEmpty());
  ASSERT_EQ(Kept("bert").size(), 1U);
  EXPECT_EQ(Kept("bert").front().with, "cnn");
  EXPECT_EQ(Kept("cnn").front().speed, 0.7);
  Measure(false, 1);
  EXPECT_THAT(CallsOfKeep(),
              ElementsAre("pack team/" + NameOf("bert"), "pack team/" + NameOf("cnn")));
  EXPECT_FALSE(Kept("bert").front().good);
  // A pair of which nothing is known any more has no record.
  Measure(false, 0);
  EXPECT_THAT(CallsOfKeep(),
              ElementsAre("pack team/" + NameOf("bert"), "pack team/" + NameOf("cnn")));
  EXPECT_THAT(Kept("bert"), IsEmpty());
}

TEST_F(PackResultKeeperTest, NextLeaderLoadsThemAndWritesNothing) {
  Measure(true);
  keeper_.Keep(results_, {});
  PackResultKeeper next(profiles_, api_, [] { return true; }, clock_, log_.log, metrics_);
  const PackResults loaded = next.Load();
  ASSERT_TRUE(loaded.contains(pair_));
  EXPECT_TRUE(loaded.at(pair_).good);
  EXPECT_EQ(loaded.at(pair_).speeds, results_.at(pair_).speeds);
  api_.calls.clear();
  next.Keep(loaded, {});
  EXPECT_THAT(api_.calls, IsEmpty());
  EXPECT_THAT(metrics_.Render(),
              HasSubstr(R"(synergy_turns_pack_results_total{outcome="loaded"} 1)"));
}

TEST_F(PackResultKeeperTest, FailedWriteIsTriedAgainAndConflictsAreNotOverwritten) {
  Measure(true);
  api_.failure = {ErrorCode::kUnavailable, "no answer"};
  EXPECT_THAT(CallsOfKeep(), ElementsAre("create team/" + NameOf("bert")))
      << "turns wait for the calls";
  clock_.Advance(PackResultKeeper::kRetry);
  EXPECT_THAT(CallsOfKeep(), ElementsAre("create team/" + NameOf("cnn"))) << "then the next one";
  api_.failure.reset();
  EXPECT_THAT(CallsOfKeep(), IsEmpty()) << "not at once";
  clock_.Advance(PackResultKeeper::kRetry);
  EXPECT_EQ(CallsOfKeep().size(), 4U);
  Measure(false, 1);
  api_.watch_is_late = true;
  keeper_.Keep(results_, {});
  Measure(false, 2);
  EXPECT_THAT(CallsOfKeep(),
              ElementsAre("pack team/" + NameOf("bert"), "pack team/" + NameOf("cnn")));
  EXPECT_EQ(Kept("bert").front().refusals, 0U) << "the watch has not reported the first write";
  api_.Watch();
  EXPECT_EQ(Kept("bert").front().refusals, 1U) << "the second one was refused";
  api_.watch_is_late = false;
  clock_.Advance(PackResultKeeper::kRetry);
  keeper_.Keep(results_, {});
  EXPECT_EQ(Kept("bert").front().refusals, 2U);
  EXPECT_THAT(metrics_.Render(),
              HasSubstr(R"(synergy_turns_pack_results_total{outcome="failed"} 4)"));
}

TEST_F(PackResultKeeperTest, WriteThatTheServerRefusesWaitsForTheNextVerdict) {
  Measure(true);
  api_.failure = {ErrorCode::kInvalid, "it has dropped status.packing"};
  keeper_.Keep(results_, {});
  api_.failure.reset();
  clock_.Advance(minutes(10));
  EXPECT_THAT(CallsOfKeep(), IsEmpty());
  Measure(false, 1);
  EXPECT_EQ(CallsOfKeep().size(), 4U);
}

TEST_F(PackResultKeeperTest, ReplicaThatDoesNotLeadWritesNothing) {
  Measure(true);
  may_act_ = false;
  EXPECT_THAT(CallsOfKeep(), IsEmpty());
}

TEST_F(PackResultKeeperTest, ProfilesOfOthersAreNeitherReadNorWritten) {
  HaveProfile("bert", false);
  EXPECT_THAT(keeper_.Load(), IsEmpty());
  Measure(false, 1);
  EXPECT_THAT(CallsOfKeep(),
              ElementsAre("create team/" + NameOf("cnn"), "pack team/" + NameOf("cnn")));
  HaveProfile("bert", true);
  EXPECT_EQ(keeper_.Load().size(), 1U);
}

TEST_F(PackResultKeeperTest, PairsAcrossNamespacesAreNotWritten) {
  results_[PairOf("team/bert", "other/cnn", "v100")] = {.speeds = {0.8, 0.7}, .good = true};
  EXPECT_THAT(CallsOfKeep(), IsEmpty());
}

TEST_F(PackResultKeeperTest, IncredibleRecordsAreCounted) {
  HaveProfile("bert", true);
  ProfileObject object = profiles_.Find("team", NameOf("bert"))->object;
  object.packing.front().at += std::chrono::hours(1);
  profiles_.Upsert(object);
  EXPECT_THAT(keeper_.Load(), IsEmpty());
  EXPECT_THAT(metrics_.Render(),
              HasSubstr(R"(synergy_turns_pack_results_total{outcome="ignored"} 1)"));
}

}  // namespace
}  // namespace synergy::controller
