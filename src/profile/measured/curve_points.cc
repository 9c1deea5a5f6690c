#include "profile/measured/curve_points.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <tuple>
#include <utility>

#include "core/rounding.h"

namespace synergy {
namespace {

// Amounts closer than this count as one.
constexpr double kSameAmount = 0.05;
constexpr MilliCpu kLeastStep = MilliCpu(10);
// A point averages at most this number of windows, so that it follows changes.
constexpr int32_t kMostWindows = 8;
constexpr size_t kMostPoints = 12;
constexpr double kWhole = 0.03;
// A difference in busy cores of at least this much shows one more worker.
constexpr double kWorker = 0.5;
// Two pods of a gang need the same CPU if their CPU per iteration differs by less than this factor.
constexpr double kNeedsMore = 1.2;
// Points contradict each other if they differ by this multiple of the expected agreement.
constexpr double kContradicts = 3;

}  // namespace

MilliCpu FromCores(double cores) { return MilliCpu(ToNearest(cores * 1000)); }

bool SameAmount(MilliCpu a, MilliCpu b) {
  const int64_t apart = std::abs((a - b).count());
  return apart <= kLeastStep.count() ||
         static_cast<double>(apart) <= kSameAmount * static_cast<double>(std::max(a, b).count());
}

const CurvePoint* FindNear(const CurvePoints& points, MilliCpu cpu) {
  const auto found = std::find_if(points.begin(), points.end(), [cpu](const CurvePoint& point) {
    return SameAmount(point.cpu, cpu);
  });
  return found == points.end() ? nullptr : &*found;
}

double Interpolated(const CurvePoints& points, MilliCpu cpu) {
  if (points.empty()) return 0;
  if (cpu <= points.front().cpu)
    return points.front().throughput * InCores(cpu) / InCores(points.front().cpu);
  for (size_t i = 1; i < points.size(); ++i) {
    if (cpu > points[i].cpu) continue;
    const double part =
        InCores(cpu - points[i - 1].cpu) / InCores(points[i].cpu - points[i - 1].cpu);
    return points[i - 1].throughput + part * (points[i].throughput - points[i - 1].throughput);
  }
  return points.back().throughput;
}

void AddPoint(CurvePoints& points, const CurvePoint& seen) {
  if (seen.cpu <= MilliCpu(0) || !(seen.throughput > 0)) return;
  auto near = std::find_if(points.begin(), points.end(), [&](const CurvePoint& point) {
    return SameAmount(point.cpu, seen.cpu) && point.quota == seen.quota;
  });
  if (near == points.end()) {
    // Replaces points at the same amount that were seen in a different way.
    std::erase_if(points, [&](const CurvePoint& point) { return SameAmount(point.cpu, seen.cpu); });
    points.push_back(seen);
  } else {
    CurvePoint& point = *near;
    const double all = point.windows + seen.windows;
    const auto mean = [&](double before, double now) {
      return (before * point.windows + now * seen.windows) / all;
    };
    point.spread = std::max({point.spread, seen.spread,
                             std::abs(seen.throughput - point.throughput) /
                                 std::max(seen.throughput, point.throughput)});
    if (point.bound != seen.bound) point.used = seen.used;  // another regime: the newer one counts
    point.used = point.used > 0 ? mean(point.used, seen.used) : seen.used;
    point.cpu = MilliCpu(ToNearest(
        mean(static_cast<double>(point.cpu.count()), static_cast<double>(seen.cpu.count()))));
    point.throughput = mean(point.throughput, seen.throughput);
    point.bound = seen.bound;
    point.starved = seen.starved;
    point.uneven = seen.uneven;
    point.certainty = seen.certainty;
    point.windows = std::min(point.windows + seen.windows, kMostWindows);
  }
  std::sort(points.begin(), points.end(),
            [](const CurvePoint& a, const CurvePoint& b) { return a.cpu < b.cpu; });
  if (points.size() <= kMostPoints) return;
  // Drop the point that its neighbours predict best.
  size_t least = 1;
  double least_lost = std::numeric_limits<double>::infinity();
  for (size_t i = 1; i + 1 < points.size(); ++i) {
    const CurvePoints neighbours = {points[i - 1], points[i + 1]};
    const double lost = std::abs(Interpolated(neighbours, points[i].cpu) - points[i].throughput);
    if (lost < least_lost) std::tie(least, least_lost) = std::pair(i, lost);
  }
  points.erase(points.begin() + static_cast<std::ptrdiff_t>(least));
}

double BestOf(const CurvePoints& points) {
  double best = 0;
  for (const CurvePoint& point : points) best = std::max(best, point.throughput);
  return best;
}

std::optional<double> CpuSecondsOf(const CurvePoints& points) {
  // If CPU limits the speed, the pod needs all the CPU that it uses.
  for (const bool bound : {true, false}) {
    double sum = 0;
    double weight = 0;
    for (const CurvePoint& point : points) {
      if (point.bound != bound || point.used <= 0) continue;
      sum += point.windows * point.used / point.throughput;
      weight += point.windows;
    }
    if (weight > 0) return sum / weight;
  }
  return std::nullopt;
}

bool IsContradictory(const CurvePoints& points, double agreement) {
  double fastest = 0;
  for (const CurvePoint& point : points) {
    if (point.spread > kContradicts * agreement) return true;
    if (point.throughput < fastest * (1 - kContradicts * agreement)) return true;
    fastest = std::max(fastest, point.throughput);
  }
  return false;
}

bool IsWholeNumberOfCores(double used) {
  const double whole = std::round(used);
  return whole >= 1 && std::abs(used - whole) <= std::min(kWhole * whole, 0.12);
}

bool HasFewerWorkers(const CurvePoint& seen, const CurvePoint& other, double agreement) {
  // If the CPU use is unknown, so is the number of workers.
  if (seen.bound || !IsWholeNumberOfCores(seen.used) || other.used <= 0) return false;
  return seen.throughput < other.throughput * (1 - agreement) && other.used - seen.used >= kWorker;
}

bool HasFewerWorkers(const CurvePoint& seen, const CurvePoints& points, double agreement) {
  return std::any_of(points.begin(), points.end(), [&](const CurvePoint& other) {
    return HasFewerWorkers(seen, other, agreement);
  });
}

bool NeedsLess(const CurvePoint& seen, const CurvePoint& other) {
  if (!seen.uneven || !other.bound) return false;
  return kNeedsMore * seen.used / seen.throughput < other.used / other.throughput;
}

bool NeedsLess(const CurvePoint& seen, const CurvePoints& points) {
  return std::any_of(points.begin(), points.end(),
                     [&](const CurvePoint& other) { return NeedsLess(seen, other); });
}

void AddOfMost(CurvePoints& points, const CurvePoint& seen, double agreement) {
  if (HasFewerWorkers(seen, points, agreement) || NeedsLess(seen, points)) return;
  std::erase_if(points, [&](const CurvePoint& known) {
    return HasFewerWorkers(known, seen, agreement) || NeedsLess(known, seen);
  });
  AddPoint(points, seen);
}

}  // namespace synergy
