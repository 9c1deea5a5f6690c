#include "engine/sharing/move_records.h"

#include <algorithm>

namespace synergy {

MoveRecord* PublishedMoves::Find(const std::string& owner) {
  const auto found = std::find_if(moves.begin(), moves.end(),
                                  [&](const MoveRecord& each) { return each.owner == owner; });
  return found == moves.end() ? nullptr : &*found;
}

void PublishedMoves::DropGone(const std::set<std::string>& owners, WallTime now) {
  std::erase_if(moves, [&](const MoveRecord& each) {
    return !owners.contains(each.owner) && each.at + kKept < now;
  });
}

void PublishedMoves::AddWorse(WorsePlacement placement) {
  if (std::find(worse.begin(), worse.end(), placement) != worse.end()) return;
  worse.push_back(std::move(placement));
  if (worse.size() > kMostWorse) worse.erase(worse.begin());
}

bool PublishedMoves::WasHelped(const std::string& waiter) const {
  return std::any_of(moves.begin(), moves.end(),
                     [&](const MoveRecord& each) { return each.waiter == waiter; });
}

std::set<std::string> PublishedMoves::Moved() const {
  std::set<std::string> moved;
  for (const MoveRecord& each : moves) moved.insert(each.owner);
  return moved;
}

std::set<std::pair<std::string, std::string>> PublishedMoves::Worse() const {
  std::set<std::pair<std::string, std::string>> pairs;
  for (const WorsePlacement& each : worse) pairs.emplace(each.workload, each.kind);
  return pairs;
}

}  // namespace synergy
