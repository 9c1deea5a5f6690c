#pragma once

// Whether a GPU may be given out, from what is seen of it over time. Every cause has an end:
//
//   cause                                   ends
//   the probe fails (lost, driver gone,     with the first probe that succeeds
//     marked in the inventory file)
//   an Xid that is not on the ignored list  when none came for the quiet period
//   uncorrectable ECC errors were added     when none came for the quiet period
//   a repair is pending (row remapping,     when the driver reports that it is done, which takes
//     page retirement)                        a reset
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

namespace synergy {

// Xids that a faulty application causes by itself: the GPU is as good as before (NVIDIA's Xid
// catalogue; the same list that NVIDIA's device plugin ignores).
inline const std::set<uint64_t>& ApplicationXids() {
  static const std::set<uint64_t> kXids = {13, 31, 43, 45, 68, 109};
  return kXids;
}

struct GpuHealthRules {
  std::set<uint64_t> ignored_xids = ApplicationXids();
  Duration quiet_period = std::chrono::minutes(1);
};

// What one look at a GPU found.
struct GpuProbe {
  std::string fault;  // empty when it answered; else why it is of no use
  bool repair_pending = false;
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
