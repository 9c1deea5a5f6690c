#pragma once

// A map that keeps the values of the most recently used keys, and drops the others.
//
// Threading: one owner. Memory: kMost values.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

namespace synergy {

template <class Value, size_t kMost>
class LruMap {
 public:
  // Returns the key's value, or adds a default one. If there are too many keys, drops the least
  // recently used one.
  Value& Use(const std::string& key) {
    Entry& entry = entries_[key];
    if (entry.used != 0) order_.erase(entry.used);
    entry.used = ++uses_;
    order_.emplace(entry.used, key);
    if (order_.size() > kMost) {
      entries_.erase(order_.begin()->second);
      order_.erase(order_.begin());
    }
    return entry.value;
  }
  // Returns the key's value, or null if there is none. Does not count as a use.
  const Value* Find(const std::string& key) const {
    const auto found = entries_.find(key);
    return found == entries_.end() ? nullptr : &found->second.value;
  }

 private:
  struct Entry {
    Value value{};
    uint64_t used = 0;  // 0: never
  };

  uint64_t uses_ = 0;
  std::unordered_map<std::string, Entry> entries_;
  std::map<uint64_t, std::string> order_;  // of the keys, by their last uses
};

}  // namespace synergy
