#include "profile/cache_model.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/quantity_text.h"

namespace synergy {
namespace {

constexpr int kHalves = 4;

// Samples per second that storage delivers to a job that caches nothing.
double SamplesFromStorage(const CacheModel& model) {
  return static_cast<double>(model.storage_bandwidth.count()) /
         static_cast<double>(model.bytes_per_sample.count());
}

// What makes no sense; empty when nothing.
std::string Fault(const CacheModel& model) {
  if (model.data_set <= Bytes(0)) return "the data set has no size";
  if (model.storage_bandwidth <= Bytes(0)) return "the storage has no bandwidth";
  if (model.bytes_per_sample <= Bytes(0)) return "a sample has no bytes";
  return "";
}

// JobProfile cannot see these: the limit of storage hides them.
std::string Fault(const CpuPoint& point) {
  if (std::isfinite(point.throughput) && point.throughput >= 0) return "";
  return fmt::format("{} CPU: throughput {} is negative or not a number", ToQuantityText(point.cpu),
                     point.throughput);
}

}  // namespace

double StorageLimit(const CacheModel& model, Bytes memory) {
  if (memory >= model.data_set) return std::numeric_limits<double>::infinity();
  const double missed = static_cast<double>((model.data_set - std::max(memory, Bytes(0))).count()) /
                        static_cast<double>(model.data_set.count());
  return SamplesFromStorage(model) / missed;
}

Bytes EnoughMemory(const CacheModel& model, double throughput) {
  const double from_storage = SamplesFromStorage(model);
  if (throughput <= from_storage) return Bytes(1);
  const double hits = 1 - from_storage / throughput;
  const double estimate = std::floor(hits * static_cast<double>(model.data_set.count()));
  Bytes memory = std::clamp(Bytes(static_cast<int64_t>(estimate)), Bytes(1), model.data_set);
  // What is enough by this calculation is to be enough by that of StorageLimit(), digit for digit.
  while (memory < model.data_set && StorageLimit(model, memory) < throughput) memory += Bytes(1);
  return memory;
}

std::vector<Bytes> MemoryGrid(const CacheModel& model, std::span<const CpuPoint> points) {
  std::vector<Bytes> memories;
  for (int i = 0; i <= kHalves; ++i)
    memories.push_back(std::max(Bytes(model.data_set.count() >> i), Bytes(1)));
  for (const CpuPoint& point : points) {
    const Bytes enough = EnoughMemory(model, point.throughput);
    // What needs less than the smallest amount needs no column of its own.
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
  std::vector<Bytes> grid(memories.begin(), memories.end());
  if (grid.empty()) grid = MemoryGrid(model, points);
  std::vector<JobProfile::Point> cells;
  for (const CpuPoint& point : points) {
    for (const Bytes memory : grid) {
      cells.push_back({point.cpu, memory + process_memory,
                       std::min(point.throughput, StorageLimit(model, memory))});
    }
  }
  return JobProfile::Create(gpus, std::move(cells));
}

}  // namespace synergy
