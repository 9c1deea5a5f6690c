#pragma once

// Which version of the cluster this is: the parts of ClusterState that change it count together.
//
// Threading: under ClusterState's mutex.

#include <cstdint>

namespace synergy {

class ClusterVersion {
 public:
  uint64_t present() const { return present_; }
  // The one that the change under way leads to.
  uint64_t next() const { return present_ + 1; }
  void Advance() { ++present_; }

 private:
  uint64_t present_ = 0;
};

}  // namespace synergy
