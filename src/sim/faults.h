#pragma once

// Faults of a simulated cluster, drawn from a seed. Kubelets defer and refuse resizes, calls of the
// API server fail or take long, and nodes are lost and come back. By default there are none.
//
// Threading: one owner. The same seed gives the same draws; each kind of fault has its own draws,
// so that one kind does not affect another.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>

#include "core/clock.h"
#include "core/random.h"

namespace synergy {

struct FaultRates {
  // The fraction of resizes that a kubelet first defers although it has room, and the fraction that
  // it refuses permanently.
  double resize_deferred = 0;
  double resize_refused = 0;
  double call_fails = 0;  // fraction of writes that fail in the API server
  Duration call_late{};   // a write takes up to this much longer, uniformly
  double node_lost = 0;   // losses per node and day, exponentially distributed
  uint64_t seed = 1;

  bool any() const {
    return resize_deferred > 0 || resize_refused > 0 || call_fails > 0 ||
           call_late > Duration::zero() || node_lost > 0;
  }
};

class Faults {
 public:
  // Times after the loss of a node: kube-controller-manager deletes its pods after
  // node-monitor-grace-period (50 s) and the pods' toleration of 300 s; later the node comes back.
  static constexpr Duration kPodsDeleted = std::chrono::seconds(350);
  // The Job controller replaces a lost pod after its first backoff.
  static constexpr Duration kReplaced = std::chrono::seconds(10);
  static constexpr Duration kNodeBack = std::chrono::minutes(30);

  explicit Faults(const FaultRates& rates)
      : rates_(rates),
        resizes_(rates.seed),
        calls_(rates.seed + 1),
        delays_(rates.seed + 2),
        nodes_(rates.seed + 3) {}

  enum class ResizeFault : uint8_t { kNone, kDeferred, kRefused };
  ResizeFault OfResize() {
    if (rates_.resize_deferred <= 0 && rates_.resize_refused <= 0) return ResizeFault::kNone;
    const double drawn = resizes_.Uniform();
    if (drawn < rates_.resize_deferred) return ResizeFault::kDeferred;
    return drawn < rates_.resize_deferred + rates_.resize_refused ? ResizeFault::kRefused
                                                                  : ResizeFault::kNone;
  }
  bool CallFails() { return rates_.call_fails > 0 && calls_.Uniform() < rates_.call_fails; }
  Duration CallDelay() {
    if (rates_.call_late <= Duration::zero()) return Duration::zero();
    return Duration(
        static_cast<int64_t>(delays_.Uniform() * static_cast<double>(rates_.call_late.count())));
  }
  // Returns the time until a node is lost; nullopt if none ever is.
  std::optional<Duration> UntilNodeLost() {
    if (rates_.node_lost <= 0) return std::nullopt;
    const double days = -std::log1p(-nodes_.Uniform()) / rates_.node_lost;
    return Duration(static_cast<int64_t>(std::min(days * 86400, 9e9) * 1e9));
  }

 private:
  const FaultRates rates_;
  Random resizes_;
  Random calls_;
  Random delays_;
  Random nodes_;
};

}  // namespace synergy
