#pragma once

// Whether a GPU may be given out, from what is seen of it over time. Every cause has an end:
//
//   cause                                   ends
//   the probe fails (lost, driver gone,     with the first probe that succeeds
//     marked in the inventory file)
//   the driver asks for a reset or another  when it asks no longer
//     recovery action
//   a memory repair failed                  when the driver says so no longer: another GPU
//   a memory repair is pending (row         when the driver reports that it is done, which takes
//     remapping, page retirement)             a reset
//   an Xid that needs a reset (xid.h)       never by time: the GPU was away, or the driver tells
//                                             recovery actions, and asks for none when none came
//                                             for the quiet period
//   another Xid that is not ignored         when none came for the quiet period
//   uncorrectable ECC errors were added     when none came for the quiet period
//
// Threading: one owner. Pure: time is handed in.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/clock.h"
#include "inventory/xid.h"

namespace synergy {

struct GpuHealthRules {
  std::set<uint64_t> ignored_xids = HarmlessXids();
  Duration quiet_period = std::chrono::minutes(1);
};

// What one look at a GPU found.
struct GpuProbe {
  std::string fault;    // empty when it answered; else why it is of no use
  bool absent = false;  // the fault is that the driver counts it no longer
  // What the driver wants done before the GPU is used again: "a reset of the GPU"; empty: nothing.
  // Without a value where it does not say.
  std::optional<std::string> recovery_action;
  bool repair_pending = false;
  bool repair_failed = false;
  std::optional<uint64_t> uncorrectable_errors;  // since the driver was loaded; not all GPUs count
};

struct GpuHealth {
  bool healthy = true;
  std::string reason;  // empty when healthy

  bool operator==(const GpuHealth&) const = default;
};

class GpuHealthJudge {
 public:
  explicit GpuHealthJudge(GpuHealthRules rules) : rules_(std::move(rules)) {}

  // From now on; what was seen before is judged anew.
  void SetRules(GpuHealthRules rules) { rules_ = std::move(rules); }

  void SeeProbe(const std::string& uuid, const GpuProbe& probe, Instant now);
  void SeeXid(const std::string& uuid, uint64_t xid, Instant now);

  // A GPU of which nothing was seen is healthy.
  GpuHealth Judge(std::string_view uuid, Instant now) const;

 private:
  struct Seen {
    GpuProbe probe;
    std::optional<Instant> last_ecc_error;
    std::map<uint64_t, Instant> xids;  // when each came last
  };

  GpuHealthRules rules_;
  std::map<std::string, Seen, std::less<>> gpus_;
};

}  // namespace synergy
