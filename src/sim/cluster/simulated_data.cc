#include "sim/cluster/simulated_data.h"

#include <cmath>
#include <cstddef>
#include <utility>

namespace synergy {
namespace {

constexpr double kStorage = 500e6;   // bytes per second
constexpr double kMostData = 1e18;   // bytes
constexpr int64_t kWithMargin = 11;  // process memory with admission's margin, in tenths

}  // namespace

SimulatedData DataOf(const JobProfile& truth) {
  SimulatedData data;
  const auto memories = truth.memories();
  const size_t most_cpu = truth.cpus().size() - 1;
  const auto speed = [&](size_t memory) { return truth.Cell(most_cpu, memory); };
  data.process = Bytes(memories.front().count() * 10 / kWithMargin);
  size_t enough = 0;
  while (speed(enough) < truth.Best()) ++enough;
  if (enough == 0) return data;
  // The time per iteration is linear in the memory between two points.
  size_t less = 0;
  while (less + 1 < enough && speed(less) < truth.Best() / 2) ++less;
  if (speed(less) <= 0) return data;
  const double from = 1 / speed(less);
  const auto at = static_cast<double>(memories[less].count());
  const double slope =
      (from - 1 / truth.Best()) / (static_cast<double>(memories[enough].count()) - at);
  const double none_missed = at + from / slope;
  const double size = none_missed - static_cast<double>(data.process.count());
  // A nearly flat profile gives no information about a data set.
  if (!(size > 0) || size > kMostData) return data;
  data.data_set = Bytes(std::llround(size));
  data.per_iteration = kStorage * slope * size;
  data.uncached = kStorage / data.per_iteration;
  return data;
}

std::optional<PodReads> SimulatedStorage::ReadsOf(const Pod& pod) const {
  if (!pod.fungible || pod.fungible->profile.empty()) return std::nullopt;
  auto profile =
      profiles_.Find(pod.pod_namespace, pod.fungible->profile, pod.fungible->requested.gpus)
          .profile;
  if (!profile) return std::nullopt;
  const auto [reads, is_new] = reads_.try_emplace(profile);
  if (is_new) reads->second = DataOf(*profile);
  return PodReads{std::move(profile), reads->second};
}

}  // namespace synergy
