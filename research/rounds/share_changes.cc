#include "research/rounds/share_changes.h"

#include <fmt/format.h>

namespace synergy {
namespace {

void Append(const Job& job, const std::vector<Share>& shares, PlaceChange::Kind kind, Seconds at,
            std::vector<PlaceChange>& changes) {
  for (size_t share = 0; share < shares.size(); ++share) {
    changes.push_back({.at = at,
                       .job = job.id,
                       .kind = kind,
                       .pod = fmt::format("job-{}-{}", job.id, share),
                       .node = ServerName(shares[share].server),
                       .amounts = shares[share].amount});
  }
}

}  // namespace

void AppendShareChanges(std::span<const Job> jobs, const Plan& plan,
                        std::span<const Action> actions, Seconds at,
                        std::vector<PlaceChange>& changes) {
  for (const Action& action : actions) {
    if (action.kind == ActionKind::kStop || action.kind == ActionKind::kMove) {
      AppendEnd(jobs[action.job], at, changes);
    }
  }
  for (const Action& action : actions) {
    if (action.kind == ActionKind::kStop) continue;
    const PlaceChange::Kind kind = action.kind == ActionKind::kResize ? PlaceChange::Kind::kResized
                                                                      : PlaceChange::Kind::kBound;
    Append(jobs[action.job], plan.shares[action.job], kind, at, changes);
  }
}

void AppendEnd(const Job& job, Seconds at, std::vector<PlaceChange>& changes) {
  Append(job, job.holds, PlaceChange::Kind::kGone, at, changes);
}

}  // namespace synergy
