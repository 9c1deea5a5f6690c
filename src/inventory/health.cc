#include "inventory/health.h"

#include <fmt/format.h>

namespace synergy {

void GpuHealthJudge::SeeProbe(const std::string& uuid, const GpuProbe& probe, Instant now) {
  Seen& seen = gpus_[uuid];
  const std::optional<uint64_t> before = seen.probe.uncorrectable_errors;
  // The first count includes errors from before this program's start. A lower count means that a
  // reset restarted the count.
  if (before && probe.uncorrectable_errors && *probe.uncorrectable_errors > *before)
    seen.last_ecc_error = now;
  seen.probe = probe;
  // The GPU was taken off the bus; a GPU that comes back has been reset.
  if (probe.absent) seen.xids.clear();
  // A failed probe has no count, so compare the next one with the last known count.
  if (!probe.uncorrectable_errors) seen.probe.uncorrectable_errors = before;
}

void GpuHealthJudge::SeeXid(const std::string& uuid, uint64_t xid, Instant now) {
  gpus_[uuid].xids[xid] = now;
}

GpuHealth GpuHealthJudge::Judge(std::string_view uuid, Instant now) const {
  const auto found = gpus_.find(uuid);
  if (found == gpus_.end()) return {};
  const Seen& seen = found->second;
  if (!seen.probe.fault.empty()) return {false, seen.probe.fault};
  if (seen.probe.recovery_action && !seen.probe.recovery_action->empty())
    return {false, "the driver requests " + *seen.probe.recovery_action};
  if (seen.probe.repair_failed)
    return {false, "memory repair failed: the GPU needs to be replaced"};
  if (seen.probe.repair_pending) return {false, "memory repair pending: the GPU needs a reset"};
  const auto recent = [&](Instant last) { return now - last < rules_.quiet_period; };
  for (const auto& [xid, last] : seen.xids) {
    if (rules_.ignored_xids.contains(xid)) continue;
    // If the driver reports recovery actions and requests none, this takes precedence over the
    // table.
    if (KindOf(xid) == XidKind::kNeedsReset && !seen.probe.recovery_action)
      return {false, fmt::format("Xid {}: the GPU needs a reset", xid)};
    if (recent(last)) return {false, fmt::format("Xid {}", xid)};
  }
  if (seen.last_ecc_error && recent(*seen.last_ecc_error))
    return {false, "uncorrectable ECC errors"};
  return {};
}

}  // namespace synergy
