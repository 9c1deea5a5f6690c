#include "engine/profiler/hints.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "engine/profiler/publishing.h"

namespace synergy {
namespace {

// How long other workloads wait after the leader last passed TakesLead(): longer than a probe and
// the pause after it.
constexpr Duration kLead = std::chrono::minutes(5);
// The most hints that a workload is compared with.
constexpr size_t kMostTried = 8;
// The points of an adopted curve assume plenty of memory.
constexpr Bytes kAnyMemory = Bytes(int64_t{1} << 50);

MeasurementKey LeadKeyOf(const MeasurementKey& key, const Measurement& measurement) {
  MeasurementKey lead = key;
  lead.workload = measurement.alike.arguments;
  return lead;
}

enum class HintVerdict : uint8_t { kAgrees, kDiffers, kUnknown };

HintVerdict Judge(const Measurement& measurement, const MeasuredProfile& hint, double tolerance) {
  const Result<JobProfile> curve = MakeJobProfile(hint);
  if (!curve) return HintVerdict::kDiffers;
  // An iteration costs more CPU than in the hint, so the workload differs.
  if (hint.cpu_seconds && measurement.least_cost < std::numeric_limits<double>::infinity() &&
      measurement.least_cost > *hint.cpu_seconds * (1 + tolerance)) {
    return HintVerdict::kDiffers;
  }
  bool any = false;
  bool in_doubt = false;
  for (const CurvePoint& point : measurement.points) {
    const double expected = curve->ThroughputAt(point.cpu, kAnyMemory);
    const double off = point.throughput - expected;
    const bool close = std::abs(off) <= tolerance * expected;
    // A lower bound may be below the hint: for example, the pod may wait for storage or have few
    // workers.
    const bool held_back = !close && point.certainty == PointCertainty::kAtLeast && off < 0;
    if (!close && !held_back) return HintVerdict::kDiffers;
    any |= close;
    in_doubt |= held_back;
  }
  return any && !in_doubt ? HintVerdict::kAgrees : HintVerdict::kUnknown;
}

void TakeOver(Measurement& measurement, const MeasuredProfile& hint, LooserIdentity by) {
  measurement.points.clear();
  TakePoints(measurement, hint);
  measurement.confirmed = measurement.complete = true;
  measurement.taken = {MeasuredName(hint), by};
  // The memory of this run may not have reached its peak yet, so use the hint's.
  if (!measurement.memory && hint.memory) {
    measurement.memory = hint.memory;
    measurement.memory->confirmed = false;
  }
}

}  // namespace

void NoteIdentities(Measurement& measurement, const LooserIdentities& alike) {
  if (measurement.alike.empty()) measurement.alike = alike;
}

void TryHints(ProfilerPass& pass, const MeasurementKey& key, Measurement& measurement) {
  if (measurement.complete) return;
  measurement.taken.reset();
  if (measurement.drifted || measurement.estimate || !measurement.running.empty() ||
      measurement.points.empty() || measurement.note == kUnsettledNote) {
    return;
  }
  for (const LooserIdentity by : kLooserIdentities) {
    const std::string& identity = measurement.alike.Of(by);
    if (identity.empty() || measurement.tried_hints.size() >= kMostTried) continue;
    const auto hint = pass.catalog.FindHint(key.profile_namespace, identity, key.gpus,
                                            key.gpu_product, key.gang_size);
    if (hint == nullptr || !MayHint(*hint) || hint->workload == key.workload) continue;
    const std::pair<std::string, int64_t> name(MeasuredName(*hint), hint->revision);
    if (measurement.tried_hints.contains(name)) continue;
    const HintVerdict verdict = Judge(measurement, *hint, pass.settings.drift);
    if (verdict == HintVerdict::kUnknown) continue;
    measurement.tried_hints.insert(name);
    if (verdict == HintVerdict::kAgrees) return TakeOver(measurement, *hint, by);
  }
}

bool TakesLead(ProfilerPass& pass, const MeasurementKey& key, const Measurement& measurement) {
  if (measurement.alike.arguments.empty()) return true;
  AlikeLead& lead = pass.memory.leads[LeadKeyOf(key, measurement)];
  if (lead.leader != key && pass.at.now < lead.until) return false;
  lead = {key, pass.at.now + kLead};
  return true;
}

void GiveUpLead(ProfilerMemory& memory, const MeasurementKey& key, const Measurement& measurement) {
  const auto lead = memory.leads.find(LeadKeyOf(key, measurement));
  if (lead != memory.leads.end() && lead->second.leader == key) memory.leads.erase(lead);
}

}  // namespace synergy
