#include "profile/measured/measured_curve.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "profile/measured/curve_probe.h"

namespace synergy::testing {
namespace {

constexpr double kAgreement = 0.05;

CurvePoint Bound(int64_t milli, double throughput) {
  return {.cpu = MilliCpu(milli),
          .throughput = throughput,
          .used = static_cast<double>(milli) / 1000,
          .bound = true};
}

CurvePoint Free(int64_t milli, double throughput, double used) {
  return {.cpu = MilliCpu(milli), .throughput = throughput, .used = used};
}

CurvePoint Probed(CurvePoint point) {
  point.quota = true;
  return point;
}

ProbeRange Range(int64_t amount, double used, bool bound = false, int64_t floor = 3000) {
  return {MilliCpu(amount), MilliCpu(floor), used, bound};
}

TEST(MeasuredCurve, AveragesWhatIsSeenAgain) {
  CurvePoints points;
  AddPoint(points, Bound(3000, 10));
  AddPoint(points, Bound(3050, 10.4));
  AddPoint(points, Bound(1500, 5));
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].cpu, MilliCpu(1500));
  EXPECT_EQ(points[1].cpu, MilliCpu(3025));
  EXPECT_NEAR(points[1].throughput, 10.2, 1e-9);
  EXPECT_EQ(points[1].windows, 2);
  EXPECT_NEAR(points[1].spread, 0.4 / 10.4, 1e-9);
  AddPoint(points, Bound(2000, 0));
  EXPECT_EQ(points.size(), 2U);
}

TEST(MeasuredCurve, KeepsFewPoints) {
  CurvePoints points;
  for (int64_t i = 1; i <= 40; ++i) AddPoint(points, Bound(i * 500, static_cast<double>(i)));
  EXPECT_LE(points.size(), 12U);
  EXPECT_EQ(points.front().cpu, MilliCpu(500));
  EXPECT_GE(points.back().cpu, MilliCpu(19000));
}

TEST(MeasuredCurve, ExplainsAPlateau) {
  const CurvePoints points = {Probed(Bound(1500, 5)), Free(6000, 10, 3)};
  const auto model = Explain(points, kAgreement);
  ASSERT_TRUE(model);
  EXPECT_EQ(model->kind, CurveModel::Kind::kPlateau);
  EXPECT_NEAR(model->At(MilliCpu(3000)), 10, 1e-6);
  EXPECT_NEAR(model->At(MilliCpu(750)), 2.5, 1e-6);
  EXPECT_NEAR(*CpuSecondsOf(points), 0.3, 1e-9);
}

TEST(MeasuredCurve, ExplainsASerialPartWithThreePoints) {
  const auto speed = [](double cores) { return 1 / (0.05 + 0.3 / cores); };
  CurvePoints points = {Probed(Free(1500, speed(1.5), 1)), Free(6000, speed(6), 2.2)};
  EXPECT_FALSE(Explain(points, kAgreement));
  AddPoint(points, Probed(Free(3000, speed(3), 1.8)));
  const auto model = Explain(points, kAgreement);
  ASSERT_TRUE(model);
  EXPECT_EQ(model->kind, CurveModel::Kind::kSerial);
  EXPECT_NEAR(model->serial, 0.05, 1e-6);
  EXPECT_NEAR(model->At(MilliCpu(12000)), speed(12), 1e-6);
}

TEST(MeasuredCurve, JobAsFastWithHalfItsCpuWaitsBusily) {
  // The job uses all CPU that it gets, and does not become faster by it.
  const CurvePoints points = {Probed(Bound(75, 20)), Probed(Bound(150, 20))};
  const auto model = Explain(points, kAgreement);
  ASSERT_TRUE(model);
  EXPECT_NEAR(model->At(MilliCpu(300)), 20, 1e-6);
  const auto claimed = Claim(points, {.node = MilliCpu(300),
                                      .fair_share = MilliCpu(150),
                                      .agreement = kAgreement,
                                      .confirmed = true});
  ASSERT_EQ(claimed.size(), 2U);
  EXPECT_EQ(claimed.back().cpu, MilliCpu(150));
}

