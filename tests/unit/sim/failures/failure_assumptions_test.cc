#include "sim/failures/failure_assumptions.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using ::testing::HasSubstr;

const std::string kHead =
    "category,jobs,median_minutes,mean_minutes,again,again_same_node,tries,checkpoint_minutes\n";

std::string ErrorOf(const std::string& text) {
  const auto parsed = ParseFailureAssumptions(text, "f.csv");
  return parsed ? "none" : parsed.error().message;
}

TEST(FailureAssumptions, ALineIsAKindOfFailure) {
  const auto parsed = ParseFailureAssumptions(
      kHead + "gpu-lost,0.02,60,90,0,0.8,4,30\nimport,0.5,1,1,1,1,7,0\n", "f.csv");
  ASSERT_TRUE(parsed) << parsed.error().message;
  ASSERT_EQ(parsed->size(), 2U);
  const FailureAssumption& failure = parsed->front();
  EXPECT_EQ(failure.category, Category::kGpuLost);
  EXPECT_EQ(failure.jobs, 0.02);
  EXPECT_EQ(failure.median, Seconds(3600));
  EXPECT_EQ(failure.mean, Seconds(5400));
  EXPECT_EQ(failure.again, 0);
  EXPECT_EQ(failure.again_same_node, 0.8);
  EXPECT_EQ(failure.tries, 4U);
  EXPECT_EQ(failure.checkpoint, Seconds(1800));
}

TEST(FailureAssumptions, WrongOnesAreRefusedWithPlaceAndCure) {
  EXPECT_THAT(ErrorOf(kHead + "luck,0.02,60,90,0,0.8,4,30\n"),
              HasSubstr("f.csv:2:1: category is \"luck\": write one of the categories"));
  EXPECT_THAT(ErrorOf(kHead + "import,1.5,1,1,1,1,7,0\n"), HasSubstr("f.csv:2:8: jobs"));
  EXPECT_THAT(ErrorOf(kHead + "import,0.6,1,1,1,1,7,0\nsyntax,0.6,1,1,1,1,7,0\n"),
              HasSubstr("f.csv:3:8: jobs is \"0.6\": write parts whose sum is at most 1"));
  EXPECT_THAT(ErrorOf(kHead + "import,0.6,2,1,1,1,7,0\n"), HasSubstr("no less than median"));
  EXPECT_THAT(ErrorOf(kHead + "import,0.6,0,1,1,1,7,0\n"), HasSubstr("median_minutes"));
  EXPECT_THAT(ErrorOf(kHead + "import,0.6,1,1,2,1,7,0\n"), HasSubstr("again is \"2\""));
  EXPECT_THAT(ErrorOf(kHead + "import,0.6,1,1,1,1,0,0\n"), HasSubstr("tries"));
  EXPECT_THAT(ErrorOf(kHead + "import,0.6,1,1,1,1,1001,0\n"), HasSubstr("at most 1000"));
  EXPECT_THAT(ErrorOf(kHead + "import,0.6,1,1,1,1,7,-1\n"), HasSubstr("checkpoint_minutes"));
  EXPECT_THAT(ErrorOf("category,jobs\n"), HasSubstr("median_minutes"));
}

}  // namespace
}  // namespace synergy::testing
