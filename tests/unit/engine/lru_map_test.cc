#include "engine/reservations/lru_map.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/random.h"

namespace synergy {
namespace {

// Compares uses of random workloads with a list of them in the order of their last uses.
TEST(LruMapProperty, TheLastOnesUsedAreKept) {
  constexpr size_t kMost = 4;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    LruMap<int, kMost> recent;
    std::vector<std::pair<std::string, int>> expected;
    for (int use = 0; use < 100; ++use) {
      const std::string workload = std::to_string(random.Below(8));
      const auto known = std::find_if(expected.begin(), expected.end(),
                                      [&](const auto& each) { return each.first == workload; });
      const int uses = known == expected.end() ? 1 : known->second + 1;
      if (known != expected.end()) expected.erase(known);
      expected.emplace_back(workload, uses);
      if (expected.size() > kMost) expected.erase(expected.begin());
      EXPECT_EQ(++recent.Use(workload), uses);
      for (int i = 0; i < 8; ++i) {
        const std::string any = std::to_string(i);
        const auto kept = std::find_if(expected.begin(), expected.end(),
                                       [&](const auto& each) { return each.first == any; });
        const int* const found = recent.Find(any);
        ASSERT_EQ(found != nullptr, kept != expected.end()) << any;
        if (found != nullptr) {
          EXPECT_EQ(*found, kept->second) << any;
        }
      }
    }
  }
}

}  // namespace
}  // namespace synergy
