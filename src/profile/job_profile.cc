#include "profile/job_profile.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/check.h"
#include "core/text/quantity_text.h"

namespace synergy {
namespace {

using Point = JobProfile::Point;

constexpr MilliCpu kMostCpu = JobProfile::kMostCpu;
constexpr Bytes kMostMemory = JobProfile::kMostMemory;
constexpr Gpus kMostGpus = Gpus(1 << 20);

// The most warnings about points that are slower with more resources; enough to show the problem.
constexpr size_t kMostWarnings = 16;

constexpr double kNotMeasured = -1;
constexpr uint32_t kNoPoint = std::numeric_limits<uint32_t>::max();

std::string Describe(const Point& point) {
  return fmt::format("{} CPU and {} memory", ToQuantityText(point.cpu),
                     ToQuantityText(point.memory));
}

// Returns a description of the fault of a single point; empty if it has none.
std::string Fault(const Point& point) {
  if (point.cpu <= MilliCpu(0) || point.cpu > kMostCpu)
    return fmt::format("CPU must be above 0 and at most {}", ToQuantityText(kMostCpu));
  if (point.memory <= Bytes(0) || point.memory > kMostMemory)
    return fmt::format("memory must be above 0 and at most {}", ToQuantityText(kMostMemory));
  return JobProfile::FaultOf(point.throughput);
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

// Interpolates between two throughputs linearly in the time per sample. REQUIRES: low <= high, 0 <
// part < 1.
double BetweenTimes(double low, double high, double part) {
  if (low == high) return low;
  return std::clamp(low / (1 - part + part * (low / high)), low, high);
}

double BetweenThroughputs(double low, double high, double part) {
  return std::min(low + (high - low) * part, high);
}

// Fills the grid: first measured cells, then the range that they leave for the others, then every
// cell. Each pass over the grid reuses the results of neighbouring cells, so the cost is
// proportional to the number of cells.
class GridBuilder {
 public:
  // REQUIRES: all arguments outlive this object; Place() is called before Fill().
  GridBuilder(const std::vector<MilliCpu>& cpus, const std::vector<Bytes>& memories,
              const std::vector<Point>& points)
      : cpus_(cpus),
        memories_(memories),
        points_(points),
        point_at_(cpus.size() * memories.size(), kNoPoint) {}

  // Puts each point into its cell. Returns the first point whose cell is taken, if any.
  std::optional<size_t> Place() {
    for (size_t i = 0; i < points_.size(); ++i) {
      uint32_t& cell =
          point_at_[At(IndexOf(cpus_, points_[i].cpu), IndexOf(memories_, points_[i].memory))];
      if (cell != kNoPoint) return i;
      cell = static_cast<uint32_t>(i);
    }
    return std::nullopt;
  }

  std::vector<double> Fill() {
    fastest_ = Best(false, false, [](const Point& point) { return point.throughput; });
    lower_.resize(point_at_.size());
    for (size_t at = 0; at < lower_.size(); ++at)
      lower_[at] = fastest_[at] == kNoPoint ? 0 : points_[fastest_[at]].throughput;
    if (points_.size() == point_at_.size()) return lower_;
    LookRound();
    const std::vector<double> upper = Upper();
    std::vector<double> cells(point_at_.size());
    for (size_t i = 0; i < cpus_.size(); ++i) {
      for (size_t j = 0; j < memories_.size(); ++j) {
        const size_t at = At(i, j);
        double cell = lower_[at];
        if (point_at_[at] == kNoPoint) cell = std::clamp(Estimate(i, j), lower_[at], upper[at]);
        // Neighbouring cells may be estimated in different ways, so a cell may be below its
        // neighbours. `upper` never falls along the grid, so raising the cell keeps it within
        // `upper`, and does not change measured cells.
        if (i > 0) cell = std::max(cell, cells[At(i - 1, j)]);
        if (j > 0) cell = std::max(cell, cells[At(i, j - 1)]);
        cells[at] = cell;
      }
    }
    return cells;
  }

  // Returns the fastest point with no more CPU and no more memory, if that is faster than `point`.
  // REQUIRES: the grid is filled.
  const Point* FasterWithLess(const Point& point) const {
    const Point& fastest =
        points_[fastest_[At(IndexOf(cpus_, point.cpu), IndexOf(memories_, point.memory))]];
    return fastest.throughput > point.throughput ? &fastest : nullptr;
  }

 private:
  using Points = std::vector<uint32_t>;  // the index of a point for each cell, or kNoPoint

  size_t At(size_t cpu, size_t memory) const { return cpu * memories_.size() + memory; }

  // Returns for each cell the point with the most `worth` in one quadrant: with no more (or no
  // less) CPU and no more (or no less) memory. Of equal points, returns the first.
  template <class Worth>
  Points Best(bool more_cpu, bool more_memory, Worth worth) const {
    Points best = point_at_;
    const auto take = [&](uint32_t& mine, uint32_t other) {
      if (other == kNoPoint) return;
      const double by = mine == kNoPoint ? 1 : worth(points_[other]) - worth(points_[mine]);
      if (by > 0 || (by == 0 && other < mine)) mine = other;
    };
    const size_t rows = cpus_.size();
    const size_t columns = memories_.size();
    for (size_t step = 0; step < rows; ++step) {
      const size_t i = more_cpu ? rows - 1 - step : step;
      for (size_t along = 0; along < columns; ++along) {
        const size_t j = more_memory ? columns - 1 - along : along;
        uint32_t& mine = best[At(i, j)];
        if (step > 0) take(mine, best[At(more_cpu ? i + 1 : i - 1, j)]);
        if (along > 0) take(mine, best[At(i, more_memory ? j + 1 : j - 1)]);
      }
    }
    return best;
  }

  // For each cell, finds the nearest measured cell (possibly itself) in each of the four
  // directions. Also finds the best point to scale down among those with more CPU, with more
  // memory, and with more of both.
  void LookRound() {
    const size_t size = point_at_.size();
    for (Points* const side : {&less_cpu_, &more_cpu_, &less_memory_, &more_memory_})
      side->assign(size, kNoPoint);
    const auto look = [this](Points& side, size_t at, bool has_next, size_t next) {
      side[at] = point_at_[at] != kNoPoint ? static_cast<uint32_t>(at)
                 : has_next                ? side[next]
                                           : kNoPoint;
    };
    const size_t rows = cpus_.size();
    const size_t columns = memories_.size();
    for (size_t at = 0; at < size; ++at) {
      look(less_cpu_, at, at >= columns, at - columns);
      look(less_memory_, at, at % columns != 0, at - 1);
      const size_t back = size - 1 - at;
      look(more_cpu_, back, back / columns + 1 < rows, back + columns);
      look(more_memory_, back, back % columns + 1 < columns, back + 1);
    }
    const auto cores = [](const Point& point) { return static_cast<double>(point.cpu.count()); };
    const auto bytes = [](const Point& point) { return static_cast<double>(point.memory.count()); };
    by_cpu_ = Best(true, false, [&](const Point& p) { return p.throughput / cores(p); });
    by_memory_ = Best(false, true, [&](const Point& p) { return p.throughput / bytes(p); });
    by_both_ = Best(true, true, [&](const Point& p) { return p.throughput / cores(p) / bytes(p); });
  }

  // Returns for each cell the smallest value of a measured cell with no less CPU and no less
  // memory.
  std::vector<double> Upper() const {
    std::vector<double> upper(point_at_.size());
    for (size_t i = cpus_.size(); i-- > 0;) {
      for (size_t j = memories_.size(); j-- > 0;) {
        double most = point_at_[At(i, j)] == kNoPoint ? lower_.back() : lower_[At(i, j)];
        if (i + 1 < cpus_.size()) most = std::min(most, upper[At(i + 1, j)]);
        if (j + 1 < memories_.size()) most = std::min(most, upper[At(i, j + 1)]);
        upper[At(i, j)] = most;
      }
    }
    return upper;
  }

  double Estimate(size_t cpu, size_t memory) const {
    const size_t at = At(cpu, memory);
    const size_t columns = memories_.size();
    std::optional<double> by_cpu;
    if (less_cpu_[at] != kNoPoint && more_cpu_[at] != kNoPoint) {
      const MilliCpu below = cpus_[less_cpu_[at] / columns];
      const MilliCpu above = cpus_[more_cpu_[at] / columns];
      by_cpu = BetweenThroughputs(lower_[less_cpu_[at]], lower_[more_cpu_[at]],
                                  Part(cpus_[cpu] - below, above - below));
    }
    std::optional<double> by_memory;
    if (less_memory_[at] != kNoPoint && more_memory_[at] != kNoPoint) {
      const Bytes below = memories_[less_memory_[at] % columns];
      const Bytes above = memories_[more_memory_[at] % columns];
      by_memory = BetweenTimes(lower_[less_memory_[at]], lower_[more_memory_[at]],
                               Part(memories_[memory] - below, above - below));
    }
    if (by_cpu && by_memory) return (*by_cpu + *by_memory) / 2;
    if (by_cpu) return *by_cpu;
    if (by_memory) return *by_memory;
    return InProportion(at, cpus_[cpu], memories_[memory]);
  }

  // Returns the best result of scaling down one point in proportion.
  double InProportion(size_t at, MilliCpu cpu, Bytes memory) const {
    double best = 0;
    for (const Points* const quarter : {&fastest_, &by_cpu_, &by_memory_, &by_both_}) {
      if ((*quarter)[at] == kNoPoint) continue;
      const Point& point = points_[(*quarter)[at]];
      best = std::max(best, point.throughput * std::min(1.0, Part(cpu, point.cpu)) *
                                std::min(1.0, Part(memory, point.memory)));
    }
    return best;
  }

  const std::vector<MilliCpu>& cpus_;
  const std::vector<Bytes>& memories_;
  const std::vector<Point>& points_;
  Points point_at_;  // measured at the cell
  Points fastest_;   // with no more CPU and no more memory
  std::vector<double> lower_;
  Points less_cpu_, more_cpu_, less_memory_, more_memory_;  // cells
  Points by_cpu_, by_memory_, by_both_;  // with more CPU, more memory, or more of both
};

// The position of an amount among ascending ones.
struct Position {
  size_t below = 0;
  double part = 0;   // fraction of the way to the next; 0 on `below` itself
  double scale = 1;  // below 1 if less than the first amount
};

template <class Amount>
Position Locate(const std::vector<Amount>& amounts, Amount amount) {
  if (amount >= amounts.back()) return {amounts.size() - 1, 0, 1};
  if (amount < amounts.front()) return {0, 0, std::max(0.0, Part(amount, amounts.front()))};
  const auto above = std::upper_bound(amounts.begin(), amounts.end(), amount);
  const auto below = static_cast<size_t>(above - amounts.begin()) - 1;
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
  GridBuilder builder(profile.cpus_, profile.memories_, points);
  if (const std::optional<size_t> twice = builder.Place())
    return fail(fmt::format("point {} ({}): occurs twice", *twice + 1, Describe(points[*twice])));
  profile.cells_ = builder.Fill();
  size_t slower = 0;
  for (const Point& point : points) {
    const Point* const faster = builder.FasterWithLess(point);
    if (faster == nullptr || ++slower > kMostWarnings) continue;
    profile.warnings_.push_back(
        fmt::format("{}: throughput {} is less than {} with {}, which is used here too",
                    Describe(point), point.throughput, faster->throughput, Describe(*faster)));
  }
  if (slower > kMostWarnings)
    profile.warnings_.push_back(fmt::format("and {} more", slower - kMostWarnings));
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

double CredibleThroughput(const JobProfile& profile, const ResourceVector& fair_share,
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
  // Check before multiplying: a product that overflows could look valid.
  if (gpus > Gpus(0) && (one_gpu.cpus().back().count() > kMostCpu.count() / gpus.count() ||
                         one_gpu.memories().back().count() > kMostMemory.count() / gpus.count())) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{} GPUs: {} CPU or {} memory for each is too much", gpus.count(),
                            ToQuantityText(one_gpu.cpus().back()),
                            ToQuantityText(one_gpu.memories().back())));
  }
  if (gpus <= Gpus(0) || gpus > kMostGpus) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{} GPUs: must be 1 to {}", gpus.count(), kMostGpus.count()));
  }
  JobProfile scaled = one_gpu;
  scaled.gpus_ = gpus;
  for (MilliCpu& cpu : scaled.cpus_) cpu = cpu * gpus.count();
  for (Bytes& memory : scaled.memories_) memory = memory * gpus.count();
  if (scaled.process_memory_) scaled.process_memory_ = *scaled.process_memory_ * gpus.count();
  // The warnings name points for one GPU.
  scaled.warnings_.clear();
  return scaled;
}

std::string JobProfile::FaultOf(double throughput) {
  if (!std::isfinite(throughput) || throughput < 0)
    return fmt::format("throughput {} is negative or not a number", throughput);
  if (throughput > kMostThroughput || (throughput > 0 && throughput < 1 / kMostThroughput))
    return fmt::format("throughput {}: must be 0 or from {} to {}", throughput, 1 / kMostThroughput,
                       kMostThroughput);
  return "";
}

std::shared_ptr<const JobProfile> ForGpus(std::shared_ptr<const JobProfile> profile, Gpus gpus) {
  if (!profile || profile->gpus() == gpus) return profile;
  Result<JobProfile> scaled = Scaled(*profile, gpus);
  return scaled ? std::make_shared<const JobProfile>(*std::move(scaled)) : nullptr;
}

}  // namespace synergy
