#pragma once

// The free amounts that each node has of undivided resources (ScalarResources), in one column per
// name that any node has ever offered. Pods on fast networks request such resources, and a
// placement checks every node.
//
// Threading: one owner at a time; the columns that Share() returns are immutable. Failures: none.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "cluster/state/cow_array.h"
#include "core/resources.h"

namespace synergy {

class ScalarColumn {
 public:
  // Returns the amount by the node's index. The amount is 0 or less if nothing is free.
  int64_t Free(size_t place) const { return place < free_.size() ? free_[place] : 0; }

 private:
  friend class ScalarColumns;
  CowArray<int64_t> free_;
};

class ScalarColumns {
 public:
  // The columns at one moment.
  class Shared {
   public:
    // Returns null if no node has ever offered the resource.
    const ScalarColumn* Find(std::string_view name) const {
      const auto found = columns_.find(name);
      return found == columns_.end() ? nullptr : found->second.get();
    }

   private:
    friend class ScalarColumns;
    std::map<std::string, std::shared_ptr<const ScalarColumn>, std::less<>> columns_;
  };

  // Sets the amounts that the node at `place` has and that its pods request.
  void Update(size_t place, const ScalarResources& allocatable, const ScalarResources& requested);
  std::shared_ptr<const Shared> Share();

 private:
  struct Entry {
    ScalarColumn column;
    std::shared_ptr<const ScalarColumn> shared;  // null: the column has changed since
  };

  std::map<std::string, Entry, std::less<>> entries_;
  // Null if a column has changed since.
  std::shared_ptr<const Shared> shared_ = std::make_shared<const Shared>();
};

}  // namespace synergy