TEST(MeasuredCurve, ClaimsNoMoreThanASharedNodeHas) {
  const CurveClaimRules rules = {
      .node = MilliCpu(280), .fair_share = MilliCpu(150), .agreement = kAgreement};
  auto claimed = Claim({Bound(150, 15), Bound(300, 30)}, rules);
  ASSERT_EQ(claimed.size(), 2U);
  EXPECT_EQ(claimed.back().cpu, MilliCpu(280));
  EXPECT_NEAR(claimed.back().throughput, 28, 1e-9);
  EXPECT_EQ(claimed.back().certainty, PointCertainty::kExact);
  claimed = Claim({Free(300, 20, 0.01)}, rules);
  ASSERT_EQ(claimed.size(), 1U);
  EXPECT_EQ(claimed.back().cpu, MilliCpu(280));
  EXPECT_NEAR(claimed.back().throughput, 20, 1e-9);
}

TEST(MeasuredCurve, ExplainsNothingThatFitsNoModel) {
  const CurvePoints points = {Probed(Bound(1000, 1)), Probed(Bound(2000, 6)), Free(4000, 7, 3)};
  EXPECT_FALSE(Explain(points, kAgreement));
}

TEST(MeasuredCurve, RecognizesBusyWorkers) {
  EXPECT_TRUE(IsWholeNumberOfCores(1));
  EXPECT_TRUE(IsWholeNumberOfCores(3.95));
  EXPECT_FALSE(IsWholeNumberOfCores(0.02));
  EXPECT_FALSE(IsWholeNumberOfCores(2.2));
  EXPECT_FALSE(IsWholeNumberOfCores(15.7));
}

TEST(NextProbe, ConfirmsThatWhatIsNotUsedIsNotNeeded) {
  const CurvePoints points = {Free(3000, 10, 0.1)};
  const auto plan = NextProbe(points, Range(3000, 0.1), kAgreement);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->cpu, MilliCpu(120));
  EXPECT_NEAR(plan->expected, 10, 1e-9);
  // The probe is confirmed, and half of its amount would be below half the floor.
  CurvePoints confirmed = points;
  AddPoint(confirmed, Probed(Free(120, 10, 0.1)));
  EXPECT_FALSE(NextProbe(confirmed, Range(3000, 0.1), kAgreement));
}

TEST(NextProbe, LooksInBetweenWhereThatWasTooLittle) {
  const CurvePoints points = {Probed(Free(1200, 7, 1)), Free(3000, 10, 1)};
  const auto plan = NextProbe(points, Range(3000, 0.98 * 1.02), kAgreement);
  ASSERT_TRUE(plan);
  EXPECT_GT(plan->cpu, MilliCpu(1200));
  EXPECT_LT(plan->cpu, MilliCpu(3000));
}

TEST(NextProbe, ConfirmsTheSlopeAndStops) {
  CurvePoints points = {Bound(3000, 10)};
  const auto plan = NextProbe(points, Range(3000, 3, true), kAgreement);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->cpu, MilliCpu(1500));
  EXPECT_NEAR(plan->expected, 5, 1e-6);
  AddPoint(points, Probed(Bound(1500, 5.1)));
  EXPECT_FALSE(NextProbe(points, Range(3000, 3, true), kAgreement));
}

TEST(NextProbe, GoesOnWhereNoModelHolds) {
  CurvePoints points = {Probed(Bound(1500, 8)), Bound(3000, 10)};
  const auto plan = NextProbe(points, Range(3000, 3, true), kAgreement);
  ASSERT_TRUE(plan);
  EXPECT_GT(plan->cpu, MilliCpu(1500));
  EXPECT_LT(plan->cpu, MilliCpu(3000));
}

TEST(NextProbe, NeverGoesBelowHalfTheFloor) {
  for (const int64_t floor : {1000, 2000, 3000}) {
    // It is as fast with less and less CPU, because the process only waits busily.
    CurvePoints points = {Free(3000, 10, 2.9)};
    for (int i = 0; i < 10; ++i) {
      const auto plan = NextProbe(points, Range(3000, 2.9, false, floor), kAgreement);
      if (!plan) break;
      EXPECT_GE(plan->cpu.count() * 2, floor);
      AddPoint(points, Probed(Bound(plan->cpu.count(), 10)));
    }
    EXPECT_LE(points.front().cpu.count(), std::max<int64_t>(floor * 6 / 10, 1450));
  }
}

