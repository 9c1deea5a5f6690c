#include "cli/page/map_progress.h"

#include <algorithm>
#include <cmath>

namespace synergy::cli {
namespace {

constexpr double kStep = 0.02;

double OnClock(WallTime time) { return std::round(Seconds(time.time_since_epoch()).count()); }

bool Within(const std::optional<double>& a, const std::optional<double>& b, double distance) {
  return a && b ? std::abs(*a - *b) <= distance : a.has_value() == b.has_value();
}

bool AlikeRates(const std::optional<ShownRate>& a, const std::optional<ShownRate>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return a->busy == b->busy && std::abs(a->amount - b->amount) <= kStep * std::abs(a->amount);
}

}  // namespace

MapProgress ProgressOnMap(const KnownProgress& known, WallTime now) {
  MapProgress progress{.rate = RateOf(known.pod), .done = PartDone(known.pod)};
  if (progress.done) progress.done = std::round(100 * *progress.done) / 100;
  if (const auto silence = Silence(known)) {
    progress.silent = OnClock(now - *silence);
  } else if (known.pod.remaining) {
    progress.ends = OnClock(now - known.age + *known.pod.remaining);
  }
  return progress;
}

bool Alike(const MapProgress& told, const MapProgress& progress, WallTime now) {
  const double left = progress.ends ? *progress.ends - OnClock(now) : 0;
  return AlikeRates(told.rate, progress.rate) && told.done == progress.done &&
         Within(told.ends, progress.ends, std::max(2.0, kStep * left)) &&
         Within(told.silent, progress.silent, 10);
}

}  // namespace synergy::cli
