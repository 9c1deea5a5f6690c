#include "profile/measured/rate_window.h"

#include <chrono>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr WindowRules kRules{seconds(30), minutes(2), 0.05};

Duration FromSeconds(double time) { return std::chrono::duration_cast<Duration>(Seconds(time)); }

// Returns a report every `every` seconds about a training that has done `done(t)` iterations after
// t seconds, with `cores` of CPU.
std::vector<ProgressSample> SamplesOf(const std::function<double(double)>& done, double time,
                                      double every = 2, double cores = 1) {
  std::vector<ProgressSample> samples;
  double last = -1;
  for (double t = 0; t <= time; t += every) {
    if (done(t) == last) continue;
    last = done(t);
    samples.push_back({last, WallTime{} + FromSeconds(t),
                       CpuUse{.used = FromSeconds(cores * t),
                              .throttled = FromSeconds(0.2 * t),
                              .waited = FromSeconds(0.1 * t),
                              .at = WallTime{} + FromSeconds(t)}});
  }
  return samples;
}

std::function<double(double)> Steady(double rate) {
  return [rate](double t) { return rate * t; };
}

TEST(RateWindow, ReadsRateAndCpu) {
  const WindowReading reading = ReadWindow(SamplesOf(Steady(10), 40, 2, 1.5), kRules);
  ASSERT_EQ(reading.state, WindowState::kSettled);
  EXPECT_NEAR(reading.rate, 10, 1e-9);
  EXPECT_NEAR(*reading.cpu, 1.5, 1e-6);
  EXPECT_NEAR(reading.throttled, 0.2, 1e-6);
  EXPECT_NEAR(*reading.waited, 0.1, 1e-6);
  EXPECT_EQ(reading.length, seconds(40));
}

TEST(RateWindow, IsOpenUntilThereIsEnough) {
  EXPECT_EQ(ReadWindow({}, kRules).state, WindowState::kOpen);
  EXPECT_EQ(ReadWindow(SamplesOf(Steady(10), 28), kRules).state, WindowState::kOpen);
  EXPECT_EQ(ReadWindow(SamplesOf(Steady(10), 20, 10), kRules).state, WindowState::kOpen);
  EXPECT_EQ(ReadWindow(SamplesOf(Steady(10), 30, 10), kRules).state, WindowState::kSettled);
}

TEST(RateWindow, LeavesStallsOut) {
  // The training pauses for 5 s every 30 s.
  const auto stalls = [](double t) {
    const double whole = std::floor(t / 30);
    return 10 * (whole * 25 + std::min(t - 30 * whole, 25.0));
  };
  for (const double every : {2.0, 5.0}) {
    const WindowReading reading = ReadWindow(SamplesOf(stalls, 90, every), kRules);
    ASSERT_EQ(reading.state, WindowState::kSettled);
    EXPECT_NEAR(reading.rate, 10, 0.3);
  }
}

TEST(RateWindow, SeesThroughBursts) {
  // Iterations come eight at a time.
  const auto bursts = [](double t) { return 8 * std::floor(2 * t / 8); };
  const WindowReading reading = ReadWindow(SamplesOf(bursts, 80, 0.5), kRules);
  ASSERT_EQ(reading.state, WindowState::kSettled);
  EXPECT_NEAR(reading.rate, 2, 0.05);
}

TEST(RateWindow, GoesByTheNewerPartWhereTheSpeedHasChanged) {
  const auto faster = [](double t) { return t < 30 ? 5 * t : 150 + 10 * (t - 30); };
  EXPECT_EQ(ReadWindow(SamplesOf(faster, 40), kRules).state, WindowState::kOpen);
  const WindowReading reading = ReadWindow(SamplesOf(faster, 75), kRules);
  ASSERT_EQ(reading.state, WindowState::kSettled);
  EXPECT_NEAR(reading.rate, 10, 0.1);
  EXPECT_GT(reading.from, 0U);
}

TEST(RateWindow, ReportsThatItDoesNotSettle) {
  const auto ever_faster = [](double t) { return 0.2 * t * t; };
  EXPECT_EQ(ReadWindow(SamplesOf(ever_faster, 100), kRules).state, WindowState::kOpen);
  EXPECT_EQ(ReadWindow(SamplesOf(ever_faster, 120), kRules).state, WindowState::kUnsettled);
}

TEST(RateWindow, TakesOneLongIntervalOfALogThatIsFlushedRarely) {
  const std::vector<ProgressSample> two_samples = SamplesOf(Steady(10), 33, 33, 1.5);
  ASSERT_EQ(two_samples.size(), 2U);
  const WindowReading reading = ReadWindow(two_samples, kRules);
  ASSERT_EQ(reading.state, WindowState::kSettled);
  EXPECT_NEAR(reading.rate, 10, 1e-9);
  EXPECT_NEAR(*reading.cpu, 1.5, 1e-6);
  // But a window that may end in a stall does not count.
  EXPECT_EQ(ReadWindow(SamplesOf(Steady(10), 15, 15), {seconds(10), minutes(2), 0.05}).state,
            WindowState::kOpen);
}

TEST(RateWindow, GoesByWhenTheCpuTimeWasRead) {
  std::vector<ProgressSample> samples = SamplesOf(Steady(10), 33, 33, 1.5);
  samples[1].cpu->at -= seconds(3);
  EXPECT_NEAR(*ReadWindow(samples, kRules).cpu, 1.5 * 33 / 30, 1e-6);
}

TEST(RateWindow, MissingCpuSamplesGiveNoCpu) {
  std::vector<ProgressSample> samples = SamplesOf(Steady(10), 40);
  samples[4].cpu->waited.reset();
  EXPECT_FALSE(ReadWindow(samples, kRules).waited);
  samples[4].cpu.reset();
  const WindowReading reading = ReadWindow(samples, kRules);
  EXPECT_EQ(reading.state, WindowState::kSettled);
  EXPECT_FALSE(reading.cpu);
}

TEST(RateWindow, DistinguishesSlowIterationsFromSparseLines) {
  // The training does an iteration in 30 s, and is reported every 10 s.
  const auto slow = [](double t) { return std::floor(t / 30); };
  const WindowReading reading = ReadWindow(SamplesOf(slow, 100, 10), kRules);
  ASSERT_EQ(reading.state, WindowState::kSettled);
  EXPECT_NEAR(reading.rate, 1.0 / 30, 1e-9);
}

}  // namespace
}  // namespace synergy::testing
