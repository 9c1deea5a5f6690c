#pragma once

// Records moves (moves.h), so that a new leader continues them and no job moves twice. A move is
// recorded before its first eviction. Its record is deleted if there was no eviction.
//
// Bounds: kMost moves and kMostWorse placements. If kMost jobs are recorded and all still exist,
// there are no further moves. A new worse placement replaces the oldest one.
//
// Threading: values.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/clock.h"

namespace synergy {

enum class MovePhase : uint8_t {
  kBegun,  // room is reserved; pods may have been evicted
  kEnded,  // the pods were evicted
};

struct MoveRecord {
  static constexpr size_t kMostPods = 16;  // limit for a job that moves, and for its waiter

  std::string owner;               // the UID of the job's owner
  std::string job;                 // "team/train"
  std::string workload;            // with the namespace; empty: unknown
  std::string waiter;              // the waiter's name and the UID of its first pod
  std::string kind;                // of the nodes to which the job goes
  std::vector<std::string> pods;   // UIDs of the job's pods before the move
  std::vector<std::string> nodes;  // where its new pods may go
  WallTime at{};
  std::optional<double> rate;  // iterations per second before the move
  MovePhase phase = MovePhase::kBegun;
  bool compared = false;  // the rate at the new place is known

  bool IsIn(std::string_view its_namespace) const {
    return job.size() > its_namespace.size() && job.starts_with(its_namespace) &&
           job[its_namespace.size()] == '/';
  }
  bool operator==(const MoveRecord&) const = default;
};

// A kind of node on which a workload was slower after a move.
struct WorsePlacement {
  std::string workload;
  std::string kind;

  bool operator==(const WorsePlacement&) const = default;
};

struct PublishedMoves {
  static constexpr size_t kMost = 300;
  static constexpr size_t kMostWorse = 200;
  // How long the record of a job without pods is kept. Its owner may be suspended.
  static constexpr Duration kKept = std::chrono::hours(24 * 7);

  std::string resource_version;   // of the ConfigMap; empty: there is none yet
  std::vector<MoveRecord> moves;  // oldest first
  std::vector<WorsePlacement> worse;

  // Returns the record of the owner's job; null if there is none.
  MoveRecord* Find(const std::string& owner);
  // Drops moves of jobs without pods that are older than kKept. `owners`: the owners of pods.
  void DropGone(const std::set<std::string>& owners, WallTime now);
  bool IsFull() const { return moves.size() >= kMost; }
  void AddWorse(WorsePlacement placement);
  // Returns whether a move was made for the waiter before.
  bool WasHelped(const std::string& waiter) const;

  // Return the arguments of GpuMoves::StartOver().
  std::set<std::string> Moved() const;
  std::set<std::pair<std::string, std::string>> Worse() const;

  bool operator==(const PublishedMoves&) const = default;
};

}  // namespace synergy
