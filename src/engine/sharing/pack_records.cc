#include "engine/sharing/pack_records.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

namespace synergy {
namespace {

using std::chrono::floor;
using std::chrono::seconds;

// The clocks of two replicas may differ by this much.
constexpr Duration kClockSkew = std::chrono::minutes(1);

// A namespace is a DNS label, so it has no such character.
constexpr char kAfterNamespace = '/';

// Returns the namespace and the workload; nullopt for a pod of an unknown workload.
std::optional<std::pair<std::string_view, std::string_view>> SplitName(std::string_view name) {
  const size_t end = name.find(kAfterNamespace);
  if (end == std::string_view::npos || end == 0) return std::nullopt;
  const std::string_view workload = name.substr(end + 1);
  if (workload.empty() || workload.size() > kLongestPackWorkload) return std::nullopt;
  return std::pair(name.substr(0, end), workload);
}

std::string JoinName(const std::string& pod_namespace, const std::string& workload) {
  return pod_namespace + kAfterNamespace + workload;
}

bool IsRecorded(const PackResult& result) { return result.good || result.refusals > 0; }

PackRecord RecordOf(std::string with, const PackResult& result, size_t own, Moment at) {
  PackRecord record{.with = std::move(with), .good = result.good};
  record.speed = std::clamp(result.speeds[own], 0.0, kMostPackSpeed);
  record.other_speed = std::clamp(result.speeds[1 - own], 0.0, kMostPackSpeed);
  const Duration age = std::max(at.now - result.measured_at, Duration::zero());
  record.at = floor<seconds>(at.wall - age);
  if (result.good) return record;
  record.refusals = std::min(result.refusals, kMostPackRefusals);
  // Compare before subtracting: the end of a rest may be the end of time.
  const bool is_over = result.refused_until <= result.measured_at;
  const bool is_long = result.refused_until >= Later(result.measured_at, kLongestPackRest);
  record.rest = is_over   ? Duration::zero()
                : is_long ? kLongestPackRest
                          : floor<seconds>(result.refused_until - result.measured_at);
  return record;
}

bool IsSpeed(double speed) { return std::isfinite(speed) && speed >= 0 && speed <= kMostPackSpeed; }

bool IsCredible(const PackRecord& record, WallTime now) {
  if (!IsSpeed(record.speed) || !IsSpeed(record.other_speed) || record.at > now + kClockSkew)
    return false;
  if (record.good) return record.speed + record.other_speed > Packing::kKept;
  return record.refusals > 0;
}

PackResult ResultOf(const PackRecord& record, size_t own, Moment at) {
  PackResult result{.good = record.good};
  result.speeds[own] = record.speed;
  result.speeds[1 - own] = record.other_speed;
  const Duration age = std::max(at.wall - record.at, Duration::zero());
  result.measured_at = at.now - age;
  if (record.good) return result;
  result.refusals = record.refusals;
  result.refused_until =
      result.measured_at + std::clamp(record.rest, Duration::zero(), kLongestPackRest);
  return result;
}

}  // namespace

std::string PackNameOf(const Pod& pod) {
  const std::string& workload = pod.fungible->workload;
  return workload.empty() ? JoinName("", pod.uid) : JoinName(pod.pod_namespace, workload);
}

std::set<PackedWorkload> WorkloadsOf(const WorkloadPair& pair) {
  const auto first = SplitName(pair.first);
  const auto second = SplitName(pair.second);
  if (!first || !second || first->first != second->first || pair.gpu_product.empty()) return {};
  const auto packed = [&pair](const auto& parts) {
    return PackedWorkload{std::string(parts.first), std::string(parts.second), pair.gpu_product};
  };
  return {packed(*first), packed(*second)};
}

std::vector<PackRecord> RecordsOf(const PackedWorkload& workload, const PackResults& results,
                                  Moment at) {
  std::vector<PackRecord> records;
  const std::string name = JoinName(workload.pod_namespace, workload.workload);
  for (const auto& [pair, result] : results) {
    if (!IsRecorded(result) || !WorkloadsOf(pair).contains(workload)) continue;
    const size_t own = pair.first == name ? 0 : 1;
    const std::string& other = own == 0 ? pair.second : pair.first;
    records.push_back(RecordOf(std::string(SplitName(other)->second), result, own, at));
  }
  std::sort(records.begin(), records.end(), [](const PackRecord& a, const PackRecord& b) {
    return std::tie(b.at, a.with) < std::tie(a.at, b.with);
  });
  if (records.size() > kMostPackRecords) records.resize(kMostPackRecords);
  std::sort(records.begin(), records.end(),
            [](const PackRecord& a, const PackRecord& b) { return a.with < b.with; });
  return records;
}

RecordedPacks ResultsOf(const PackRecords& records, Moment at) {
  RecordedPacks recorded;
  std::map<WorkloadPair, PackRecord> newest;
  for (const auto& [workload, all] : records) {
    const std::string name = JoinName(workload.pod_namespace, workload.workload);
    for (const PackRecord& record : all) {
      const std::string other = JoinName(workload.pod_namespace, record.with);
      const WorkloadPair pair = PairOf(name, other, workload.gpu_product);
      if (!IsCredible(record, at.wall) || WorkloadsOf(pair).empty()) {
        ++recorded.ignored;
        continue;
      }
      const auto [known, is_new] = newest.try_emplace(pair, record);
      // If two records are equally old, the pair is good only if it is good in both.
      const auto rank = [](const PackRecord& one) { return std::tuple(one.at, !one.good); };
      if (!is_new && rank(record) <= rank(known->second)) continue;
      known->second = record;
      recorded.results[pair] = ResultOf(record, pair.first == name ? 0 : 1, at);
    }
  }
  return recorded;
}

std::set<PackedWorkload> PackVerdicts::Observe(const PackResults& results) {
  std::set<PackedWorkload> changed;
  std::map<WorkloadPair, std::pair<bool, uint32_t>> seen;
  for (const auto& [pair, result] : results) {
    const std::pair verdict(result.good, result.refusals);
    seen.emplace(pair, verdict);
    const auto before = last_.find(pair);
    const bool is_same = before == last_.end() ? !IsRecorded(result) : before->second == verdict;
    if (!is_same) changed.merge(WorkloadsOf(pair));
  }
  last_ = std::move(seen);
  return changed;
}

}  // namespace synergy
