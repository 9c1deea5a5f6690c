#include "controller/cluster/succeeded_counter.h"

#include <chrono>

namespace synergy::controller {
namespace {

constexpr Duration kBetweenAsks = std::chrono::seconds(30);
constexpr Duration kLongestLook = std::chrono::seconds(2);
// Its controller may still be creating the gang's members.
constexpr Duration kCreation = std::chrono::seconds(10);

}  // namespace

void SucceededCounter::Look(const std::stop_token& stop) {
  const Moment at = clock_.Present();
  std::erase_if(asked_, [&](const auto& entry) { return entry.second + kBetweenAsks <= at.now; });
  const auto snapshot = state_.Snapshot();
  for (const auto& pod : state_.WaitingPods()) {
    if (!pod->IsOfGang() || !pod->waiting->unschedulable) continue;
    const std::string& name = pod->gang->name;
    const GangSites* const sites = snapshot->GangOf(name);
    const bool misses_members =
        sites != nullptr && sites->members < static_cast<size_t>(pod->gang->size);
    if (!misses_members || pod->waiting->since + kCreation > at.wall) continue;
    if (!asked_.emplace(name, at.now).second) continue;
    state_.NoteSucceeded(name, count_(*pod));
    if (stop.stop_requested() || clock_.Now() - at.now >= kLongestLook) return;
  }
}

}  // namespace synergy::controller
