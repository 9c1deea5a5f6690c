#include "profile/measured/measured_profile.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

namespace synergy {
namespace {

constexpr std::array<std::string_view, 3> kCertainties = {"exact", "at least", "guess"};

// Limits the readable part of the name; the rest is the GPU count, the product and a hash.
constexpr size_t kMostOfWorkload = 150;
constexpr size_t kMostOfProduct = 60;

// Throughputs that differ by at most this fraction may be the same, because repeated windows differ
// as much.
constexpr double kSame = 0.03;

// FNV-1a: the same in every build and on every machine, because names outlive processes.
uint64_t StableHash(std::string_view text, uint64_t hash = 0xcbf29ce484222325) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

bool IsAlphanumeric(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

// Returns `text` as far as it may be part of a DNS name: '-' is neither at an end nor doubled.
std::string Slug(std::string_view text, size_t most) {
  std::string slug;
  for (char c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (!IsAlphanumeric(c)) c = '-';
    if (c == '-' && (slug.empty() || slug.back() == '-')) continue;
    if (slug.size() == most) break;
    slug.push_back(c);
  }
  while (!slug.empty() && slug.back() == '-') slug.pop_back();
  return slug;
}

// `process`: the memory that the processes count as needing.
void AddMemory(const MeasuredMemory& memory, Bytes process, TrainingProfile& training) {
  training.process_memory = process;
  if (!memory.storage_bandwidth || memory.data_set <= Bytes(0)) {
    for (JobProfile::Point& point : training.points) {
      point.memory = std::max(process + memory.data_set, Bytes(1));
    }
    return;
  }
  CachedMeasurements cached;
  cached.model = {memory.data_set, *memory.storage_bandwidth, memory.bytes_per_iteration};
  for (const JobProfile::Point& point : training.points) {
    cached.points.push_back({point.cpu, point.throughput});
  }
  training.points.clear();
  training.cached = std::move(cached);
}

}  // namespace

std::string_view ToString(PointCertainty certainty) {
  return kCertainties[static_cast<size_t>(certainty)];
}

Result<PointCertainty> ParsePointCertainty(std::string_view text) {
  const auto* const found = std::find(kCertainties.begin(), kCertainties.end(), text);
  if (found == kCertainties.end()) {
    return Fail(ErrorCode::kInvalid, fmt::format("'{}' is none of: exact, at least, guess", text));
  }
  return static_cast<PointCertainty>(found - kCertainties.begin());
}

std::optional<Bytes> ProcessMemoryOf(const MeasuredProfile& measured) {
  if (!measured.memory) return std::nullopt;
  const Bytes process = measured.memory->process;
  if (!measured.raise) return process;
  return std::max(process,
                  IsRaised(measured) ? measured.raise->process : measured.raise->too_small);
}

bool IsRaised(const MeasuredProfile& measured) {
  return measured.memory && measured.raise && measured.memory->raise_over != measured.raise->at;
}

bool IsCpuInDoubt(const MeasuredProfile& measured) { return measured.censored || measured.drifted; }

bool IsMemoryInDoubt(const MeasuredProfile& measured) {
  return measured.memory && !measured.memory->confirmed;
}

bool MayHint(const MeasuredProfile& measured) {
  return measured.confirmed && !measured.drifted && !measured.estimate && !measured.taken;
}

bool IsBetterHint(const MeasuredProfile& a, const MeasuredProfile& b) {
  return a.at != b.at ? a.at > b.at : a.workload < b.workload;
}

std::string MeasuredName(std::string_view workload, Gpus gpus, std::string_view gpu_product,
                         int32_t gang_size) {
  const std::string of_workload = Slug(workload, kMostOfWorkload);
  const std::string of_product = Slug(gpu_product, kMostOfProduct);
  std::string name = "measured";
  if (!of_workload.empty()) name += "-" + of_workload;
  name += fmt::format("-{}gpu", gpus.count());
  const bool alone = gang_size <= 1;
  if (!alone) name += fmt::format("-gang-of-{}", gang_size);
  if (!of_product.empty()) name += "-" + of_product;
  // The part before the GPU count must be distinguishable from the part after it.
  const bool is_clear = workload.find("gpu") == std::string_view::npos;
  const bool is_whole = of_workload == workload && of_product == gpu_product && !workload.empty();
  if (is_whole && is_clear && alone) return name;
  uint64_t hash = StableHash(gpu_product, StableHash("\n", StableHash(workload)));
  if (!alone) hash = StableHash(fmt::format("\n{}", gang_size), hash);
  return fmt::format("{}-{:08x}", name, static_cast<uint32_t>(hash ^ (hash >> 32)));
}

std::string MeasuredName(const MeasuredProfile& measured) {
  return MeasuredName(measured.workload, measured.gpus, measured.gpu_product, measured.gang_size);
}

TrainingProfile TrainingOf(const MeasuredProfile& measured) {
  TrainingProfile training;
  training.model = measured.workload;
  training.gpu_product = measured.gpu_product;
  training.gpus = measured.gpus;
  for (const MeasuredPoint& point : measured.points) {
    double same = point.throughput;
    for (const MeasuredPoint& other : measured.points) {
      const bool close = other.throughput <= point.throughput * (1 + kSame);
      if (other.cpu < point.cpu || close) same = std::max(same, other.throughput);
    }
    training.points.push_back({point.cpu, MiB(1), same});
  }
  if (const auto process = ProcessMemoryOf(measured))
    AddMemory(*measured.memory, *process, training);
  return training;
}

Result<JobProfile> MakeJobProfile(const MeasuredProfile& measured) {
  return MakeJobProfile(TrainingOf(measured));
}

}  // namespace synergy
