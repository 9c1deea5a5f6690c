#pragma once

// The least CPU and memory per GPU over a changing set of pods.
//
// Threading: one owner at a time.

#include <array>
#include <cstdint>
#include <set>

#include "core/resources.h"

namespace synergy {

class LeastPerGpu {
 public:
  // `requests` have at least one GPU.
  void Add(const ResourceVector& requests) {
    ResourceVector::ForEachDivided([&, amounts = amounts_.begin()](auto member) mutable {
      (amounts++)->insert((requests.*member).count() / requests.gpus.count());
    });
  }
  // What was added.
  void Remove(const ResourceVector& requests) {
    ResourceVector::ForEachDivided([&, amounts = amounts_.begin()](auto member) mutable {
      amounts->erase(amounts->find((requests.*member).count() / requests.gpus.count()));
      ++amounts;
    });
  }
  // For one GPU; zero of an empty set.
  ResourceVector Get() const {
    if (amounts_.front().empty()) return {};
    return ResourceVector::Make(
        Gpus(1), [amounts = amounts_.begin()](auto) mutable { return *(amounts++)->begin(); });
  }

 private:
  // By dimension, in the order of ForEachDivided.
  std::array<std::multiset<int64_t>, ResourceVector::kDivided> amounts_;
};

}  // namespace synergy
