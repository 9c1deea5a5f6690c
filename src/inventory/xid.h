#pragma once

// Classifies Xids. An Xid is the number of an error that NVIDIA's driver reports about a GPU.
//
// Threading: pure.

#include <cstdint>
#include <set>

namespace synergy {

enum class XidKind {
  kHarmless,    // the GPU is not affected
  kPassing,     // the GPU may be used again after a quiet period
  kNeedsReset,  // the GPU is unusable until it is reset or replaced
};
// Returns kPassing if the table (xid.cc) has no entry.
XidKind KindOf(uint64_t xid);

// Returns all Xids of the kind kHarmless.
const std::set<uint64_t>& HarmlessXids();

}  // namespace synergy
