#pragma once

// What an Xid says of its GPU. An Xid is the number of an error that NVIDIA's driver reports.
//
// Threading: pure.

#include <cstdint>
#include <set>

namespace synergy {

enum class XidKind {
  kHarmless,    // the GPU is as good as before
  kPassing,     // the GPU may be used again when none came for a while
  kNeedsReset,  // the GPU is of no use until it was reset or replaced
};
// kPassing where the table (xid.cc) has no entry.
XidKind KindOf(uint64_t xid);

// All of the kind kHarmless.
const std::set<uint64_t>& HarmlessXids();

}  // namespace synergy
