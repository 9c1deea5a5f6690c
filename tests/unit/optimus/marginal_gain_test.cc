#include "optimus/marginal_gain.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using ::testing::ElementsAre;

// Returns a job with 1 / f = a / w + b + d w.
ElasticJob AllReduce(double work, std::vector<double> factors, int least, int most) {
  return {.work_left = work,
          .speed = SpeedCurve{SpeedForm::kAllReduce, 1, std::move(factors)},
          .worker = {1},
          .server = {},
          .least_workers = least,
          .most_workers = most};
}

std::vector<Tasks> Serve(const std::vector<ElasticJob>& jobs, std::vector<double> capacity) {
  return ServeGains(jobs, capacity);
}

TEST(MarginalGainTest, WorkersGoWhereTheyGainMost) {
  // The remaining times are 12 / w and 3 / w, so the gains are 6, 2, 1, ... and 1.5, 0.5, ...
  EXPECT_THAT(Serve({AllReduce(12, {1, 0, 0}, 1, 9), AllReduce(3, {1, 0, 0}, 1, 9)}, {5}),
              ElementsAre(Tasks{0, 3}, Tasks{0, 2}));
}

TEST(MarginalGainTest, LeastComesFirstByArrivalAndMostIsKept) {
  EXPECT_THAT(Serve({AllReduce(1, {1, 0, 0}, 2, 3), AllReduce(100, {1, 0, 0}, 4, 5),
                     AllReduce(1, {1, 0, 0}, 1, 2)},
                    {5}),
              ElementsAre(Tasks{0, 3}, Tasks{0, 0}, Tasks{0, 2}));
  EXPECT_THAT(Serve({AllReduce(100, {1, 0, 0}, 1, 3)}, {8}), ElementsAre(Tasks{0, 3}));
}

TEST(MarginalGainTest, NoJobGetsTasksThatSlowItDown) {
  // 4 / w + w: two workers are the best number.
  EXPECT_THAT(Serve({AllReduce(10, {4, 0, 1}, 1, 8)}, {8}), ElementsAre(Tasks{0, 2}));
}

TEST(MarginalGainTest, JobOfUnknownSpeedKeepsItsLeast) {
  ElasticJob unknown = AllReduce(100, {}, 2, 8);
  unknown.speed.reset();
  EXPECT_THAT(Serve({unknown, AllReduce(1, {1, 0, 0}, 1, 2)}, {8}),
              ElementsAre(Tasks{0, 2}, Tasks{0, 2}));
}

TEST(MarginalGainTest, EndsWithTheFirstThatDoesNotFit) {
  // The first job's workers are twice as large and still gain most. The one GPU that is left stays
  // idle.
  ElasticJob large = AllReduce(100, {1, 0, 0}, 1, 9);
  large.worker = {2};
  EXPECT_THAT(Serve({large, AllReduce(1, {1, 0, 0}, 1, 9)}, {4}),
              ElementsAre(Tasks{0, 1}, Tasks{0, 1}));
}

TEST(MarginalGainTest, GainsAreByTheAmountOfTheDominantResource) {
  // With 100 CPUs and 8 GPUs, the GPU is the dominant resource of the first job (amount 1), and the
  // CPU that of the second (amount 40). So the second's gain of 20 counts as 0.5, less than the
  // first's 1.
  ElasticJob first = AllReduce(2, {1, 0, 0}, 1, 2);
  first.worker = {1, 1};
  ElasticJob second = AllReduce(40, {1, 0, 0}, 1, 2);
  second.worker = {40, 1};
  EXPECT_THAT(Serve({first, second}, {100, 3}), ElementsAre(Tasks{0, 2}, Tasks{0, 1}));
}

TEST(MarginalGainTest, ServersGoBeforeWorkersOfEqualGain) {
  // 1 / f = w/p + ... : with one of each, another server halves the only term, and another worker
  // doubles it.
  ElasticJob job{.work_left = 10,
                 .speed = SpeedCurve{SpeedForm::kSynchronous, 1, {1, 0, 1, 0, 0}},
                 .worker = {1},
                 .server = {1},
                 .least_workers = 1,
                 .most_workers = 2};
  // A server changes 1 + 1 to 1 + 0.5, a worker to 0.5 + 2.
  EXPECT_THAT(Serve({job}, {3}), ElementsAre(Tasks{2, 1}));
  job.speed->factors = {1, 0, 0, 0, 0};
  // A server gains nothing, a worker gains a half.
  EXPECT_THAT(Serve({job}, {3}), ElementsAre(Tasks{1, 2}));
  job.speed->factors = {0, 1, 0, 0, 0};
  // Neither gains or loses anything.
  EXPECT_THAT(Serve({job}, {3}), ElementsAre(Tasks{2, 1}));
}

TEST(MarginalGainTest, EqualGainsGoByArrival) {
  EXPECT_THAT(Serve({AllReduce(5, {1, 0, 0}, 1, 9), AllReduce(5, {1, 0, 0}, 1, 9)}, {3}),
              ElementsAre(Tasks{0, 2}, Tasks{0, 1}));
}

}  // namespace
}  // namespace synergy::testing
