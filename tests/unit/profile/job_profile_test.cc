#include "profile/job_profile.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/random.h"
#include "support/reference_profiles.h"

namespace synergy::testing {
namespace {

using Point = JobProfile::Point;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

JobProfile Make(std::vector<Point> points, Gpus gpus = Gpus(1)) {
  Result<JobProfile> profile = JobProfile::Create(gpus, std::move(points));
  if (!profile) ADD_FAILURE() << profile.error().message;
  return profile.value();
}

std::string ErrorOf(std::vector<Point> points, Gpus gpus = Gpus(1)) {
  const Result<JobProfile> profile = JobProfile::Create(gpus, std::move(points));
  if (profile) return "no error";
  EXPECT_EQ(profile.error().code, ErrorCode::kInvalid);
  return profile.error().message;
}

// Returns a profile with two CPU and two memory amounts.
JobProfile Square() {
  return Make({{Cores(2), GiB(10), 1},
               {Cores(2), GiB(30), 1},
               {Cores(6), GiB(10), 2},
               {Cores(6), GiB(30), 4}});
}

TEST(JobProfileTest, TheGridHasEveryAmountOnceAndInOrder) {
  const JobProfile profile = Make({{Cores(6), GiB(30), 4},
                                   {Cores(2), GiB(30), 1},
                                   {Cores(6), GiB(10), 2},
                                   {Cores(2), GiB(10), 0.5}},
                                  Gpus(2));
  EXPECT_EQ(profile.gpus(), Gpus(2));
  EXPECT_THAT(profile.cpus(), ElementsAre(Cores(2), Cores(6)));
  EXPECT_THAT(profile.memories(), ElementsAre(GiB(10), GiB(30)));
  EXPECT_EQ(profile.Cell(0, 0), 0.5);
  EXPECT_EQ(profile.Cell(0, 1), 1);
  EXPECT_EQ(profile.Cell(1, 0), 2);
  EXPECT_EQ(profile.Cell(1, 1), 4);
  EXPECT_EQ(profile.Best(), 4);
  EXPECT_THAT(profile.warnings(), IsEmpty());
}

struct ErrorCase {
  std::string what;
  std::vector<Point> points;
  std::string message;
};

TEST(JobProfileTest, ErrorsNameTheInvalidPoint) {
  const Point good{Cores(1), GiB(1), 1};
  const ErrorCase cases[] = {
      {"nothing", {}, "there are no points"},
      {"no CPU", {{Cores(0), GiB(1), 1}}, "point 1 (0 CPU and 1Gi memory): CPU must be above 0"},
      {"negative CPU",
       {good, {MilliCpu(-1), GiB(1), 1}},
       "point 2 (-1m CPU and 1Gi memory): CPU must be above 0"},
      {"no memory", {{Cores(1), GiB(0), 1}}, "point 1 (1 CPU and 0 memory): memory must be above"},
      {"negative memory",
       {good, {Cores(1), GiB(-1), 1}},
       "point 2 (1 CPU and -1Gi memory): memory must be above 0"},
      {"absurd CPU",
       {{MilliCpu(std::numeric_limits<int64_t>::max()), GiB(1), 1}},
       "CPU must be above 0 and at most"},
      {"absurd memory",
       {{Cores(1), Bytes(std::numeric_limits<int64_t>::max()), 1}},
       "memory must be above 0 and at most 1Pi"},
      {"a negative throughput",
       {good, {Cores(2), GiB(1), -0.5}},
       "point 2 (2 CPU and 1Gi memory): throughput -0.5 is negative or not a number"},
      {"not a number", {{Cores(2), GiB(1), kNan}}, "throughput nan"},
      {"infinite", {{Cores(2), GiB(1), kInfinity}}, "throughput inf"},
      {"absurdly fast", {{Cores(2), GiB(1), 1e19}}, "throughput 1e+19: must be 0 or from 1e-18"},
      {"absurdly slow", {{Cores(2), GiB(1), 1e-19}}, "throughput 1e-19: must be 0 or from 1e-18"},
      {"the same amounts twice",
       {good, {Cores(2), GiB(1), 2}, good},
       "point 3 (1 CPU and 1Gi memory): occurs twice"},
      {"only zeros",
       {{Cores(1), GiB(1), 0}, {Cores(2), GiB(1), 0}},
       "no point has a throughput above 0"},
  };
  for (const auto& [what, points, message] : cases)
    EXPECT_THAT(ErrorOf(points), HasSubstr(message)) << what;
}

TEST(JobProfileTest, AJobHasAtLeastOneGpu) {
  EXPECT_EQ(ErrorOf({{Cores(1), GiB(1), 1}}, Gpus(0)), "0 GPUs: must be 1 to 1048576");
  EXPECT_EQ(ErrorOf({{Cores(1), GiB(1), 1}}, Gpus(-1)), "-1 GPUs: must be 1 to 1048576");
}

TEST(JobProfileTest, AGridBeyondReasonIsRefused) {
  std::vector<Point> scattered;
  for (int i = 1; i <= 129; ++i) scattered.push_back({Cores(i), GiB(i), 1.0 * i});
  EXPECT_EQ(ErrorOf(scattered), "129 CPU amounts and 129 memory amounts: more than 16384 cells");
  scattered.pop_back();
  EXPECT_EQ(Make(scattered).Best(), 128);
}

TEST(JobProfileTest, APointThatIsSlowerWithMoreIsNamedAndRaised) {
  const JobProfile profile = Make({{Cores(1), GiB(1), 1},
                                   {Cores(2), GiB(1), 0.75},
                                   {Cores(3), GiB(1), 2},
                                   {Cores(3), GiB(2), 1.5}});
  EXPECT_THAT(
      profile.warnings(),
      ElementsAre("2 CPU and 1Gi memory: throughput 0.75 is less than 1 with 1 CPU and 1Gi memory, "
                  "which is used here too",
                  "3 CPU and 2Gi memory: throughput 1.5 is less than 2 with 3 CPU and 1Gi memory, "
                  "which is used here too"));
  EXPECT_EQ(profile.Cell(1, 0), 1);
  EXPECT_EQ(profile.Cell(2, 1), 2);
}

TEST(JobProfileTest, NamesAFewOfManyPointsThatAreSlowerWithMore) {
  std::vector<Point> points;
  for (int i = 1; i <= 100; ++i) points.push_back({Cores(i), GiB(1), 101.0 - i});
  const JobProfile profile = Make(points);
  ASSERT_EQ(profile.warnings().size(), 17);
  EXPECT_EQ(profile.warnings().back(), "and 83 more");
  EXPECT_EQ(profile.Cell(99, 0), 100);
}

// Returns the cell by its definition, point by point. Create() computes the same in sweeps.
double DefinedCell(const std::vector<Point>& points, const JobProfile& profile, size_t i,
                   size_t j) {
  const MilliCpu cpu = profile.cpus()[i];
  const Bytes memory = profile.memories()[j];
  double lower = 0;
  double best = 0;
  double proportional = 0;
  for (const Point& point : points) best = std::max(best, point.throughput);
  const auto part = [](auto a, auto b) {
    return std::min(1.0, static_cast<double>(a.count()) / static_cast<double>(b.count()));
  };
  for (const Point& point : points) {
    if (point.cpu <= cpu && point.memory <= memory) lower = std::max(lower, point.throughput);
    proportional = std::max(proportional,
                            point.throughput * part(cpu, point.cpu) * part(memory, point.memory));
  }
  return std::max(lower, std::min(proportional, best));
}

TEST(JobProfileTest, ArbitraryPointsGiveTheDefinedValues) {
  Random random(7);
  for (int round = 0; round < 200; ++round) {
    // Each row and each column has one point, so nothing is interpolated between neighbours.
    std::vector<Point> points;
    const int count = 2 + static_cast<int>(random.Below(12));
    for (int i = 1; i <= count; ++i)
      points.push_back({Cores(i), GiB(1 + count - i), 1.0 + static_cast<double>(random.Below(50))});
    const JobProfile profile = Make(points);
    for (size_t i = 0; i < profile.cpus().size(); ++i) {
      for (size_t j = 0; j < profile.memories().size(); ++j) {
        double expected = DefinedCell(points, profile, i, j);
        // The throughput never decreases, and does not exceed a measured cell with more.
        if (i > 0) expected = std::max(expected, profile.Cell(i - 1, j));
        if (j > 0) expected = std::max(expected, profile.Cell(i, j - 1));
        for (const Point& point : points) {
          if (point.cpu >= profile.cpus()[i] && point.memory >= profile.memories()[j]) {
            EXPECT_LE(profile.Cell(i, j), profile.ThroughputAt(point.cpu, point.memory));
            expected = std::min(expected, profile.ThroughputAt(point.cpu, point.memory));
          }
        }
        EXPECT_DOUBLE_EQ(profile.Cell(i, j), expected) << round << ": " << i << ", " << j;
      }
    }
  }
}

TEST(JobProfileTest, AMissingCellIsInterpolatedAlongItsRowAndItsColumn) {
  // Along the CPU axis the throughput is linear: 2 at 2 CPU.
  const JobProfile row = Make({{Cores(1), GiB(10), 1},
                               {Cores(3), GiB(10), 3},
                               {Cores(1), GiB(20), 1},
                               {Cores(2), GiB(20), 3},
                               {Cores(3), GiB(20), 3}});
  EXPECT_DOUBLE_EQ(row.Cell(1, 0), 2);
  // Along the memory axis the time per sample is linear: 1/1 and 1/3 give 2/3 halfway.
  const JobProfile column = Make({{Cores(1), GiB(10), 1},
                                  {Cores(1), GiB(30), 3},
                                  {Cores(2), GiB(10), 1},
                                  {Cores(2), GiB(20), 3},
                                  {Cores(2), GiB(30), 3}});
  EXPECT_DOUBLE_EQ(column.Cell(0, 1), 1.5);
}

TEST(JobProfileTest, AMissingCornerIsScaledDownWithinWhatItsNeighboursAllow) {
  const JobProfile profile =
      Make({{Cores(1), GiB(20), 1}, {Cores(2), GiB(10), 0.6}, {Cores(2), GiB(20), 2}});
  // Half of the memory of a cell with 1, or half of the CPU of one with 0.6: the better of the two.
  EXPECT_DOUBLE_EQ(profile.Cell(0, 0), 0.5);
  const JobProfile scattered = Make({{Cores(1), GiB(10), 1}, {Cores(4), GiB(40), 2}});
  EXPECT_DOUBLE_EQ(scattered.Cell(0, 1), 1);
  EXPECT_DOUBLE_EQ(scattered.Cell(1, 0), 1);
}

TEST(JobProfileTest, BetweenCpuAmountsTheThroughputIsLinear) {
  EXPECT_DOUBLE_EQ(Square().ThroughputAt(Cores(3), GiB(30)), 1.75);
  EXPECT_DOUBLE_EQ(Square().ThroughputAt(Cores(4), GiB(10)), 1.5);
}

TEST(JobProfileTest, BetweenMemoryAmountsTheTimePerSampleIsLinear) {
  EXPECT_DOUBLE_EQ(Square().ThroughputAt(Cores(6), GiB(20)), 1 / ((0.5 + 0.25) / 2));
  EXPECT_DOUBLE_EQ(Square().ThroughputAt(Cores(2), GiB(20)), 1);
}

TEST(JobProfileTest, OnTheGridTheThroughputIsTheCells) {
  const JobProfile profile = Square();
  for (size_t i = 0; i < 2; ++i) {
    for (size_t j = 0; j < 2; ++j)
      EXPECT_EQ(profile.ThroughputAt(profile.cpus()[i], profile.memories()[j]), profile.Cell(i, j));
  }
}

TEST(JobProfileTest, AboveTheGridTheLastCellHolds) {
  EXPECT_EQ(Square().ThroughputAt(Cores(100), GiB(10)), 2);
  EXPECT_EQ(Square().ThroughputAt(Cores(2), GiB(1000)), 1);
  EXPECT_EQ(Square().ThroughputAt(Cores(100), GiB(1000)), 4);
}

TEST(JobProfileTest, BelowTheGridTheThroughputGoesDownToZeroInProportion) {
  EXPECT_DOUBLE_EQ(Square().ThroughputAt(Cores(1), GiB(30)), 0.5);
  EXPECT_DOUBLE_EQ(Square().ThroughputAt(Cores(6), GiB(5)), 1);
  EXPECT_DOUBLE_EQ(Square().ThroughputAt(Cores(1), GiB(5)), 0.25);
  EXPECT_EQ(Square().ThroughputAt(Cores(0), GiB(30)), 0);
  EXPECT_EQ(Square().ThroughputAt(Cores(6), GiB(0)), 0);
  EXPECT_EQ(Square().ThroughputAt(Cores(-6), GiB(-10)), 0);
}

TEST(JobProfileTest, OnePointIsAProfile) {
  const JobProfile profile = Make({{Cores(2), GiB(2), 3}});
  EXPECT_EQ(profile.ThroughputAt(Cores(2), GiB(2)), 3);
  EXPECT_EQ(profile.ThroughputAt(Cores(1), GiB(4)), 1.5);
  EXPECT_EQ(profile.Demand(0), (ResourceVector{Gpus(1), Cores(2), GiB(2)}));
}

TEST(JobProfileTest, TheDemandIsTheLeastCpuAndThenTheLeastMemoryForTheBest) {
  EXPECT_EQ(Square().Demand(0), (ResourceVector{Gpus(1), Cores(6), GiB(30)}));
  // Two cells suffice: (2, 30) needs less CPU, (6, 10) less memory.
  const JobProfile tie = Make({{Cores(2), GiB(10), 1},
                               {Cores(2), GiB(30), 4},
                               {Cores(6), GiB(10), 4},
                               {Cores(6), GiB(30), 4}});
  EXPECT_EQ(tie.Demand(0), (ResourceVector{Gpus(1), Cores(2), GiB(30)}));
}

TEST(JobProfileTest, AToleranceGivesUpALittleOfTheBest) {
  const JobProfile profile = Make({{Cores(1), GiB(1), 50},
                                   {Cores(2), GiB(1), 90},
                                   {Cores(3), GiB(1), 99},
                                   {Cores(4), GiB(1), 100}});
  EXPECT_EQ(profile.Demand(0).cpu, Cores(4));
  EXPECT_EQ(profile.Demand(0.02).cpu, Cores(3));
  EXPECT_EQ(profile.Demand(0.1).cpu, Cores(2));
  EXPECT_EQ(profile.Demand(0.999).cpu, Cores(1));
}

TEST(JobProfileDeathTest, AToleranceIsAPart) {
  EXPECT_DEATH(static_cast<void>(Square().Demand(1)), "a part of the best throughput");
  EXPECT_DEATH(static_cast<void>(Square().Demand(-0.1)), "a part of the best throughput");
}

TEST(JobProfileTest, TheAuthorsMatricesGiveTheAuthorsDemands) {
  struct Demand {
    int64_t cpu;
    int64_t megabytes;
    double speed;
  };
  const std::map<std::string, Demand> demands = {
      {"alexnet", {12, 125'000, 2.94}}, {"bert", {1, 20'830, 1}},
      {"deepspeech", {3, 62'500, 1}},   {"gnmt", {1, 20'830, 1}},
      {"lstm", {1, 20'830, 1}},         {"m5", {6, 187'500, 2.5}},
      {"mobilenet", {6, 62'500, 1.55}}, {"res18", {9, 62'500, 2.4}},
      {"res50", {4, 62'500, 1.15}},     {"shufflenet", {12, 125'000, 2.89}},
      {"transformer", {1, 20'830, 1}},  {"vae", {1, 20'830, 1}}};
  const std::map<std::string, JobProfile> profiles = ReferenceProfiles();
  ASSERT_EQ(profiles.size(), demands.size());
  for (const auto& [model, profile] : profiles) {
    const auto& [cpu, megabytes, speed] = demands.at(model);
    EXPECT_EQ(profile.Demand(0),
              (ResourceVector{Gpus(1), Cores(cpu), Bytes(megabytes * 1'000'000)}))
        << model;
    EXPECT_EQ(profile.Best(), speed) << model;
    EXPECT_EQ(profile.ThroughputAt(Cores(3), Bytes(62'500'000'000)), 1) << model;
    EXPECT_THAT(profile.warnings(), IsEmpty()) << model;
  }
}

TEST(ScaledProfileTest, EveryGpuGetsWhatTheOneGot) {
  const Result<JobProfile> four = Scaled(Square(), Gpus(4));
  ASSERT_TRUE(four.has_value());
  EXPECT_EQ(four->gpus(), Gpus(4));
  EXPECT_THAT(four->cpus(), ElementsAre(Cores(8), Cores(24)));
  EXPECT_THAT(four->memories(), ElementsAre(GiB(40), GiB(120)));
  EXPECT_EQ(four->Demand(0), (ResourceVector{Gpus(4), Cores(24), GiB(120)}));
  EXPECT_EQ(four->ThroughputAt(Cores(12), GiB(80)), Square().ThroughputAt(Cores(3), GiB(20)));
}

TEST(ScaledProfileTest, RefusesProfilesThatCannotBeScaled) {
  EXPECT_EQ(Scaled(Make({{Cores(1), GiB(1), 1}}, Gpus(2)), Gpus(4)).error().message,
            "a profile of 2 GPUs cannot be scaled");
  EXPECT_EQ(Scaled(Square(), Gpus(0)).error().message, "0 GPUs: must be 1 to 1048576");
  EXPECT_EQ(Scaled(Square(), Gpus(-3)).error().message, "-3 GPUs: must be 1 to 1048576");
  EXPECT_EQ(Scaled(Square(), Gpus(std::numeric_limits<int64_t>::max())).error().message,
            "9223372036854775807 GPUs: 6 CPU or 30Gi memory for each is too much");
}

}  // namespace
}  // namespace synergy::testing
