#pragma once

// Tracks the free amounts of each server while a round is planned, and finds the best server.
//
// Servers with the same capacity and the same free amounts are of one kind, and a search evaluates
// each kind once. In a cluster of 10,000 servers whose jobs have ten profiles there are a few
// hundred kinds.
//
// Threading: one owner.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/resources.h"
#include "policy/job.h"

namespace synergy {

class Packing {
 public:
  explicit Packing(std::span<const Server> servers);

  std::span<const Server> servers() const { return servers_; }
  const ResourceVector& free(ServerIndex server) const { return free_[server]; }
  Gpus free_gpus() const { return free_gpus_; }

  void Take(ServerIndex server, const ResourceVector& amount);
  void Give(ServerIndex server, const ResourceVector& amount);

  // Returns the server with the lowest rank among those with at least `gpus` free GPUs. On a tie,
  // returns the smallest server, so that the order of servers of different sizes has no effect. Of
  // equal servers, returns the first. `rank(server, free)` returns nullopt for an unsuitable
  // server.
  template <class RankOf>
  std::optional<ServerIndex> Best(Gpus gpus, RankOf&& rank);

 private:
  struct Kind {
    Server server;
    ResourceVector free;
    // a heap with the first server on top; may contain servers that are no longer of this kind
    std::vector<ServerIndex> members;
    bool listed = false;  // whether it is in by_gpus_
  };
  struct KindKey {
    Server server;
    ResourceVector free;
    bool operator==(const KindKey&) const = default;
  };
  struct KindHash {
    size_t operator()(const KindKey& key) const;
  };

  // Returns whether `a` takes precedence over `b` on a tie.
  bool Precedes(ServerIndex a, ServerIndex b) const;
  void Change(ServerIndex server, const ResourceVector& free);
  // Returns the first server that is now of this kind. Drops entries of servers that are of another
  // kind by now.
  std::optional<ServerIndex> First(uint32_t kind);
  std::vector<uint32_t>& ListFor(Gpus gpus);

  std::span<const Server> servers_;
  std::vector<ResourceVector> free_;
  std::vector<uint32_t> kind_of_;
  std::vector<Kind> kinds_;
  std::unordered_map<KindKey, uint32_t, KindHash> kind_numbers_;
  std::vector<std::vector<uint32_t>> by_gpus_;  // kinds by their free GPUs
  Gpus free_gpus_;
};

template <class RankOf>
std::optional<ServerIndex> Packing::Best(Gpus gpus, RankOf&& rank) {
  using Rank = typename decltype(rank(servers_[0], free_[0]))::value_type;
  std::optional<std::pair<Rank, ServerIndex>> best;
  for (auto at = static_cast<size_t>(gpus.count()); at < by_gpus_.size(); ++at) {
    std::vector<uint32_t>& list = by_gpus_[at];
    for (size_t place = 0; place < list.size();) {
      const uint32_t kind = list[place];
      const std::optional<ServerIndex> first = First(kind);
      if (!first) {
        kinds_[kind].listed = false;
        list[place] = list.back();
        list.pop_back();
        continue;
      }
      ++place;
      const auto found = rank(kinds_[kind].server, kinds_[kind].free);
      if (!found) continue;
      if (!best || *found < best->first ||
          (*found == best->first && Precedes(*first, best->second))) {
        best.emplace(*found, *first);
      }
    }
  }
  if (!best) return std::nullopt;
  return best->second;
}

}  // namespace synergy
