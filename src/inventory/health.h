#pragma once

// Decides from observations over time whether a GPU may be allocated. Every cause has an end:
//
//   cause                                   ends
//   the probe fails (lost, driver gone,     with the first probe that succeeds
//     marked in the inventory file)
//   the driver requests a reset or another  when it no longer requests it
//     recovery action
//   a memory repair failed                  when the driver no longer reports it: another GPU
//   a memory repair is pending (row         when the driver reports that it is done, which takes
//     remapping, page retirement)             a reset
//   an Xid that needs a reset (xid.h)       never by time alone: the GPU was away, or the driver
//                                             reports recovery actions, requests none, and no
//                                             such Xid came for the quiet period
//   another Xid that is not ignored         when none came for the quiet period
//   uncorrectable ECC errors were added     when none came for the quiet period
//
// Threading: one owner. Pure: the caller passes the time.

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

// The result of one probe of a GPU.
struct GpuProbe {
  std::string fault;    // empty if it answered, otherwise why it is unusable
  bool absent = false;  // the reason is that the driver no longer lists it
  // The action that the driver requests before the GPU is used again, such as "a reset of the GPU";
  // an empty text means none. Absent if the driver does not report this.
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

  // Sets the rules for this and all earlier observations.
  void SetRules(GpuHealthRules rules) { rules_ = std::move(rules); }

  void SeeProbe(const std::string& uuid, const GpuProbe& probe, Instant now);
  void SeeXid(const std::string& uuid, uint64_t xid, Instant now);

  // A GPU without observations is healthy.
  GpuHealth Judge(std::string_view uuid, Instant now) const;

 private:
  struct Seen {
    GpuProbe probe;
    std::optional<Instant> last_ecc_error;
    std::map<uint64_t, Instant> xids;  // when each last occurred
  };

  GpuHealthRules rules_;
  std::map<std::string, Seen, std::less<>> gpus_;
};

}  // namespace synergy
