#include "profile/job_profile.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/check.h"
#include "core/quantity_text.h"

namespace synergy {
namespace {

using Point = JobProfile::Point;

// Beyond any machine, and far from where doubles and products get inexact.
constexpr MilliCpu kMostCpu = Cores(1 << 24);
constexpr Bytes kMostMemory = Bytes(int64_t{1} << 50);
constexpr Gpus kMostGpus = Gpus(1 << 20);

constexpr double kNotMeasured = -1;

std::string Describe(const Point& point) {
  return fmt::format("{} CPU and {} memory", ToQuantityText(point.cpu),
                     ToQuantityText(point.memory));
}

// What is wrong with the point by itself; empty when nothing is.
std::string Fault(const Point& point) {
  if (point.cpu <= MilliCpu(0) || point.cpu > kMostCpu)
    return fmt::format("CPU must be above 0 and at most {}", ToQuantityText(kMostCpu));
  if (point.memory <= Bytes(0) || point.memory > kMostMemory)
    return fmt::format("memory must be above 0 and at most {}", ToQuantityText(kMostMemory));
  if (!std::isfinite(point.throughput) || point.throughput < 0)
    return fmt::format("throughput {} is negative or not a number", point.throughput);
  return "";
}

// The fastest point with no more CPU and no more memory than `point`, if it is faster.
std::optional<Point> FasterWithLess(const Point& point, const std::vector<Point>& points) {
  std::optional<Point> fastest;
  for (const Point& other : points) {
    if (other.cpu > point.cpu || other.memory > point.memory) continue;
    if (other.throughput > (fastest ? fastest->throughput : point.throughput)) fastest = other;
  }
  return fastest;
}

template <class Amount>
std::vector<Amount> Distinct(const std::vector<Point>& points, Amount Point::* amount) {
  std::vector<Amount> amounts;
  amounts.reserve(points.size());
  for (const Point& point : points) amounts.push_back(point.*amount);
  std::sort(amounts.begin(), amounts.end());
  amounts.erase(std::unique(amounts.begin(), amounts.end()), amounts.end());
  return amounts;
}

template <class Amount>
size_t IndexOf(const std::vector<Amount>& amounts, Amount amount) {
  return static_cast<size_t>(std::lower_bound(amounts.begin(), amounts.end(), amount) -
                             amounts.begin());
}

double Part(auto amount, auto of) {
  return static_cast<double>(amount.count()) / static_cast<double>(of.count());
}

// Between two throughputs whose times per sample are interpolated; low <= high, 0 < part < 1.
double BetweenTimes(double low, double high, double part) {
  if (low == high) return low;
  return std::clamp(low / (1 - part + part * (low / high)), low, high);
}

double BetweenThroughputs(double low, double high, double part) {
  return std::min(low + (high - low) * part, high);
}

// The grid while it is filled: measured cells, then the range that they leave the others, then
// every cell.
class GridBuilder {
 public:
  GridBuilder(const std::vector<MilliCpu>& cpus, const std::vector<Bytes>& memories)
      : cpus_(cpus), memories_(memories), measured_(cpus.size() * memories.size(), kNotMeasured) {}

  double& Measured(const Point& point) {
    return measured_[At(IndexOf(cpus_, point.cpu), IndexOf(memories_, point.memory))];
  }

  std::vector<double> Fill(const std::vector<Point>& points) {
    const std::vector<double> lower = Lower();
    const std::vector<double> upper = Upper(lower);
    std::vector<double> cells(measured_.size());
    for (size_t i = 0; i < cpus_.size(); ++i) {
      for (size_t j = 0; j < memories_.size(); ++j) {
        const size_t at = At(i, j);
        double cell = lower[at];
        if (measured_[at] == kNotMeasured)
          cell = std::clamp(Estimate(i, j, lower, points), lower[at], upper[at]);
        // Estimates differ in kind from cell to cell. `upper` never falls along the grid, so that
        // this stays within it too, and leaves measured cells alone.
        if (i > 0) cell = std::max(cell, cells[At(i - 1, j)]);
        if (j > 0) cell = std::max(cell, cells[At(i, j - 1)]);
        cells[at] = cell;
      }
    }
    return cells;
  }

 private:
  size_t At(size_t cpu, size_t memory) const { return cpu * memories_.size() + memory; }

  // Per cell the largest that was measured with no more of either.
  std::vector<double> Lower() const {
    std::vector<double> lower(measured_.size());
    for (size_t i = 0; i < cpus_.size(); ++i) {
      for (size_t j = 0; j < memories_.size(); ++j) {
        double least = std::max(measured_[At(i, j)], 0.0);
        if (i > 0) least = std::max(least, lower[At(i - 1, j)]);
        if (j > 0) least = std::max(least, lower[At(i, j - 1)]);
        lower[At(i, j)] = least;
      }
    }
    return lower;
  }

