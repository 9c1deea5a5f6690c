#include "allocation/ranking.h"

#include <algorithm>

namespace synergy {

void Ranking::Add(size_t position, FitRank rank, std::optional<NodeIndex> node) {
  const Entry entry{rank, static_cast<uint32_t>(position)};
  Range& range = costs_[static_cast<size_t>(rank.tier)];
  range.least = std::min(range.least, rank.cost);
  range.most = std::max(range.most, rank.cost);
  const bool better = entries_.empty() || rank < best_.rank ||
                      (rank == best_.rank && asked_.Name(position) < asked_.Name(best_.position));
  if (better) {
    best_ = entry;
    best_node_ = node;
  }
  entries_.push_back(entry);
}

bool Ranking::IsBest(const Entry& entry, double slack) const {
  if (entry.position == best_.position) return true;
  return slack > 0 && entry.rank.tier == best_.rank.tier &&
         entry.rank.cost <= best_.rank.cost + slack;
}

bool Ranking::LeavesTheChoice(double slack) const {
  return slack > 0 && std::count_if(entries_.begin(), entries_.end(),
                                    [&](const Entry& entry) { return IsBest(entry, slack); }) > 1;
}

void Ranking::GivePoints(std::span<uint8_t> points, double slack) const {
  for (const Entry& entry : entries_) {
    const Range& range = costs_[static_cast<size_t>(entry.rank.tier)];
    const double width = range.most - range.least;
    const double place = width > 0 ? (entry.rank.cost - range.least) / width : 0;
    const int down =
        5 * static_cast<int>(entry.rank.tier) + std::min(4, static_cast<int>(place * 5));
    points[entry.position] =
        static_cast<uint8_t>(IsBest(entry, slack) ? kMostPoints : kMostPoints - 1 - down);
  }
}

Ranking RankNodes(const ClusterSnapshot& snapshot, const Pod& pod,
                  std::optional<NodeIndex> counted_on, const AskedNodes& asked,
                  const ReserveRule& reserve, const NodeSet& avoided, const StorageNeeds* storage) {
  const BestFit best_fit(pod, snapshot, reserve, AskOfStorage(pod, storage));
  Candidates candidates(snapshot, pod, counted_on, asked);
  Ranking ranking(asked);
  const auto add = [&](size_t i) {
    const Candidates::Candidate node = candidates.Judge(i);
    if (node.failures.none()) ranking.Add(i, best_fit.Rank(*node.state), node.index);
  };
  std::vector<size_t> last;  // the avoided ones
  for (size_t i = 0; i < candidates.size(); ++i) {
    avoided.contains(asked.Name(i)) ? last.push_back(i) : add(i);
  }
  if (ranking.size() == 0) std::for_each(last.begin(), last.end(), add);
  return ranking;
}

}  // namespace synergy
