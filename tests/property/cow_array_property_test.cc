// Tests CowArray against plain vectors that are copied completely.

#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "cluster/state/cow_array.h"

namespace synergy::testing {
namespace {

struct Mirrored {
  CowArray<int> array;
  std::vector<int> plain;

  void Check() const {
    RC_ASSERT(array.size() == plain.size());
    for (size_t i = 0; i < plain.size(); ++i) RC_ASSERT(array[i] == plain[i]);
  }
};

RC_GTEST_PROP(CowArrayProperty, BehavesAsAVectorThatIsCopiedWhole,
              (const std::vector<std::pair<uint8_t, int>>& steps)) {
  Mirrored now;
  std::vector<Mirrored> shared;
  for (const auto& [choice, value] : steps) {
    if (choice % 8 == 0) {
      shared.push_back({now.array.Share(), now.plain});
    } else if (choice % 8 < 4 || now.plain.empty()) {
      // Appends many, so that there are several chunks.
      for (int i = 0; i < 40; ++i) {
        now.array.Append() = value + i;
        now.plain.push_back(value + i);
      }
    } else {
      const size_t at = (choice * size_t{2654435761}) % now.plain.size();
      now.array.Mutable(at) = value;
      now.plain[at] = value;
    }
  }
  now.Check();
  for (const Mirrored& copy : shared) copy.Check();
}

}  // namespace
}  // namespace synergy::testing
