#include "research/baseline/packing.h"

#include <algorithm>
#include <compare>

namespace synergy {

size_t Packing::KindHash::operator()(const KindKey& key) const {
  uint64_t hash = 0;
  const auto mix = [&hash](int64_t value) {
    hash = (hash ^ static_cast<uint64_t>(value)) * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 32;
  };
  ResourceVector::ForEach([&](auto member) {
    mix((key.server.capacity.*member).count());
    mix((key.free.*member).count());
  });
  return hash;
}

Packing::Packing(std::span<const Server> servers)
    : servers_(servers), free_(servers.size()), kind_of_(servers.size()) {
  // Inserts from last to first, so that each comes to the top of its heap.
  for (size_t at = servers.size(); at-- > 0;) {
    const auto server = static_cast<ServerIndex>(at);
    free_gpus_ += servers[at].capacity.gpus;
    Change(server, servers[at].capacity);
  }
}

void Packing::Take(ServerIndex server, const ResourceVector& amount) {
  free_gpus_ -= amount.gpus;
  Change(server, free_[server] - amount);
}

void Packing::Give(ServerIndex server, const ResourceVector& amount) {
  free_gpus_ += amount.gpus;
  Change(server, free_[server] + amount);
}

bool Packing::Precedes(ServerIndex a, ServerIndex b) const {
  auto order = std::strong_ordering::equal;
  ResourceVector::ForEach([&](auto member) {
    if (order == 0) order = servers_[a].capacity.*member <=> servers_[b].capacity.*member;
  });
  return order == 0 ? a < b : order < 0;
}

std::vector<uint32_t>& Packing::ListFor(Gpus gpus) {
  const auto at = static_cast<size_t>(std::max<int64_t>(gpus.count(), 0));
  if (by_gpus_.size() <= at) by_gpus_.resize(at + 1);
  return by_gpus_[at];
}

void Packing::Change(ServerIndex server, const ResourceVector& free) {
  free_[server] = free;
  const auto [at, is_new] =
      kind_numbers_.try_emplace({servers_[server], free}, static_cast<uint32_t>(kinds_.size()));
  if (is_new) kinds_.push_back({servers_[server], free, {}, false});
  const uint32_t number = at->second;
  Kind& kind = kinds_[number];
  kind_of_[server] = number;
  kind.members.push_back(server);
  std::push_heap(kind.members.begin(), kind.members.end(), std::greater<>());
  if (!kind.listed) {
    ListFor(free.gpus).push_back(number);
    kind.listed = true;
  }
}

std::optional<ServerIndex> Packing::First(uint32_t number) {
  std::vector<ServerIndex>& members = kinds_[number].members;
  while (!members.empty() && kind_of_[members.front()] != number) {
    std::pop_heap(members.begin(), members.end(), std::greater<>());
    members.pop_back();
  }
  if (members.empty()) return std::nullopt;
  return members.front();
}

}  // namespace synergy