  // Per cell the smallest that holds for a measured cell with no less of either.
  std::vector<double> Upper(const std::vector<double>& lower) const {
    std::vector<double> upper(measured_.size());
    for (size_t i = cpus_.size(); i-- > 0;) {
      for (size_t j = memories_.size(); j-- > 0;) {
        double most = measured_[At(i, j)] == kNotMeasured ? lower.back() : lower[At(i, j)];
        if (i + 1 < cpus_.size()) most = std::min(most, upper[At(i + 1, j)]);
        if (j + 1 < memories_.size()) most = std::min(most, upper[At(i, j + 1)]);
        upper[At(i, j)] = most;
      }
    }
    return upper;
  }

  double Estimate(size_t cpu, size_t memory, const std::vector<double>& lower,
                  const std::vector<Point>& points) const {
    const std::optional<double> by_cpu =
        Between(cpus_, cpu, [&](size_t i) { return At(i, memory); }, lower, BetweenThroughputs);
    const std::optional<double> by_memory =
        Between(memories_, memory, [&](size_t j) { return At(cpu, j); }, lower, BetweenTimes);
    if (by_cpu && by_memory) return (*by_cpu + *by_memory) / 2;
    if (by_cpu) return *by_cpu;
    if (by_memory) return *by_memory;
    return InProportion(cpus_[cpu], memories_[memory], points);
  }

  // From the nearest measured cells of one row or column on both sides of `index`.
  template <class Amount, class CellOf, class Interpolate>
  std::optional<double> Between(const std::vector<Amount>& amounts, size_t index, CellOf cell_of,
                                const std::vector<double>& lower, Interpolate interpolate) const {
    size_t below = index;
    while (measured_[cell_of(below)] == kNotMeasured) {
      if (below-- == 0) return std::nullopt;
    }
    size_t above = index;
    while (measured_[cell_of(above)] == kNotMeasured) {
      if (++above == amounts.size()) return std::nullopt;
    }
    return interpolate(lower[cell_of(below)], lower[cell_of(above)],
                       Part(amounts[index] - amounts[below], amounts[above] - amounts[below]));
  }

  // The best that follows from one point by taking away in proportion.
  static double InProportion(MilliCpu cpu, Bytes memory, const std::vector<Point>& points) {
    double best = 0;
    for (const Point& point : points) {
      best = std::max(best, point.throughput * std::min(1.0, Part(cpu, point.cpu)) *
                                std::min(1.0, Part(memory, point.memory)));
    }
    return best;
  }

