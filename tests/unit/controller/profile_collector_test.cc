#include "controller/profiles/profile_collector.h"

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/controller/profiling_fixture.h"

namespace synergy::controller {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ProfileCollectorTest : public ProfilingFixture {
 protected:
  void LookAfter(Duration time) {
    clock.Advance(time);
    collector.DeleteOneIfDue({});
  }

  ProfileCollector collector{api,   profiles, state,    [this] { return may_act; },
                             clock, log,      hours(24)};
};

TEST_F(ProfileCollectorTest, DeletesAProfileWithoutPodsAfterADay) {
  HaveMeasured(MeasuredBert());
  LookAfter(hours(24));
  EXPECT_THAT(api.calls, IsEmpty());
  LookAfter(minutes(2));
  EXPECT_THAT(api.calls, ElementsAre("delete team/" + name_));
  LookAfter(minutes(2));
  EXPECT_THAT(api.calls, SizeIs(1));
}

TEST_F(ProfileCollectorTest, AsLongAsAPodIsOfTheWorkloadItStays) {
  HaveMeasured(MeasuredBert());
  HaveRunning("a");
  LookAfter(hours(48));
  EXPECT_THAT(api.calls, IsEmpty());
  state.RemovePod("a");
  pods.Put(synergy::testing::ManagedPod("waits", "", 3, ""));
  pods.ChangeManaged("waits", [](ManagedContainer& fungible) { fungible.workload = "bert"; });
  See("waits");
  LookAfter(minutes(2));
  EXPECT_THAT(api.calls, IsEmpty());
}

TEST_F(ProfileCollectorTest, DeletesAnAdoptedProfileSoonAndThenItsSource) {
  HaveMeasured(MeasuredBert());
  MeasuredProfile taken = MeasuredBert();
  taken.workload = "gpt";
  taken.taken = {name_, LooserIdentity::kArguments};
  HaveMeasured(taken);
  HaveRunning("a");
  pods.ChangeManaged("a", [](ManagedContainer& fungible) { fungible.workload = "gpt"; });
  See("a");
  LookAfter(hours(48));
  EXPECT_THAT(api.calls, IsEmpty());
  state.RemovePod("a");
  LookAfter(minutes(2));
  EXPECT_THAT(api.calls, ElementsAre("delete team/" + MeasuredName(taken)));
  LookAfter(minutes(2));
  EXPECT_THAT(api.calls, SizeIs(2));
}

TEST_F(ProfileCollectorTest, OneGoesAtATimeAndAFailureIsTriedAgain) {
  for (const char* product : {"A100", "H100"}) HaveMeasured(MeasuredBert(1, product));
  api.failure = {ErrorCode::kUnavailable, "no answer"};
  LookAfter(hours(48));
  EXPECT_THAT(api.calls, SizeIs(1));
  api.failure.reset();
  LookAfter(minutes(2));
  EXPECT_THAT(api.calls, SizeIs(2));
  LookAfter(minutes(2));
  EXPECT_THAT(api.calls, SizeIs(3));
  EXPECT_FALSE(profiles.AnyMeasured());
}

TEST_F(ProfileCollectorTest, OneThatStaysDoesNotDelayTheOthers) {
  for (const char* product : {"A100", "H100", "V100"}) HaveMeasured(MeasuredBert(1, product));
  const auto all = profiles.All();
  for (int look = 0; look < 3; ++look) {
    LookAfter(hours(look == 0 ? 48 : 1));
    // A finalizer keeps the first one.
    profiles.Upsert(all.front()->object);
  }
  EXPECT_EQ(profiles.All().size(), 1U);
  LookAfter(minutes(2));
  EXPECT_THAT(api.calls, SizeIs(4)) << "it is tried again";
}

TEST_F(ProfileCollectorTest, OnlyTheLeaderDeletes) {
  HaveMeasured(MeasuredBert());
  may_act = false;
  LookAfter(hours(48));
  EXPECT_THAT(api.calls, IsEmpty());
}

TEST_F(ProfileCollectorTest, ResultsOfPacksAreMeasurements) {
  const ProfileObject made = *api.Create("team", MeasuredBert(), {});
  ASSERT_TRUE(api.WritePacking(made, {{.with = "gpt", .good = true, .at = clock.WallNow()}}, {}));
  api.calls.clear();
  LookAfter(hours(24));
  EXPECT_THAT(api.calls, IsEmpty());
  LookAfter(minutes(2));
  EXPECT_THAT(api.calls, ElementsAre("delete team/" + name_));
}

TEST_F(ProfileCollectorTest, DeletesAProfileThatWasNeverFilled) {
  HaveRunning("a");
  ASSERT_TRUE(api.Create("team", MeasuredBert(), {}));
  api.calls.clear();
  LookAfter(minutes(2));
  EXPECT_THAT(api.calls, IsEmpty());
  state.RemovePod("a");
  LookAfter(minutes(2));
  EXPECT_THAT(api.calls, ElementsAre("delete team/" + name_));
}

TEST_F(ProfileCollectorTest, KeepsAProfileWrittenByAUser) {
  ProfileObject theirs;
  theirs.profile_namespace = "team";
  theirs.name = "theirs";
  profiles.Upsert(theirs);
  ProfileObject copied = theirs;
  copied.name = "copied";
  copied.kept_by_us = true;
  copied.profile =
      std::make_shared<const JobProfile>(*JobProfile::Create(Gpus(1), {{Cores(1), GB(1), 1}}));
  profiles.Upsert(copied);
  LookAfter(hours(48));
  EXPECT_THAT(api.calls, IsEmpty());
}

}  // namespace
}  // namespace synergy::controller
