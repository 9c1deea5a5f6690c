#pragma once

// What each node has free of the resources that are not divided (ScalarResources), a column for
// each name that any node has offered: pods on fast networks ask for some of these, and a placement
// looks at every node.
//
// Threading: one owner at a time; what Share() returns is immutable. Failures: none.

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
  // By the node's place. Nothing, or less, where there is none.
  int64_t Free(size_t place) const { return place < free_.size() ? free_[place] : 0; }

 private:
  friend class ScalarColumns;
  CowArray<int64_t> free_;
};

class ScalarColumns {
 public:
  // The columns of one moment.
  class Shared {
   public:
    // Null where no node has ever offered any: none is free anywhere.
    const ScalarColumn* Find(std::string_view name) const {
      const auto found = columns_.find(name);
      return found == columns_.end() ? nullptr : found->second.get();
    }

   private:
    friend class ScalarColumns;
    std::map<std::string, std::shared_ptr<const ScalarColumn>, std::less<>> columns_;
  };

  // The node at `place` has that, and its pods have asked for that much of it.
  void Update(size_t place, const ScalarResources& allocatable, const ScalarResources& requested);
  std::shared_ptr<const Shared> Share();

 private:
  struct Entry {
    ScalarColumn column;
    std::shared_ptr<const ScalarColumn> shared;  // null: it has changed since
  };

  std::map<std::string, Entry, std::less<>> entries_;
  std::shared_ptr<const Shared> shared_ = std::make_shared<const Shared>();  // null: likewise
};

}  // namespace synergy
