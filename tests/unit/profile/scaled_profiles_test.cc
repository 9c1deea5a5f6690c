#include "profile/scaled_profiles.h"

#include <memory>

#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

std::shared_ptr<const JobProfile> Make(Gpus gpus) {
  const Result<JobProfile> profile = JobProfile::Create(gpus, {{Cores(2), GiB(10), 1}});
  return std::make_shared<const JobProfile>(*profile);
}

TEST(ScaledProfilesTest, EachGpuCountIsMadeOnce) {
  ScaledProfiles scaled;
  const auto one = Make(Gpus(1));
  const auto four = scaled.Find(one, Gpus(4));
  EXPECT_EQ(four->cpus()[0], Cores(8));
  EXPECT_EQ(scaled.Find(one, Gpus(4)), four);
  EXPECT_NE(scaled.Find(one, Gpus(2)), four);
  EXPECT_NE(scaled.Find(Make(Gpus(1)), Gpus(4)), four);
}

TEST(ScaledProfilesTest, UnscaledProfileIsTheSameObject) {
  ScaledProfiles scaled;
  const auto two = Make(Gpus(2));
  EXPECT_EQ(scaled.Find(two, Gpus(2)), two);
  EXPECT_EQ(scaled.Find(two, Gpus(4)), nullptr);
  EXPECT_EQ(scaled.Find(nullptr, Gpus(4)), nullptr);
}

TEST(ScaledProfilesTest, ScaledProfilesEndWithTheirSource) {
  ScaledProfiles scaled;
  auto one = Make(Gpus(1));
  const std::weak_ptr<const JobProfile> made = scaled.Find(one, Gpus(4));
  one.reset();
  static_cast<void>(scaled.Find(Make(Gpus(1)), Gpus(2)));
  EXPECT_TRUE(made.expired());
}

TEST(ScaledProfilesTest, ManyGpuCountsOfAProfileAreNotAllKept) {
  ScaledProfiles scaled;
  const auto one = Make(Gpus(1));
  for (int gpus = 2; gpus < 100; ++gpus) EXPECT_NE(scaled.Find(one, Gpus(gpus)), nullptr);
  EXPECT_EQ(scaled.Find(one, Gpus(99)).use_count(), 1);
}

}  // namespace
}  // namespace synergy::testing
