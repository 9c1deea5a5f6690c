#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "profiler_fixture.h"

namespace synergy::testing {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using Kind = ProfilerActionKind;

const LooserIdentities kSweep{.arguments = "a-0123456789abcdef", .owner = {}};

class ProfilerHintsTest : public ProfilerTest {
 protected:
  static Pod Trial(const std::string& name, const std::string& workload,
                   const LooserIdentities& alike = kSweep) {
    return With(Unprofiled(name, "n1", workload),
                [&](ManagedContainer& fungible) { fungible.alike = alike; });
  }
  void End(const std::string& name) {
    const Pod pod = *state.FindPod(name);
    state.RemovePod(pod.uid);
    trainings.erase(pod.uid);
  }
  // Runs a pod until its profile is confirmed.
  void Measure(const std::string& workload, Training training = {}) {
    const Pod pod = Trial("first", workload);
    Begin(pod, training);
    Run(minutes(20));
    ASSERT_TRUE(Last().confirmed);
    ASSERT_GE(Count(Kind::kProbe), 1U);
    ASSERT_FALSE(Last().taken);
    state.RemovePod(pod.uid);
    trainings.clear();
    actions.clear();
  }
};

TEST_F(ProfilerHintsTest, ASweepOneAfterTheOtherIsMeasuredOnce) {
  Measure("w-0");
  for (int trial = 1; trial < 20; ++trial) {
    actions.clear();
    const std::string workload = "w-" + std::to_string(trial);
    const Pod pod = Trial("trial-" + std::to_string(trial), workload);
    Begin(pod);
    Run(minutes(4));
    EXPECT_EQ(Count(Kind::kProbe), 0U) << "trial " << trial;
    ASSERT_GE(Count(Kind::kPublish), 1U) << "trial " << trial;
    EXPECT_EQ(Last().workload, workload);
    EXPECT_TRUE(Last().confirmed);
    ASSERT_TRUE(Last().taken);
    EXPECT_EQ(Last().taken->profile, MeasuredName("w-0", Gpus(1), ""));
    EXPECT_EQ(Last().taken->by, LooserIdentity::kArguments);
    state.RemovePod(pod.uid);
    trainings.clear();
  }
}

TEST_F(ProfilerHintsTest, ASweepAtTheSameTimeIsProbedInOneTrial) {
  for (const char* node : {"n1", "n2", "n3"}) {
    for (int i = 0; i < 4; ++i) {
      const std::string name = std::string(node) + "-" + std::to_string(i);
      Pod pod = With(Unprofiled(name, node, "w-" + name),
                     [](ManagedContainer& fungible) { fungible.alike = kSweep; });
      if (state.Snapshot()->Find(node)) Begin(pod);
    }
  }
  ASSERT_GE(trainings.size(), 4U);
  Run(minutes(30));
  std::set<std::string> probed;
  for (const ProfilerAction& action : Of(Kind::kProbe))
    probed.insert(action.pod->fungible->workload);
  EXPECT_EQ(probed.size(), 1U);
  for (const auto& [uid, training] : trainings) {
    const std::string& workload = state.FindPod(uid)->fungible->workload;
    const auto published = catalog.Find("team", MeasuredName(workload, Gpus(1), ""));
    ASSERT_NE(published, nullptr) << workload;
    EXPECT_TRUE(published->confirmed) << workload;
    EXPECT_EQ(published->taken.has_value(), !probed.contains(workload)) << workload;
  }
}

TEST_F(ProfilerHintsTest, OneThatIsNotLikeTheHintIsMeasuredItself) {
  Measure("w-0");
  // The hint is for 10 iterations per second. The first of these uses a whole number of cores, so
  // too few workers may be the cause of its speed.
  for (const double best : {4.0, 4.8}) {
    actions.clear();
    const Pod pod = Trial("other", "w-" + std::to_string(best));
    Begin(pod, {.best = best, .cost = 0.5});
    Run(minutes(20));
    ASSERT_GE(Count(Kind::kPublish), 1U);
    for (const MeasuredProfile& published : Published()) EXPECT_FALSE(published.taken) << best;
    EXPECT_GE(Count(Kind::kProbe), 1U) << best;
    EXPECT_EQ(Last().workload, pod.fungible->workload);
    state.RemovePod(pod.uid);
    trainings.clear();
  }
}

TEST_F(ProfilerHintsTest, OneThatNeedsMoreCpuForAnIterationIsMeasuredItself) {
  Measure("w-0", {.best = 3});
  Begin(Trial("other", "w-1"), {.best = 3, .cost = 0.9});
  Run(minutes(4));
  for (const MeasuredProfile& published : Published()) EXPECT_FALSE(published.taken);
}

TEST_F(ProfilerHintsTest, NothingIsTakenFromWorkloadsThatAreNotAlike) {
  Measure("w-0");
  Begin(Trial("other", "w-1", {.arguments = "a-fedcba9876543210", .owner = {}}));
  Run(minutes(20));
  EXPECT_GE(Count(Kind::kProbe), 1U);
  EXPECT_FALSE(Last().taken);
}

TEST_F(ProfilerHintsTest, AdoptedProfileThatDriftsIsMeasuredItself) {
  Measure("w-0");
  const Pod pod = Trial("other", "w-1");
  Begin(pod);
  Run(minutes(5));
  ASSERT_TRUE(Last().taken);
  trainings[pod.uid].cost = 1;
  Run(minutes(40));
  EXPECT_FALSE(Last().drifted);
  EXPECT_FALSE(Last().taken);
  EXPECT_NEAR(*Last().cpu_seconds, 1, 0.05);
}

TEST_F(ProfilerHintsTest, AnotherLeaderFindsTheHintAgain) {
  Measure("w-0");
  const Pod pod = Trial("other", "w-1");
  Begin(pod);
  Run(seconds(30));
  memory = {};
  Run(minutes(5));
  ASSERT_TRUE(Last().taken);
  EXPECT_EQ(Count(Kind::kProbe), 0U);
}

TEST_F(ProfilerHintsTest, AHintOnThePodDoesNotKeepItFromBeingMeasured) {
  Measure("w-0");
  const Pod pod = With(Trial("other", "w-1"), [](ManagedContainer& fungible) {
    fungible.profile = MeasuredName("w-0", Gpus(1), "");
    fungible.profile_generation = 1;
    fungible.hint = LooserIdentity::kArguments;
  });
  Begin(pod);
  Run(minutes(5));
  ASSERT_GE(Count(Kind::kPublish), 1U);
  EXPECT_TRUE(Last().taken);
}

}  // namespace
}  // namespace synergy::testing
