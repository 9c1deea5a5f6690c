#include "research/optimus/elastic_training.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using ::testing::HasSubstr;

// Returns iterations per second for three models: with 1, 2, 4 and 8 workers, with 2 to 4, and with
// 1.
GavelThroughputs ElasticSpeeds() {
  return GavelThroughputs::Parse(
             "model,gpus,gpu\nlarge,1,10\nlarge,2,18\nlarge,4,30\nlarge,8,40\n"
             "middle,2,10\nmiddle,4,16\nsmall,1,10\nnone,1,0\n",
             "speeds")
      .value();
}

GavelTraceJob ElasticAsked(const char* model, int64_t gpus, int64_t steps) {
  GavelTraceJob job;
  job.model = model;
  job.gpus = gpus;
  job.steps = steps;
  return job;
}

ElasticTraining MadeTraining(const char* model, int64_t gpus, int64_t steps, uint64_t seed = 1) {
  return ElasticTraining::Make(ElasticAsked(model, gpus, steps), ElasticSpeeds(), "gpu", seed)
      .value();
}

TEST(ElasticTrainingTest, SpeedsAreTheMeasuredOnesAndLinesBetween) {
  const ElasticTraining large = MadeTraining("large", 1, 100);
  EXPECT_EQ(large.least_workers(), 1);
  EXPECT_EQ(large.most_workers(), 8);
  EXPECT_EQ(large.Speed(2), 18);
  EXPECT_EQ(large.Speed(3), 24);
  EXPECT_EQ(large.Speed(7), 37.5);
  EXPECT_EQ(MadeTraining("middle", 2, 100).least_workers(), 2);
  EXPECT_EQ(MadeTraining("small", 1, 100).most_workers(), 1);
}

TEST(ElasticTrainingTest, RunsToItsEnd) {
  ElasticTraining training = MadeTraining("large", 1, 100);
  training.Run(2, 3);
  EXPECT_EQ(training.StepsLeft(), 46);
  training.Run(8, 100);
  EXPECT_EQ(training.StepsLeft(), 0);
}

TEST(ElasticTrainingTest, ATryMeasuresEveryNumberOfWorkers) {
  ElasticTraining training = MadeTraining("large", 1, 1'000'000);
  EXPECT_FALSE(training.FittedSpeed());
  training.Run(1, 10);
  EXPECT_FALSE(training.FittedSpeed());
  training.Try();
  const auto speed = training.FittedSpeed();
  ASSERT_TRUE(speed);
  EXPECT_NEAR(speed->At({0, 4}), training.TrueSpeedFitted()->At({0, 4}), 0.15 * 30);
  ElasticTraining small = MadeTraining("small", 1, 100);
  small.Try();
  EXPECT_FALSE(small.FittedSpeed());
}

TEST(ElasticTrainingTest, RemainingStepsAreFittedFromLosses) {
  double sum = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    ElasticTraining training = MadeTraining("large", 1, 10'000, seed);
    training.Run(1, 500);  // half of the work
    sum += std::abs(training.FittedStepsLeft() / training.StepsLeft() - 1);
  }
  EXPECT_LT(sum / 100, 0.35);
  // Before the third epoch it assumes 20 epochs; the training has 20 to 100.
  const double unknown = MadeTraining("large", 1, 10'000).FittedStepsLeft();
  EXPECT_LE(unknown, 10'000);
  EXPECT_GE(unknown, 2'000);
}

TEST(ElasticTrainingTest, ModelsThatDoNotRunAreRefused) {
  const auto of = [](const char* model, int64_t gpus) {
    const auto made =
        ElasticTraining::Make(ElasticAsked(model, gpus, 1), ElasticSpeeds(), "gpu", 1);
    return made ? "made" : made.error().message;
  };
  EXPECT_THAT(of("small", 2), HasSubstr("small"));
  EXPECT_THAT(of("none", 1), HasSubstr("none does not run on gpu"));
}

}  // namespace
}  // namespace synergy::testing
