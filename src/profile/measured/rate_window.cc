#include "profile/measured/rate_window.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace synergy {
namespace {

// Intervals that are shorter are joined with the next, as are those with so few iterations that one
// more or less matters.
constexpr double kShortest = 3;  // seconds
constexpr double kFewIterations = 20;
constexpr double kFewCount = 5;  // seconds, from which few iterations do not matter
// With fewer intervals than this, each must be long enough to be an average on its own.
constexpr size_t kFewest = 2;
constexpr size_t kEnough = 4;
constexpr double kLongEnough = 7;  // seconds
constexpr double kAverage = 20;    // seconds: one is enough, for example from a rarely flushed log
constexpr size_t kEnoughToTrim = 5;
// A rate is far off if it differs from the usual one by more than the fraction kFarOff. At most the
// fraction kMostOff of the time may be far off.
constexpr double kFarOff = 0.25;
constexpr double kMostOff = 0.45;

struct Interval {
  size_t begin = 0;  // samples
  size_t end = 0;
  double seconds = 0;
  double iterations = 0;

  double rate() const { return iterations / seconds; }
};

double SecondsBetween(auto from, auto to) {
  return std::chrono::duration_cast<Seconds>(to - from).count();
}

std::vector<Interval> Intervals(std::span<const ProgressSample> samples) {
  std::vector<Interval> intervals;
  size_t begin = 0;
  for (size_t i = 1; i < samples.size(); ++i) {
    const double seconds = SecondsBetween(samples[begin].last, samples[i].last);
    const double iterations = samples[i].iterations - samples[begin].iterations;
    if (seconds < kShortest || (iterations < kFewIterations && seconds < kFewCount)) continue;
    intervals.push_back({begin, i, seconds, iterations});
    begin = i;
  }
  return intervals;
}

// Returns the median, weighted by time: half of the time was faster.
double MedianRate(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) { return a.rate() < b.rate(); });
  double all = 0;
  for (const Interval& interval : intervals) all += interval.seconds;
  double below = 0;
  for (const Interval& interval : intervals) {
    below += interval.seconds;
    if (below >= all / 2) return interval.rate();
  }
  return intervals.back().rate();
}

// Sums over intervals.
struct Sums {
  double seconds = 0;
  double iterations = 0;
  double cpu_seconds = 0;  // on the clock of `used`
  double used = 0;
  double throttled = 0;
  double waited = 0;
  bool has_cpu = true;
  bool has_waited = true;

  double rate() const { return iterations / seconds; }
};

// Returns the mean rate of the middle half by time, if there are enough intervals to separate it
// from the rest.
double UsualRate(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end(),
            [](const Interval& a, const Interval& b) { return a.rate() < b.rate(); });
  double all = 0;
  for (const Interval& interval : intervals) all += interval.seconds;
  const bool trims = intervals.size() >= kEnoughToTrim;
  const double begin = trims ? all / 4 : 0;
  const double end = trims ? all * 3 / 4 : all;
  double at = 0;
  double seconds = 0;
  double iterations = 0;
  for (const Interval& interval : intervals) {
    const double part = std::min(end, at + interval.seconds) - std::max(begin, at);
    at += interval.seconds;
    if (part <= 0) continue;
    seconds += part;
    iterations += part * interval.rate();
  }
  return iterations / seconds;
}

double SecondsOf(Duration time) { return std::chrono::duration_cast<Seconds>(time).count(); }

void Add(Sums& sums, std::span<const ProgressSample> samples, const Interval& interval) {
  const ProgressSample& begin = samples[interval.begin];
  const ProgressSample& end = samples[interval.end];
  sums.seconds += interval.seconds;
  sums.iterations += interval.iterations;
  if (!begin.cpu || !end.cpu) {
    sums.has_cpu = false;
    return;
  }
  sums.cpu_seconds += SecondsBetween(begin.cpu->at, end.cpu->at);
  sums.used += SecondsOf(end.cpu->used - begin.cpu->used);
  sums.throttled += SecondsOf(end.cpu->throttled - begin.cpu->throttled);
  if (begin.cpu->waited && end.cpu->waited) {
    sums.waited += SecondsOf(*end.cpu->waited - *begin.cpu->waited);
  } else {
    sums.has_waited = false;
  }
}

double Difference(double a, double b) {
  const double middle = (a + b) / 2;
  return middle > 0 ? std::abs(a - b) / middle : 0;
}

WindowReading ReadFrom(std::span<const ProgressSample> samples, const WindowRules& rules) {
  WindowReading reading;
  const std::vector<Interval> intervals = Intervals(samples);
  if (intervals.empty()) return reading;
  const double usual = MedianRate(intervals);
  std::vector<Interval> kept;
  double all = 0;
  double time = 0;
  double shortest = intervals.front().seconds;
  for (const Interval& interval : intervals) {
    all += interval.seconds;
    if (std::abs(interval.rate() - usual) > kFarOff * usual) continue;
    time += interval.seconds;
    shortest = std::min(shortest, interval.seconds);
    kept.push_back(interval);
  }
  const bool few = kept.size() < kFewest || (kept.size() < kEnough && shortest < kLongEnough);
  if (few && (kept.empty() || shortest < kAverage)) return reading;
  if (time < SecondsOf(rules.least) || time < (1 - kMostOff) * all) return reading;

  Sums halves[2];
  Sums whole;
  for (const Interval& interval : kept) {
    Sums& half = halves[whole.seconds + interval.seconds / 2 < time / 2 ? 0 : 1];
    Add(half, samples, interval);
    Add(whole, samples, interval);
  }
  if (kept.size() > 1) {
    if (halves[0].seconds <= 0 || halves[1].seconds <= 0) return reading;
    reading.spread = Difference(halves[0].rate(), halves[1].rate());
    if (reading.spread > rules.agreement) return reading;
  }
  reading.state = WindowState::kSettled;
  reading.rate = UsualRate(kept);
  if (whole.has_cpu && whole.cpu_seconds > 0) {
    // Scaled by the cost of an iteration, so that rate and CPU refer to the same moments.
    reading.cpu = whole.used / whole.cpu_seconds * (reading.rate / whole.rate());
    reading.throttled = whole.throttled / whole.cpu_seconds;
    if (whole.has_waited) reading.waited = whole.waited / whole.cpu_seconds;
  }
  reading.length = samples.back().last - samples.front().last;
  return reading;
}

}  // namespace

WindowReading ReadWindow(std::span<const ProgressSample> samples, const WindowRules& rules) {
  if (samples.size() < 2) return {};
  const Duration length = samples.back().last - samples.front().last;
  for (const double without : {0.0, 1.0 / 3, 0.5, 2.0 / 3}) {
    const WallTime begin =
        samples.front().last + std::chrono::duration_cast<Duration>(length * without);
    const auto first =
        std::find_if(samples.begin(), samples.end(),
                     [begin](const ProgressSample& sample) { return sample.last >= begin; });
    const auto from = static_cast<size_t>(first - samples.begin());
    WindowReading reading = ReadFrom(samples.subspan(from), rules);
    if (reading.state != WindowState::kSettled) continue;
    reading.from = from;
    return reading;
  }
  WindowReading reading;
  if (length >= rules.longest) reading.state = WindowState::kUnsettled;
  return reading;
}

}  // namespace synergy
