#pragma once

// Tracks the least CPU and memory per GPU over a changing set of pods. A pod that requests nothing
// in a dimension does not count in that dimension.
//
// Threading: one owner at a time.

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>

#include "core/resources.h"

namespace synergy {

class LeastPerGpu {
 public:
  // REQUIRES: `requests` have at least one GPU.
  void Add(const ResourceVector& requests) {
    ++pods_;
    ResourceVector::ForEachDivided([&, amounts = amounts_.begin()](auto member) mutable {
      const int64_t each = (requests.*member).count() / requests.gpus.count();
      if (each > 0) amounts->insert(each);
      ++amounts;
    });
  }
  // REQUIRES: `requests` were added before.
  void Remove(const ResourceVector& requests) {
    --pods_;
    ResourceVector::ForEachDivided([&, amounts = amounts_.begin()](auto member) mutable {
      const int64_t each = (requests.*member).count() / requests.gpus.count();
      if (each > 0) amounts->erase(amounts->find(each));
      ++amounts;
    });
  }
  bool empty() const { return pods_ == 0; }
  // Returns the amounts for one GPU; zero for an empty set.
  ResourceVector Get() const {
    if (empty()) return {};
    return ResourceVector::Make(Gpus(1), [amounts = amounts_.begin()](auto) mutable {
      const std::multiset<int64_t>& all = *amounts++;
      return all.empty() ? 0 : *all.begin();
    });
  }

 private:
  size_t pods_ = 0;
  // By dimension, in the order of ForEachDivided.
  std::array<std::multiset<int64_t>, ResourceVector::kDivided> amounts_;
};

}  // namespace synergy
