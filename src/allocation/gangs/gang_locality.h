#pragma once

// Decides how close together a gang's members should be, and how long the gang waits for that. A
// gang waits first for one node and then for one rack; after that it may go anywhere (Philly,
// ATC'19, section 2.3). A gang that loses no speed when spread does not wait. The loss comes from a
// measured speed, or from Tiresias' skew (NSDI'19, section 3.3); without either, the gang is
// assumed to lose speed. Within a tier, gang_plan.h chooses the places.
//
// The gang does not wait for a tier that could not hold it even if it were empty, nor for a tier
// whose wait is zero. The waits run one after the other from the gang's first request, even while
// the gang also waits for something else, such as room.
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
  // Nodes with the same value of this label are in one rack or block. Empty: racks are unknown.
  std::string rack_label;
  // A gang loses no speed when spread if it keeps at least this fraction of its speed.
  double least_speed = 0.95;
  // A gang of which only the skew is known loses speed if its skew is larger than this. The models
  // that Tiresias measured have a skew of at most 0.14 or at least 0.61.
  double most_skew = 0.35;
};

// How long to wait for each tier; zero means no wait.
struct LocalityWaits {
  Duration node{};
  Duration rack{};

  bool operator==(const LocalityWaits&) const = default;
};
LocalityWaits WaitsOf(const LocalityRules& rules, const SpreadCost& cost);

struct LocalPlan {
  // A plan without places but with `waits_until` means that the gang could start, but waits for a
  // better plan.
  GangPlan plan;
  // The tier of the places or, without places, the tier that the gang waits for. kRack only if
  // racks are known.
  SpreadTier tier = SpreadTier::kAnywhere;
  std::optional<Duration> waits_until;  // measured from the gang's first request
};

// Plans places for the members as PlanGang() does. `waited`: the time since their gang's first
// request. `beside`: the nodes of the members that already run, one entry per member. If possible
// the other members go to these nodes or racks, and they do not wait. `but`: UIDs of pods to
// ignore.
LocalPlan PlanGangLocally(const ClusterSnapshot& snapshot,
                          const std::vector<std::shared_ptr<const Pod>>& members,
                          const ReserveRule& reserve, const GangTerms& terms,
                          const LocalityRules& rules, const SpreadCost& cost, Duration waited,
                          std::span<const NodeIndex> beside = {},
                          const std::set<std::string>& but = {});

// Returns how far apart the nodes are; kAnywhere if one lacks the label or the list is empty.
SpreadTier TierOf(const ClusterSnapshot& snapshot, std::span<const NodeIndex> nodes,
                  const std::string& rack_label);

}  // namespace synergy
