#pragma once

// How near each other a gang's members should be, and how long the gang waits for that: first for
// one node, then for one rack, then it may go anywhere (Philly, ATC'19, section 2.3). A gang that
// loses nothing when spread does not wait. Its loss is given by a speed, otherwise by Tiresias'
// skew (NSDI'19, section 3.3); without either, it is assumed to lose something. Within a tier,
// gang_plan.h chooses the places.
//
// The gang does not wait for a tier that cannot hold it even if empty, nor for one whose wait is
// zero. The waits follow each other, from the gang's first request, whatever else it waited for
// meanwhile, even for room.
//
// Threading: pure.

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allocation/gangs/gang_plan.h"
#include "core/clock.h"
#include "profile/spread_cost.h"

namespace synergy {

enum class SpreadTier : uint8_t { kNode, kRack, kAnywhere };
inline constexpr size_t kSpreadTiers = 3;
std::string_view ToString(SpreadTier tier);  // "node", "rack", "anywhere"

struct LocalityRules {
  Duration node_wait = std::chrono::seconds(30);
  Duration rack_wait = std::chrono::seconds(30);  // after node_wait
  // Nodes with the same value of this label are in one rack, or block. Empty: racks are not known.
  std::string rack_label;
  // Relative to the speed nearer together: a gang that keeps this much when spread loses nothing.
  double least_speed = 0.95;
  // Above it, a gang of which only the skew is known loses something. The models that Tiresias
  // measured have at most 0.14, or at least 0.61.
  double most_skew = 0.35;
};

// How long to wait for each tier; zero: not at all.
struct LocalityWaits {
  Duration node{};
  Duration rack{};

  bool operator==(const LocalityWaits&) const = default;
};
LocalityWaits WaitsOf(const LocalityRules& rules, const SpreadCost& cost);

struct LocalPlan {
  // No places but a `waits_until`: the gang could go somewhere, and waits for a better plan.
  GangPlan plan;
  // The tier of the places or, without places, the tier that the gang waits for. kRack only if
  // racks are known.
  SpreadTier tier = SpreadTier::kAnywhere;
  std::optional<Duration> waits_until;  // since the gang's first request
};

// Plans for members as in PlanGang(), this long after their gang's first request. `beside`: the
// node of each member that already runs; the others go to these nodes, or racks, if they can, and
// do not wait. `but`: UIDs of pods to ignore.
LocalPlan PlanGangLocally(const ClusterSnapshot& snapshot,
                          const std::vector<std::shared_ptr<const Pod>>& members,
                          const ReserveRule& reserve, const GangTerms& terms,
                          const LocalityRules& rules, const SpreadCost& cost, Duration waited,
                          std::span<const NodeIndex> beside = {},
                          const std::set<std::string>& but = {});

// How far apart nodes are; kAnywhere if one lacks the label, or there are no nodes.
SpreadTier TierOf(const ClusterSnapshot& snapshot, std::span<const NodeIndex> nodes,
                  const std::string& rack_label);

}  // namespace synergy
