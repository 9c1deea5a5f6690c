#include "engine/profiler/contradiction.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine_fixture.h"

namespace synergy::testing {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr WallTime kSince = WallTime{} + std::chrono::hours(1);

// Tests a pod with the given profile "sensitive" and its true training. The profile's speed is
// proportional to CPU from 1 to 9 cores; an iteration counts 5 in its units.
class ContradictionTest : public EngineTest {
 protected:
  ContradictionTest() {
    given.version = {"uid", 1};
    given.curve = profiles.profiles.at("sensitive");
  }

  // CPU seconds per iteration, and the highest iterations per second.
  double cost = 0.2;
  double best = 1000;
  std::optional<double> epoch = std::nullopt;

  static Pod Limited(const std::string& name, int64_t cores) {
    return With(ManagedPod(name, "n1", cores), [&](ManagedContainer& fungible) {
      fungible.workload = "w-1";
      fungible.cpu_limit = Cores(cores);
    });
  }
  void Give(int64_t cores, bool limited = true) {
    Pod next = Limited("a", cores);
    if (!limited) {
      next = With(next, [](ManagedContainer& fungible) { fungible.cpu_limit.reset(); });
    }
    const bool grown = pod != nullptr;
    next = With(next, [&](ManagedContainer& fungible) {
      fungible.change = ChangeRecord{grown ? ChangeKind::kGrown : ChangeKind::kAllocated,
                                     fungible.requested, fungible.requested, "", at.wall};
    });
    pod = std::make_shared<const Pod>(next);
  }

  // Reports every ten seconds. Stores new verdicts in `verdict`.
  void Train(Duration time) {
    for (Duration passed{}; passed < time; passed += seconds(10)) {
      at.now += seconds(10);
      at.wall += seconds(10);
      const double had = InCores(pod->fungible->requested.cpu);
      const double rate = std::min(best, had / cost);
      progress.iterations += rate * 10;
      progress.cpu->used += std::chrono::duration_cast<Duration>(Seconds(rate * cost * 10));
      if (rate < best) *progress.cpu->waited += seconds(9);
      progress.cpu->at = at.wall;
      progress.last = at.wall;
      progress.uid = "a";
      progress.epoch = epoch;
      const auto claimed =
          finder.Observe(memory, pod, Cores(12), "A100", given, progress, kSince, at);
      if (claimed) verdict = *claimed;
    }
  }

  std::shared_ptr<const Pod> pod;
  GivenProfile given;
  PodProgress progress{.format = "tqdm", .cpu = CpuUse{.waited = Duration::zero()}};
  ContradictionFinder finder{ProfilerSettings{}};
  ContradictionMemory memory;
  std::optional<ProfileVerdict> verdict;
};

TEST_F(ContradictionTest, OneAmountOfCpuGivesNoVerdictInAnyUnit) {
  best = 3;
  Give(3);
  Train(minutes(30));
  EXPECT_FALSE(verdict);
}

TEST_F(ContradictionTest, APodThatFollowsItsProfileInAnotherUnitFits) {
  Give(9);
  Train(minutes(5));
  Give(3);
  Train(minutes(12));
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->verdict, Verdict::kFits);
}

TEST_F(ContradictionTest, PodThatACutDoesNotSlowContradictsASteepCurve) {
  cost = 0.02;
  best = 10;
  Give(9);
  Train(minutes(5));
  Give(3);
  Train(minutes(5));
  EXPECT_FALSE(verdict) << "not for long enough";
  Train(minutes(7));
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->verdict, Verdict::kContradicted);
  EXPECT_EQ(verdict->version, (ProfileVersion{"uid", 1}));
  EXPECT_THAT(verdict->message, HasSubstr("with 9 of CPU pods are 1.00 times as fast as with 3"));
  EXPECT_THAT(verdict->message, HasSubstr("the profile says 3.00 times"));
}

TEST_F(ContradictionTest, PodThatACutSlowsContradictsAFlatCurve) {
  given.curve = profiles.profiles.at("insensitive");
  Give(9);
  Train(minutes(5));
  Give(3);
  Train(minutes(12));
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->verdict, Verdict::kContradicted);
}

TEST_F(ContradictionTest, ProfileThatFitsAgainIsNoLongerContradicted) {
  given.curve = profiles.profiles.at("insensitive");
  Give(9);
  Train(minutes(5));
  Give(3);
  Train(minutes(12));
  ASSERT_TRUE(verdict);
  best = 15;  // as with 3 cores: a cut costs it nothing now
  Give(9);
  Train(minutes(12));
  EXPECT_EQ(verdict->verdict, Verdict::kFits);
}

TEST_F(ContradictionTest, MoreCpuThanTheContainerBeganWithMayFindTooFewWorkers) {
  best = 15;
  Give(3);
  Train(minutes(5));
  Give(9);
  Train(minutes(15));
  EXPECT_FALSE(verdict && verdict->verdict == Verdict::kContradicted);
}

TEST_F(ContradictionTest, WithoutALimitAPodMayHaveHadAnyOfItsNodesCpu) {
  cost = 0.02;
  best = 10;
  Give(9, false);
  Train(minutes(5));
  Give(3, false);
  Train(minutes(15));
  EXPECT_FALSE(verdict && verdict->verdict == Verdict::kContradicted);
}

TEST_F(ContradictionTest, PodsOfAJobWithSeveralAreNotJudged) {
  cost = 0.02;
  best = 10;
  for (const bool is_gang : {false, true}) {
    const auto member = [&] {
      Pod copy = *pod;
      if (is_gang) {
        copy.labels.clear();
        copy.gang = std::make_shared<const Gang>(Gang{"team/g", 2, {}});
      } else {
        copy.labels = {{"batch.kubernetes.io/job-completion-index", "1"}};
      }
      pod = std::make_shared<const Pod>(copy);
    };
    Give(9);
    member();
    Train(minutes(5));
    Give(3);
    member();
    Train(minutes(15));
    EXPECT_FALSE(verdict) << is_gang;
  }
}

TEST_F(ContradictionTest, TheFirstEpochsDoNotCount) {
  cost = 0.02;
  best = 10;
  epoch = 1;
  Give(9);
  Train(minutes(5));
  Give(3);
  Train(minutes(15));
  EXPECT_FALSE(verdict);
  epoch = 2;
  Give(9);
  Train(minutes(5));
  Give(3);
  Train(minutes(15));
  ASSERT_TRUE(verdict) << "it was given no more than it began with";
  EXPECT_EQ(verdict->verdict, Verdict::kContradicted);
}

TEST_F(ContradictionTest, AnotherGenerationIsJudgedAnew) {
  cost = 0.02;
  best = 10;
  Give(9);
  Train(minutes(5));
  Give(3);
  Train(minutes(12));
  ASSERT_TRUE(verdict);
  verdict.reset();
  const ProfileVersion next = {"uid", 2};
  const ProfileVersion created_again = {"another uid", 2};
  for (const ProfileVersion& version : {next, created_again}) {
    given = {version, profiles.profiles.at("insensitive")};
    Train(minutes(12));
    EXPECT_FALSE(verdict) << "with one amount of CPU nothing is known of it";
  }
}

}  // namespace
}  // namespace synergy::testing