TEST(Claim, GuessesUpwardsWhereItWaitsForCpu) {
  const CurveClaimRules rules{Cores(12), Cores(3), kAgreement, false};
  const auto claimed = Claim({Bound(3000, 10)}, rules);
  ASSERT_EQ(claimed.size(), 2U);
  EXPECT_EQ(claimed[1].cpu, Cores(12));
  EXPECT_NEAR(claimed[1].throughput, 40, 1e-6);
  EXPECT_EQ(claimed[1].certainty, PointCertainty::kGuess);
  EXPECT_EQ(Claim({Free(3000, 10, 1)}, rules).size(), 1U);
  EXPECT_EQ(Claim({Bound(3000, 10)}, {MilliCpu(0), Cores(3), kAgreement, false}).size(), 1U);
}

TEST(Claim, GuessLowersNoJobBelowItsFairShare) {
  const CurvePoints seen = {Free(3000, 10, 1.3)};
  EXPECT_EQ(Claim(seen, {Cores(12), Cores(3), kAgreement, false}).size(), 1U);
  // Above the knee, the CPU that is used shows where the knee is.
  const auto claimed = Claim({Free(11000, 10, 5.5)}, {Cores(12), Cores(3), kAgreement, false});
  ASSERT_EQ(claimed.size(), 2U);
  EXPECT_EQ(claimed[0].cpu, MilliCpu(5775));
  EXPECT_EQ(claimed[0].certainty, PointCertainty::kGuess);
  // Probes on both sides of the knee show that, too.
  const CurvePoints probed = {Probed(Bound(650, 5)), Probed(Free(1560, 10, 1.3)),
                              Free(3000, 10, 1.3)};
  const auto confirmed = Claim(probed, {Cores(12), Cores(3), kAgreement, true});
  ASSERT_EQ(confirmed.size(), 4U);
  EXPECT_EQ(confirmed[1].cpu, MilliCpu(1365));
  EXPECT_EQ(Claim(probed, {Cores(12), Cores(3), kAgreement, false}).size(), 3U);
}

TEST(Claim, BusyWorkersShowNoKnee) {
  CurvePoint busy = Free(11000, 10, 4);
  busy.certainty = PointCertainty::kAtLeast;
  EXPECT_TRUE(IsCensored({busy}, kAgreement));
  EXPECT_EQ(Claim({busy}, {Cores(12), Cores(3), kAgreement, false}).size(), 1U);
}

TEST(Workers, TheCurveIsOfThosePodsThatHaveMost) {
  CurvePoints points = {Bound(1000, 2), Free(3000, 4, 2)};
  AddOfMost(points, Free(6000, 10, 5), kAgreement);
  EXPECT_EQ(points, (CurvePoints{Bound(1000, 2), Free(6000, 10, 5)})) << "replaced, not averaged";
  AddOfMost(points, Free(6000, 4, 2), kAgreement);
  AddOfMost(points, Free(3000, 4, 2), kAgreement);
  EXPECT_EQ(points.size(), 2U);
  EXPECT_EQ(points.back(), Free(6000, 10, 5));
}

TEST(Workers, SlowerJobWithoutFewerBusyWorkersIsSlow) {
  const CurvePoints points = {Free(6000, 10, 5)};
  EXPECT_FALSE(HasFewerWorkers(Free(6000, 8, 5), points, kAgreement));
  EXPECT_FALSE(HasFewerWorkers(Free(6000, 8, 3.6), points, kAgreement));
  EXPECT_FALSE(HasFewerWorkers(Bound(4000, 8), points, kAgreement));
  EXPECT_FALSE(HasFewerWorkers(Free(6000, 9.9, 4), points, kAgreement));
  EXPECT_FALSE(HasFewerWorkers(Free(6000, 8, 4), CurvePoints{Free(6000, 10, 0)}, kAgreement));
  EXPECT_TRUE(HasFewerWorkers(Free(6000, 8, 4), points, kAgreement));
}

TEST(Contradiction, IsLessSpeedWithMoreCpuOrAWideSpread) {
  EXPECT_FALSE(IsContradictory({Bound(1500, 5), Free(3000, 10, 2.9)}, kAgreement));
  EXPECT_FALSE(IsContradictory({Free(1500, 10, 1), Free(3000, 9.5, 1)}, kAgreement));
  EXPECT_TRUE(IsContradictory({Free(1500, 10, 1), Free(3000, 5, 1)}, kAgreement));
  CurvePoint wide = Free(3000, 10, 1);
  wide.spread = 0.5;
  EXPECT_TRUE(IsContradictory({wide}, kAgreement));
}

}  // namespace
}  // namespace synergy::testing
