#pragma once

// How near each other a gang's members have to be, and how long it waits for that: for one node,
// then for one rack, then it goes anywhere (Philly, ATC'19, section 2.3). Whom spreading costs
// nothing does not wait: what it costs is said by a speed, else by Tiresias' skew (NSDI'19, section
// 3.3), else it is taken to cost something. In a tier the gang goes where gang_plan.h puts it.
//
// A tier that cannot hold the gang even with nobody there is not waited for, nor is one whose wait
// is zero. The waits follow each other, from the gang's first ask: whatever it waited for
// meanwhile, room at all included.
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
  Duration rack_wait = std::chrono::seconds(30);  // after the other
  // Of nodes: those with the same value of this label are in one rack, or block. Empty: nobody
  // knows of racks.
  std::string rack_label;
  // Of the speed nearer together: who has as much when spread loses nothing.
  double least_speed = 0.95;
  // Above it a gang of which only the skew is known loses something. The models that Tiresias
  // measured have at most 0.14, or at least 0.61.
  double most_skew = 0.35;
};

// How long each tier is sought; zero: not at all.
struct LocalityWaits {
  Duration node{};
  Duration rack{};

  bool operator==(const LocalityWaits&) const = default;
};
LocalityWaits WaitsOf(const LocalityRules& rules, const SpreadCost& cost);

struct LocalPlan {
  // Without places though `waits_until` is said: it could go somewhere, and waits for better.
  GangPlan plan;
  // Of the places; without any, what it waits for. kRack only where racks are known.
  SpreadTier tier = SpreadTier::kAnywhere;
  std::optional<Duration> waits_until;  // since its first ask
};

// For members as PlanGang() takes them, so long after their gang's first ask. `beside`: the node
// of each member that runs already; the others go to these nodes, or racks, if they can, and wait
// for nothing. `but`: pods that are thought away, by uid.
LocalPlan PlanGangLocally(const ClusterSnapshot& snapshot,
                          const std::vector<std::shared_ptr<const Pod>>& members,
                          const ReserveRule& reserve, const GangTerms& terms,
                          const LocalityRules& rules, const SpreadCost& cost, Duration waited,
                          std::span<const NodeIndex> beside = {},
                          const std::set<std::string>& but = {});

// How far apart nodes are; kAnywhere where one has no such label, or there is none.
SpreadTier TierOf(const ClusterSnapshot& snapshot, std::span<const NodeIndex> nodes,
                  const std::string& rack_label);

}  // namespace synergy
