#include "profile/cache_model.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/text/quantity_text.h"
#include "profile/data_reads.h"

namespace synergy {
namespace {

constexpr int kHalves = 4;
constexpr Bytes kMostOfModel = JobProfile::kMostMemory;

// Returns the samples per second that storage delivers to a job that caches nothing.
double SamplesFromStorage(const CacheModel& model) {
  return static_cast<double>(model.storage_bandwidth.count()) /
         static_cast<double>(model.bytes_per_sample.count());
}

// Returns a description of the invalid amount; empty if all are valid.
std::string Fault(const CacheModel& model) {
  if (model.data_set <= Bytes(0)) return "the data set has no size";
  if (model.storage_bandwidth <= Bytes(0)) return "the storage has no bandwidth";
  if (model.bytes_per_sample <= Bytes(0)) return "a sample has no bytes";
  const std::string_view too_much = model.data_set > kMostOfModel ? "the data set"
                                    : model.storage_bandwidth > kMostOfModel
                                        ? "the storage's bandwidth"
                                    : model.bytes_per_sample > kMostOfModel ? "a sample"
                                                                            : "";
  if (too_much.empty()) return "";
  return fmt::format("{} is more than {}", too_much, ToQuantityText(kMostOfModel));
}

// Checks throughputs here, because the storage limit would hide their faults from JobProfile.
std::string Fault(const CpuPoint& point) {
  const std::string fault = JobProfile::FaultOf(point.throughput);
  return fault.empty() ? "" : fmt::format("{} CPU: {}", ToQuantityText(point.cpu), fault);
}

// Checks amounts here, because JobProfile gets only their sums.
std::string Fault(std::span<const Bytes> memories, Bytes process_memory) {
  if (process_memory < Bytes(0) || process_memory > kMostOfModel)
    return fmt::format("the process memory is negative or more than {}",
                       ToQuantityText(kMostOfModel));
  for (const Bytes memory : memories) {
    if (memory < Bytes(0) || memory > kMostOfModel)
      return fmt::format("{} memory is negative or more than {}", ToQuantityText(memory),
                         ToQuantityText(kMostOfModel));
  }
  return "";
}

}  // namespace

double StorageLimit(const CacheModel& model, Bytes memory) {
  const DataReads reads{.data_set = model.data_set,
                        .per_iteration = static_cast<double>(model.bytes_per_sample.count())};
  return reads.RateWith(static_cast<double>(model.storage_bandwidth.count()), memory);
}

Bytes EnoughMemory(const CacheModel& model, double throughput) {
  const double from_storage = SamplesFromStorage(model);
  if (throughput <= from_storage) return Bytes(1);
  // StorageLimit() never falls as the memory rises, so bisection finds the least amount exactly.
  Bytes too_little(0);
  Bytes enough = model.data_set;
  while (enough - too_little > Bytes(1)) {
    const Bytes middle = too_little + Bytes((enough - too_little).count() / 2);
    (StorageLimit(model, middle) >= throughput ? enough : too_little) = middle;
  }
  return enough;
}

std::vector<Bytes> MemoryGrid(const CacheModel& model, std::span<const CpuPoint> points) {
  std::vector<Bytes> memories;
  for (int i = 0; i <= kHalves; ++i)
    memories.push_back(std::max(Bytes(model.data_set.count() >> i), Bytes(1)));
  for (const CpuPoint& point : points) {
    const Bytes enough = EnoughMemory(model, point.throughput);
    // A point that needs less than the smallest halved amount gets no amount of its own.
    if (enough > Bytes(model.data_set.count() >> kHalves)) memories.push_back(enough);
  }
  std::sort(memories.begin(), memories.end());
  memories.erase(std::unique(memories.begin(), memories.end()), memories.end());
  return memories;
}

Result<JobProfile> CalculateProfile(Gpus gpus, std::span<const CpuPoint> points,
                                    const CacheModel& model, std::span<const Bytes> memories,
                                    Bytes process_memory) {
  if (std::string fault = Fault(model); !fault.empty())
    return Fail(ErrorCode::kInvalid, std::move(fault));
  for (const CpuPoint& point : points) {
    if (std::string fault = Fault(point); !fault.empty())
      return Fail(ErrorCode::kInvalid, std::move(fault));
  }
  if (std::string fault = Fault(memories, process_memory); !fault.empty())
    return Fail(ErrorCode::kInvalid, std::move(fault));
  std::vector<Bytes> grid(memories.begin(), memories.end());
  if (grid.empty()) grid = MemoryGrid(model, points);
  if (points.size() > JobProfile::kMaxCells / grid.size()) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("{} CPU amounts and {} memory amounts: more than {} cells",
                            points.size(), grid.size(), JobProfile::kMaxCells));
  }
  std::vector<JobProfile::Point> cells;
  cells.reserve(points.size() * grid.size());
  for (const CpuPoint& point : points) {
    for (const Bytes memory : grid) {
      cells.push_back({point.cpu, memory + process_memory,
                       std::min(point.throughput, StorageLimit(model, memory))});
    }
  }
  return JobProfile::Create(gpus, std::move(cells));
}

}  // namespace synergy
