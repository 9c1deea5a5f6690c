// Tests profiles from scattered and noisy points.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "profile/cache_model.h"
#include "profile/job_profile.h"
#include "profile/measured/measurement_plan.h"

namespace synergy::testing {
namespace {

using Point = JobProfile::Point;

// Returns distinct amounts with throughputs in no order.
std::vector<Point> ScatteredPoints() {
  std::map<std::pair<int, int>, double> points;
  const int count = *rc::gen::inRange(1, 12);
  for (int i = 0; i < count; ++i)
    points[*rc::gen::pair(rc::gen::inRange(1, 9), rc::gen::inRange(1, 9))] =
        *rc::gen::inRange(0, 100) / 10.0;
  points.begin()->second += 0.5;
  std::vector<Point> scattered;
  for (const auto& [amounts, throughput] : points)
    scattered.push_back({MilliCpu(amounts.first * 700), GB(amounts.second) * 3, throughput});
  return scattered;
}

JobProfile ScatteredProfile(std::vector<Point> points) {
  Result<JobProfile> profile = JobProfile::Create(Gpus(1), std::move(points));
  RC_ASSERT(profile.has_value());
  return *profile;
}

std::pair<MilliCpu, Bytes> AnyAmounts() {
  return {MilliCpu(*rc::gen::inRange(0, 8000)),
          Bytes(*rc::gen::inRange(0, 32'000) * int64_t{1'000'000})};
}

// Returns the greatest throughput of a point with no more CPU and no more memory.
double FastestWithin(const std::vector<Point>& points, MilliCpu cpu, Bytes memory) {
  double fastest = 0;
  for (const Point& point : points) {
    if (point.cpu <= cpu && point.memory <= memory) fastest = std::max(fastest, point.throughput);
  }
  return fastest;
}

RC_GTEST_PROP(JobProfileProperty, NeverFallsAsCpuAndMemoryRise, ()) {
  const JobProfile profile = ScatteredProfile(ScatteredPoints());
  const auto [cpu, memory] = AnyAmounts();
  const auto [more_cpu, more_memory] = AnyAmounts();
  const double less = profile.ThroughputAt(cpu, memory);
  const double more = profile.ThroughputAt(cpu + more_cpu, memory + more_memory);
  RC_ASSERT(more >= less * (1 - 1e-12));
}

RC_GTEST_PROP(JobProfileProperty, StaysBetweenNothingAndTheBestMeasuredPoint, ()) {
  const std::vector<Point> points = ScatteredPoints();
  const JobProfile profile = ScatteredProfile(points);
  const auto [cpu, memory] = AnyAmounts();
  const double best = FastestWithin(points, Cores(1000), GB(1000));
  RC_ASSERT(profile.Best() == best);
  RC_ASSERT(profile.ThroughputAt(cpu, memory) >= 0);
  RC_ASSERT(profile.ThroughputAt(cpu, memory) <= best);
}

RC_GTEST_PROP(JobProfileProperty, HoldsAtEveryMeasuredPointWhatWasMeasuredThereOrWithLess, ()) {
  const std::vector<Point> points = ScatteredPoints();
  const JobProfile profile = ScatteredProfile(points);
  size_t raised = 0;
  for (const Point& point : points) {
    const double fastest = FastestWithin(points, point.cpu, point.memory);
    if (fastest > point.throughput) ++raised;
    RC_ASSERT(profile.ThroughputAt(point.cpu, point.memory) == fastest);
  }
  RC_ASSERT(profile.warnings().size() == raised);
}

RC_GTEST_PROP(JobProfileProperty, DoesNotDependOnTheOrderOfThePoints, ()) {
  const std::vector<Point> points = ScatteredPoints();
  std::vector<Point> shuffled = points;
  for (size_t i = shuffled.size(); i > 1; --i)
    std::swap(shuffled[i - 1], shuffled[*rc::gen::inRange<size_t>(0, i)]);
  const JobProfile one = ScatteredProfile(points);
  const JobProfile other = ScatteredProfile(shuffled);
  for (size_t i = 0; i < one.cpus().size(); ++i) {
    for (size_t j = 0; j < one.memories().size(); ++j)
      RC_ASSERT(one.Cell(i, j) == other.Cell(i, j));
  }
}

RC_GTEST_PROP(JobProfileProperty, TheDemandIsEnoughAndNoSmallerCellIs, ()) {
  const JobProfile profile = ScatteredProfile(ScatteredPoints());
  const double tolerance = *rc::gen::inRange(0, 10) / 10.0;
  const double enough = (1 - tolerance) * profile.Best();
  const ResourceVector demand = profile.Demand(tolerance);
  RC_ASSERT(profile.ThroughputAt(demand.cpu, demand.memory) >= enough);
  for (size_t i = 0; i < profile.cpus().size(); ++i) {
    for (size_t j = 0; j < profile.memories().size(); ++j) {
      if (std::pair(profile.cpus()[i], profile.memories()[j]) <
          std::pair(demand.cpu, demand.memory))
        RC_ASSERT(profile.Cell(i, j) < enough);
    }
  }
}

RC_GTEST_PROP(JobProfileProperty, TheMoreToleranceTheLessCpu, ()) {
  const JobProfile profile = ScatteredProfile(ScatteredPoints());
  const int tolerance = *rc::gen::inRange(0, 10);
  const int more = *rc::gen::inRange(tolerance, 10);
  RC_ASSERT(profile.Demand(more / 10.0).cpu <= profile.Demand(tolerance / 10.0).cpu);
}

RC_GTEST_PROP(CacheModelProperty, ACalculatedProfileNeverLimitsAPointThatHasEnoughMemory, ()) {
  const CacheModel model{Bytes(*rc::gen::inRange<int64_t>(1, 1'000'000'000'000)),
                         Bytes(*rc::gen::inRange<int64_t>(1, 10'000'000'000)),
                         Bytes(*rc::gen::inRange<int64_t>(1, 1'000'000))};
  const double throughput = *rc::gen::inRange(1, 1'000'000) / 7.0;
  const std::vector<CpuPoint> points = {{Cores(1), throughput}};
  const Result<JobProfile> profile = CalculateProfile(Gpus(1), points, model, {});
  RC_ASSERT(profile.has_value());
  const Bytes enough = EnoughMemory(model, throughput);
  RC_ASSERT(enough <= model.data_set);
  RC_ASSERT(profile->ThroughputAt(Cores(1), enough) <= throughput);
  RC_ASSERT(profile->Demand(0).memory <=
            std::max(enough, Bytes(std::max<int64_t>(model.data_set.count() >> 4, 1))));
}

RC_GTEST_PROP(MeasurementPlanProperty, EndsAndLeavesNoGapThatMatters, ()) {
  const MeasurementPlan::Range range{.least = MilliCpu(*rc::gen::inRange(1, 5000)),
                                     .most = MilliCpu(*rc::gen::inRange(5000, 40'000)),
                                     .step = MilliCpu(*rc::gen::inRange(200, 3000))};
  const Result<MeasurementPlan> plan = MeasurementPlan::Create(range);
  RC_ASSERT(plan.has_value());
  std::vector<CpuPoint> points;
  while (const std::optional<MilliCpu> next = plan->Next(points)) {
    RC_ASSERT(*next >= range.least);
    RC_ASSERT(*next <= range.most);
    for (const CpuPoint& point : points) RC_ASSERT(point.cpu != *next);
    points.push_back({*next, *rc::gen::inRange(0, 100) / 10.0});
  }
  std::sort(points.begin(), points.end(),
            [](const auto& a, const auto& b) { return a.cpu < b.cpu; });
  for (size_t i = 1; i < points.size(); ++i) {
    const double low = std::min(points[i - 1].throughput, points[i].throughput);
    const double high = std::max(points[i - 1].throughput, points[i].throughput);
    RC_ASSERT(points[i].cpu - points[i - 1].cpu <= range.step || high <= low * 1.1 + 1e-12);
  }
}

}  // namespace
}  // namespace synergy::testing