  const std::vector<MilliCpu>& cpus_;
  const std::vector<Bytes>& memories_;
  std::vector<double> measured_;
};

// Where an amount lies among ascending ones.
struct Position {
  size_t below = 0;
  double part = 0;   // of the way to the next; 0 on `below` itself
  double scale = 1;  // less than 1 below the first
};

template <class Amount>
Position Locate(const std::vector<Amount>& amounts, Amount amount) {
  if (amount >= amounts.back()) return {amounts.size() - 1, 0, 1};
  if (amount < amounts.front()) return {0, 0, std::max(0.0, Part(amount, amounts.front()))};
  // Few amounts: a scan beats a search.
  size_t below = 0;
  while (amounts[below + 1] <= amount) ++below;
  return {below, Part(amount - amounts[below], amounts[below + 1] - amounts[below]), 1};
}

}  // namespace

Result<JobProfile> JobProfile::Create(Gpus gpus, std::vector<Point> points) {
  const auto fail = [](std::string message) {
    return Fail(ErrorCode::kInvalid, std::move(message));
  };
  if (gpus <= Gpus(0) || gpus > kMostGpus)
    return fail(fmt::format("{} GPUs: must be 1 to {}", gpus.count(), kMostGpus.count()));
  if (points.empty()) return fail("there are no points");
  for (size_t i = 0; i < points.size(); ++i) {
    const std::string fault = Fault(points[i]);
    if (!fault.empty())
      return fail(fmt::format("point {} ({}): {}", i + 1, Describe(points[i]), fault));
  }

  JobProfile profile;
  profile.gpus_ = gpus;
  profile.cpus_ = Distinct(points, &Point::cpu);
  profile.memories_ = Distinct(points, &Point::memory);
  if (profile.cpus_.size() * profile.memories_.size() > kMaxCells) {
    return fail(fmt::format("{} CPU amounts and {} memory amounts: more than {} cells",
                            profile.cpus_.size(), profile.memories_.size(), kMaxCells));
  }
  GridBuilder builder(profile.cpus_, profile.memories_);
  for (size_t i = 0; i < points.size(); ++i) {
    double& cell = builder.Measured(points[i]);
    if (cell != kNotMeasured)
      return fail(fmt::format("point {} ({}): occurs twice", i + 1, Describe(points[i])));
    cell = points[i].throughput;
  }
  for (const Point& point : points) {
    if (const auto faster = FasterWithLess(point, points)) {
      profile.warnings_.push_back(
          fmt::format("{}: throughput {} is less than {} with {}, which is used here too",
                      Describe(point), point.throughput, faster->throughput, Describe(*faster)));
    }
  }
  profile.cells_ = builder.Fill(points);
  if (profile.Best() <= 0) return fail("no point has a throughput above 0");
  return profile;
}

double JobProfile::ThroughputAt(MilliCpu cpu, Bytes memory) const {
  const Position row = Locate(cpus_, cpu);
  const Position column = Locate(memories_, memory);
  const auto along_cpu = [&](size_t j) {
    const double low = Cell(row.below, j);
    return row.part == 0 ? low : BetweenThroughputs(low, Cell(row.below + 1, j), row.part);
  };
  double throughput = along_cpu(column.below);
  if (column.part != 0)
    throughput = BetweenTimes(throughput, along_cpu(column.below + 1), column.part);
  return throughput * row.scale * column.scale;
}

ResourceVector JobProfile::Demand(double tolerance, double most) const {
  SYNERGY_CHECK(tolerance >= 0 && tolerance < 1, "a tolerance is a part of the best throughput");
  const double enough = (1 - tolerance) * std::min(Best(), most);
  const size_t columns = memories_.size();
  const auto cell =
      std::find_if(cells_.begin(), cells_.end(), [enough](double c) { return c >= enough; });
  const size_t at = static_cast<size_t>(cell - cells_.begin());
  return {gpus_, cpus_[at / columns], memories_[at % columns]};
}

double BelievedThroughput(const JobProfile& profile, const ResourceVector& fair_share,
                          double max_speed_up) {
  const double fair = profile.ThroughputAt(fair_share.cpu, fair_share.memory);
  return fair > 0 ? std::min(profile.Best(), max_speed_up * fair) : profile.Best();
}

JobProfile JobProfile::WithProcessMemory(Bytes process_memory) const {
  JobProfile profile = *this;
  profile.process_memory_ = process_memory;
  return profile;
}

JobProfile JobProfile::WithSpread(const SpreadCost& spread) const {
  JobProfile profile = *this;
  profile.spread_ = spread;
  return profile;
}

Result<JobProfile> Scaled(const JobProfile& one_gpu, Gpus gpus) {
  if (one_gpu.gpus() != Gpus(1)) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("a profile of {} GPUs cannot be scaled", one_gpu.gpus().count()));
  }
  // Before they are multiplied: a product that wraps round could pass for an amount.
  if (gpus > Gpus(0) && (one_gpu.cpus().back().count() > kMostCpu.count() / gpus.count() ||
                         one_gpu.memories().back().count() > kMostMemory.count() / gpus.count())) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{} GPUs: {} CPU or {} memory for each is too much", gpus.count(),
                            ToQuantityText(one_gpu.cpus().back()),
                            ToQuantityText(one_gpu.memories().back())));
  }
  std::vector<Point> points;
  for (size_t i = 0; i < one_gpu.cpus().size(); ++i) {
    for (size_t j = 0; j < one_gpu.memories().size(); ++j) {
      points.push_back({one_gpu.cpus()[i] * gpus.count(), one_gpu.memories()[j] * gpus.count(),
                        one_gpu.Cell(i, j)});
    }
  }
  Result<JobProfile> scaled = JobProfile::Create(gpus, std::move(points));
  if (!scaled) return scaled;
  *scaled = scaled->WithSpread(one_gpu.spread());
  if (!one_gpu.process_memory()) return scaled;
  return scaled->WithProcessMemory(*one_gpu.process_memory() * gpus.count());
}

std::shared_ptr<const JobProfile> ForGpus(std::shared_ptr<const JobProfile> profile, Gpus gpus) {
  if (!profile || profile->gpus() == gpus) return profile;
  Result<JobProfile> scaled = Scaled(*profile, gpus);
  return scaled ? std::make_shared<const JobProfile>(*std::move(scaled)) : nullptr;
}

}  // namespace synergy
