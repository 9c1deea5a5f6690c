#pragma once

// A map by name whose copies share their entries until an entry is written, as in cow_array.h. It
// suits thousands of entries, few of which change between two snapshots. Entries lie in shards by
// the hash of their names: a write copies one shard, and a shared copy costs one pointer per shard.
//
// Threading: the map itself has one owner at a time; any thread may read the copies that Share()
// returned, which are immutable.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace synergy {

template <class T>
class CowMap {
 public:
  // Returns null if there is no entry. The result is valid until the next write to that name's
  // shard.
  const T* Find(std::string_view name) const {
    const std::shared_ptr<Shard>& shard = shards_[PlaceOf(name)];
    if (!shard) return nullptr;
    const auto found = shard->entries.find(name);
    return found == shard->entries.end() ? nullptr : &found->second;
  }

  void Put(const std::string& name, T value) {
    Writable(name).entries.insert_or_assign(name, std::move(value));
  }
  void Erase(const std::string& name) {
    if (Find(name) != nullptr) Writable(name).entries.erase(name);
  }

  // Returns a copy that later writes to this map do not affect.
  CowMap Share() {
    CowMap copy = *this;
    ++epoch_;
    return copy;
  }

 private:
  struct Shard {
    std::map<std::string, T, std::less<>> entries;
    uint64_t epoch = 0;
  };

  static constexpr size_t kShards = 256;

  static size_t PlaceOf(std::string_view name) {
    return std::hash<std::string_view>()(name) % kShards;
  }
  Shard& Writable(std::string_view name) {
    std::shared_ptr<Shard>& shard = shards_[PlaceOf(name)];
    if (!shard) {
      shard = std::make_shared<Shard>();
    } else if (shard->epoch != epoch_) {
      shard = std::make_shared<Shard>(*shard);
    }
    shard->epoch = epoch_;
    return *shard;
  }

  std::array<std::shared_ptr<Shard>, kShards> shards_;
  uint64_t epoch_ = 0;
};

}  // namespace synergy
