#include "profile/measured/measurement_plan.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::Lt;
using ::testing::SizeIs;

MeasurementPlan Plan(MeasurementPlan::Range range) {
  Result<MeasurementPlan> plan = MeasurementPlan::Create(range);
  if (!plan) ADD_FAILURE() << plan.error().message;
  return plan.value();
}

// Returns the measured amounts, in order, for a job whose throughput is `job(cores)`.
std::vector<MilliCpu> Measure(const MeasurementPlan& plan,
                              const std::function<double(double)>& job) {
  std::vector<CpuPoint> points;
  std::vector<MilliCpu> order;
  while (const std::optional<MilliCpu> next = plan.Next(points)) {
    order.push_back(*next);
    points.push_back({*next, job(static_cast<double>(next->count()) / 1000)});
    if (order.size() > 1000) break;
  }
  return order;
}

TEST(MeasurementPlanTest, BothEndsComeFirst) {
  const MeasurementPlan plan = Plan({.least = Cores(1), .most = Cores(24)});
  EXPECT_EQ(plan.Next({}), Cores(24));
  EXPECT_EQ(plan.Next(std::vector<CpuPoint>{{Cores(24), 3}}), Cores(1));
}

TEST(MeasurementPlanTest, EndsThatDifferByLessThanATenthAreEnough) {
  const MeasurementPlan plan = Plan({.most = Cores(24)});
  EXPECT_EQ(plan.Next(std::vector<CpuPoint>{{Cores(1), 100}, {Cores(24), 109.9}}), std::nullopt);
  EXPECT_EQ(plan.Next(std::vector<CpuPoint>{{Cores(1), 100}, {Cores(24), 110}}), Cores(12));
}

TEST(MeasurementPlanTest, TheGapWithTheLargestDifferenceIsHalvedFirst) {
  const MeasurementPlan plan = Plan({.most = Cores(25)});
  EXPECT_EQ(plan.Next(std::vector<CpuPoint>{{Cores(1), 1}, {Cores(13), 4}, {Cores(25), 6}}),
            Cores(7));
  EXPECT_EQ(plan.Next(std::vector<CpuPoint>{{Cores(25), 6}, {Cores(13), 2}, {Cores(1), 1}}),
            Cores(19));
}

TEST(MeasurementPlanTest, SkipsAmountsAboveSaturation) {
  const auto order =
      Measure(Plan({.most = Cores(24)}), [](double cores) { return std::min(cores, 3.0); });
  EXPECT_THAT(order, ElementsAre(Cores(24), Cores(1), Cores(12), Cores(6), Cores(3), Cores(2)));
}

TEST(MeasurementPlanTest, AJobThatNeedsNoCpuIsMeasuredTwice) {
  EXPECT_THAT(Measure(Plan({.most = Cores(24)}), [](double) { return 1.0; }), SizeIs(2));
  EXPECT_THAT(Measure(Plan({.most = Cores(24)}), [](double) { return 0.0; }), SizeIs(2));
}

TEST(MeasurementPlanTest, NoAmountIsMeasuredTwiceAndNoneBelowTheStep) {
  const auto order = Measure(Plan({.most = Cores(24)}), [](double cores) { return cores; });
  EXPECT_THAT(order, SizeIs(Lt(25U)));
  for (const MilliCpu cpu : order) EXPECT_EQ(cpu.count() % 1000, 0);
  const auto half = Measure(Plan({.least = MilliCpu(500), .most = Cores(2), .step = MilliCpu(500)}),
                            [](double cores) { return cores; });
  EXPECT_THAT(half, ElementsAre(Cores(2), MilliCpu(500), Cores(1), MilliCpu(1500)));
}

TEST(MeasurementPlanTest, OneAmountIsARange) {
  EXPECT_THAT(Measure(Plan({.least = Cores(3), .most = Cores(3)}), [](double) { return 1.0; }),
              ElementsAre(Cores(3)));
}

TEST(MeasurementPlanTest, IgnoresInvalidMeasurements) {
  const MeasurementPlan plan = Plan({.least = Cores(2), .most = Cores(8)});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(plan.Next(std::vector<CpuPoint>{{Cores(8), nan}}), Cores(8));
  EXPECT_EQ(plan.Next(std::vector<CpuPoint>{{Cores(8), 1}, {Cores(2), -1}}), Cores(2));
  EXPECT_EQ(plan.Next(std::vector<CpuPoint>{{Cores(1), 0}, {Cores(2), 5}, {Cores(8), 5}}),
            std::nullopt);
}

TEST(MeasurementPlanTest, ARangeThatMakesNoSenseIsRefused) {
  const auto error = [](MeasurementPlan::Range range) {
    const Result<MeasurementPlan> plan = MeasurementPlan::Create(range);
    return plan ? "no error" : plan.error().message;
  };
  const std::string empty = "the range of CPU amounts to measure is empty";
  EXPECT_EQ(error({.least = Cores(3), .most = Cores(2)}), empty);
  EXPECT_EQ(error({.least = Cores(0), .most = Cores(2)}), empty);
  EXPECT_EQ(error({.most = Cores(2), .step = Cores(0)}),
            "the step between CPU amounts to measure must be above 0");
  EXPECT_EQ(error({.most = Cores(2), .threshold = -0.1}),
            "the threshold must be a number and not negative");
}

}  // namespace
}  // namespace synergy::testing
