#include "controller/profiles/status_writer.h"

#include <memory>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/cluster_vocabulary.h"
#include "support/fake_clock.h"
#include "support/silent_log.h"
#include "unit/controller/fake_profile_api.h"

namespace synergy::controller {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

class StatusWriterTest : public ::testing::Test {
 protected:
  StatusWriterTest() {
    cluster.UpsertNode(synergy::testing::MakeNode("n", {Gpus(8), Cores(24), GB(480)}));
  }

  static ProfileObject MakeProfile() {
    ProfileObject object;
    object.uid = "u";
    object.profile_namespace = "team";
    object.name = "image";
    object.generation = 2;
    auto profile = JobProfile::Create(Gpus(1), {{Cores(3), GB(60), 1.0}, {Cores(9), GB(60), 2.4}});
    object.profile = std::make_shared<const JobProfile>(*profile);
    return object;
  }

  void Write() { writer.WriteIfDue({}); }

  synergy::testing::FakeClock clock;
  synergy::testing::SilentSink sink;
  Logger log{sink, clock, LogLevel::kDebug, LogFormat::kText};
  metrics::ControllerMetrics metrics;
  ProfileStore profiles{0};
  FakeProfileApi api{profiles};
  ClusterState cluster;
  bool may_act = true;
  StatusWriter writer{api, profiles, cluster, clock, log, metrics, [this] { return may_act; }};
};

TEST_F(StatusWriterTest, WritesDemandAndSpeedUpOfAValidProfile) {
  profiles.Upsert(MakeProfile());
  Write();
  ASSERT_EQ(api.statuses.size(), 1U);
  EXPECT_EQ(api.statuses[0].first, "team/image");
  const ProfileStatus& status = api.statuses[0].second;
  EXPECT_EQ(status.observed_generation, 2);
  EXPECT_EQ(status.demand_cpu, "9");
  EXPECT_EQ(status.demand_memory, "60G");
  EXPECT_EQ(status.speed_up, "2.4");
  EXPECT_EQ(status.valid, "True");
  EXPECT_FALSE(status.since.empty());
}

TEST_F(StatusWriterTest, WritesTheProblemsOfAnInvalidProfile) {
  ProfileObject object = MakeProfile();
  object.profile = nullptr;
  object.problems = {"spec.gpus: no", "spec.points: no"};
  profiles.Upsert(object);
  Write();
  ASSERT_EQ(api.statuses.size(), 1U);
  const ProfileStatus& status = api.statuses[0].second;
  EXPECT_EQ(status.demand_cpu, "");
  EXPECT_EQ(status.speed_up, "");
  EXPECT_EQ(status.valid, "False");
  EXPECT_EQ(status.reason, "Unusable");
  EXPECT_EQ(status.message, "spec.gpus: no; spec.points: no");
}

TEST_F(StatusWriterTest, WritesOnlyWhatIsDifferent) {
  ProfileObject object = MakeProfile();
  object.status = {2, "9", "60G", "2.4", "True", "Usable", "", "2026-11-21T07:05:03Z"};
  profiles.Upsert(object);
  Write();
  EXPECT_TRUE(api.statuses.empty());
  object.generation = 3;
  profiles.Upsert(object);
  Write();
  ASSERT_EQ(api.statuses.size(), 1U);
  // The time from which it has been valid does not change.
  EXPECT_EQ(api.statuses[0].second.since, "2026-11-21T07:05:03Z");
}

TEST_F(StatusWriterTest, KeepsAContradictionUntilTheGenerationChanges) {
  ProfileObject object = MakeProfile();
  object.status = {2, "9", "60G", "2.4", "True", "Usable", "", "2026-11-21T07:05:03Z"};
  object.status.contradiction = "seen";
  object.status.contradicted_since = "2026-11-22T07:05:03Z";
  profiles.Upsert(object);
  Write();
  EXPECT_TRUE(api.statuses.empty());
  object.generation = 3;
  profiles.Upsert(object);
  Write();
  ASSERT_EQ(api.statuses.size(), 1U);
  EXPECT_EQ(api.statuses[0].second.contradiction, "");
  EXPECT_EQ(api.statuses[0].second.contradicted_since, "");
}

TEST_F(StatusWriterTest, WritesNothingOnceAnotherReplicaLeads) {
  profiles.Upsert(MakeProfile());
  may_act = false;
  Write();
  EXPECT_TRUE(api.statuses.empty());
  may_act = true;
  clock.Advance(seconds(6));
  Write();
  EXPECT_EQ(api.statuses.size(), 1U);
}

TEST_F(StatusWriterTest, WithoutANodeThereIsNoSpeedUp) {
  cluster.RemoveNode("n");
  profiles.Upsert(MakeProfile());
  Write();
  ASSERT_EQ(api.statuses.size(), 1U);
  EXPECT_EQ(api.statuses[0].second.speed_up, "");
}

TEST_F(StatusWriterTest, FollowsTheClusterOnceAMinute) {
  ProfileObject object = MakeProfile();
  object.status = {2, "9", "60G", "2.4", "True", "Usable", "", "2026-11-21T07:05:03Z"};
  profiles.Upsert(object);
  Write();
  cluster.UpsertNode(synergy::testing::MakeNode("n", {Gpus(8), Cores(72), GB(480)}));
  Write();
  EXPECT_TRUE(api.statuses.empty());
  clock.Advance(seconds(61));
  Write();
  ASSERT_EQ(api.statuses.size(), 1U);
  EXPECT_EQ(api.statuses[0].second.speed_up, "1");
}

TEST_F(StatusWriterTest, TriesAgainSoonWhatFailed) {
  api.failure = Error{ErrorCode::kUnavailable, "busy"};
  profiles.Upsert(MakeProfile());
  Write();
  Write();
  EXPECT_EQ(api.statuses.size(), 1U);
  clock.Advance(seconds(6));
  Write();
  EXPECT_EQ(api.statuses.size(), 2U);
  EXPECT_THAT(metrics.Render(),
              HasSubstr("synergy_controller_profile_status_writes_total{outcome=\"failed\"} 2"));
}

TEST_F(StatusWriterTest, AProfileThatIsGoneIsNotAskedForAgain) {
  api.failure = Error{ErrorCode::kNotFound, "gone"};
  profiles.Upsert(MakeProfile());
  Write();
  clock.Advance(seconds(6));
  Write();
  EXPECT_EQ(api.statuses.size(), 1U);
}

TEST_F(StatusWriterTest, OneThatIsToBeMeasuredIsNeitherValidNorNot) {
  ProfileObject object = MakeProfile();
  object.profile = nullptr;
  profiles.Upsert(std::move(object));
  Write();
  ASSERT_EQ(api.statuses.size(), 1U);
  EXPECT_EQ(api.statuses[0].second.valid, "Unknown");
  EXPECT_EQ(api.statuses[0].second.reason, "Measuring");
  EXPECT_EQ(api.statuses[0].second.demand_cpu, "");
}

TEST_F(StatusWriterTest, DemandOfAMeasuredProfileHasNoMemory) {
  ProfileObject object = MakeProfile();
  object.measured.emplace().note = "held back by few workers";
  profiles.Upsert(std::move(object));
  Write();
  ASSERT_EQ(api.statuses.size(), 1U);
  const ProfileStatus& status = api.statuses[0].second;
  EXPECT_EQ(status.valid, "True");
  EXPECT_EQ(status.reason, "Measured");
  EXPECT_EQ(status.message, "held back by few workers");
  EXPECT_EQ(status.demand_cpu, "9");
  EXPECT_EQ(status.demand_memory, "");
}

}  // namespace
}  // namespace synergy::controller
