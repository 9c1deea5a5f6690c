#include "progress/rate_meter.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace synergy {
namespace {

constexpr Duration kWindow = std::chrono::minutes(1);
// The least length of a kept stretch, chosen so that a minute of stretches fits into the ring.
constexpr Duration kShortest = std::chrono::milliseconds(250);
constexpr double kLeastLost = 1.0;  // seconds that a stall loses
// The least and the sufficient number of stretches for the usual time. Stretches before the window
// also count.
constexpr size_t kFewest = 4;
constexpr size_t kEnough = 32;
constexpr double kBurst = 8;  // iterations

double SecondsOf(Duration time) { return std::chrono::duration_cast<Seconds>(time).count(); }

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Seconds per iteration: the usual value, and the limit above which it is a stall.
struct Usual {
  double median = 0;
  double most = 0;
};

// Ignores the slowest stretches, which may be stalls. Ignores one in nine, so that bursts of a data
// loader with up to eight workers count as usual. Ignores one in five if a stretch contains a whole
// burst.
std::optional<Usual> FindUsual(std::vector<double> per_iteration, double iterations) {
  const size_t n = per_iteration.size();
  if (n < kFewest) return std::nullopt;
  std::sort(per_iteration.begin(), per_iteration.end());
  const double median = per_iteration[n / 2];
  const size_t usual = iterations < kBurst * static_cast<double>(n) ? n * 8 / 9 : n * 4 / 5;
  const double high = per_iteration[std::min(n - 2, usual)];
  for (double& value : per_iteration) value = std::abs(value - median);
  return Usual{median, std::max(1.5 * high, median + 6 * Median(std::move(per_iteration)))};
}

}  // namespace

// Keeps time from going backwards if the reported pause is ahead of the lines.
WallTime RateMeter::Unpaused(WallTime time) const {
  const WallTime unpaused = time - paused_;
  return present_ && latest_ && time >= *latest_ ? std::max(unpaused, present_->time) : unpaused;
}

void RateMeter::Add(WallTime time, int64_t done) {
  const WallTime with_pauses = time;
  time = Unpaused(time);
  latest_ = with_pauses;
  if (present_ && time == present_->time) {
    present_->done = done;
    broken_after_ = false;  // Break has marked the previous stretch
    return;
  }
  if (present_ && time < present_->time) {
    Break(std::nullopt);
    present_.reset();
  }
  if (const std::optional<Stretch> open = Open()) {
    growing_ = Join(growing_, *open);
    if (growing_.time >= kShortest && growing_.iterations > 0) Keep();
  } else {
    Keep();
  }
  last_ = present_;
  present_ = Point{time, done};
  broken_ = std::exchange(broken_after_, false);
}

void RateMeter::Break(std::optional<WallTime> time) {
  broken_after_ = true;
  // The line has the same time as the stretch's end, so the break may lie within the stretch.
  if (present_ && time && Unpaused(*time) == present_->time) broken_ = true;
}

std::optional<double> RateMeter::Rate() const {
  const std::vector<Stretch> stretches = Stretches();
  if (stretches.empty()) return std::nullopt;
  std::vector<double> per_iteration;
  double all = 0;
  for (auto it = stretches.rbegin(); it != stretches.rend(); ++it) {
    if (it->end <= stretches.back().end - kWindow && per_iteration.size() >= kEnough) break;
    const auto count = static_cast<double>(it->iterations);
    per_iteration.push_back(SecondsOf(it->time) / count);
    all += count;
  }
  const std::optional<Usual> usual = FindUsual(std::move(per_iteration), all);

  Duration time{};
  int64_t iterations = 0;
  std::optional<WallTime> newest;
  for (auto it = stretches.rbegin(); it != stretches.rend(); ++it) {
    if (newest && it->end <= *newest - kWindow) break;
    const double seconds = SecondsOf(it->time);
    const auto count = static_cast<double>(it->iterations);
    if (usual && seconds > usual->most * count && seconds - usual->median * count >= kLeastLost) {
      continue;
    }
    if (!newest) newest = it->end;
    time += it->time;
    iterations += it->iterations;
  }
  if (time <= Duration::zero()) return std::nullopt;
  return static_cast<double>(iterations) / SecondsOf(time);
}

std::optional<RateMeter::Stretch> RateMeter::Open() const {
  if (!last_ || !present_ || broken_) return std::nullopt;
  return Stretch{present_->time, present_->time - last_->time, present_->done - last_->done};
}

RateMeter::Stretch RateMeter::Join(const Stretch& growing, const Stretch& next) {
  return {next.end, growing.time + next.time, growing.iterations + next.iterations};
}

void RateMeter::Keep() {
  if (growing_.iterations > 0) kept_[count_++ % kKept] = growing_;
  growing_ = {};
}

std::vector<RateMeter::Stretch> RateMeter::Stretches() const {
  std::vector<Stretch> stretches;
  stretches.reserve(kKept + 1);
  for (size_t i = count_ - std::min(count_, kKept); i < count_; ++i) {
    stretches.push_back(kept_[i % kKept]);
  }
  const std::optional<Stretch> open = Open();
  const Stretch newest = open ? Join(growing_, *open) : growing_;
  if (newest.iterations > 0) stretches.push_back(newest);
  return stretches;
}

}  // namespace synergy
